/*
 * The statements of the store. Each is one transaction, sent without a name, so that they pass a connection pooler in
 * transaction mode. What a decision depends on is a column of the row it locks: a look into another table would miss what
 * another transaction has not committed yet.
 */

/** Whether this worker is enlisted and not considered dead. Its row stays until the transaction ends. $1 worker */
const enlisted = "me as (select id from parley.worker where id = $1 and expires > now() for key share)";

const isReady = "state in ('ready', 'parked') and ready_at <= now()";

/** $1 tenant $2 session $3 key $4 command. No row: no such session. No id: the key was seen before. */
export const postStatement = `with held as (
  select id, sequence from parley.session where tenant = $1 and id = $2 and state <> 'child' for update),
kept as (
  insert into parley.inbox (tenant, session, key, command) select $1, $2, $3, $4 from held
  on conflict (tenant, session, key) do nothing returning id),
woken as (
  update parley.session set unread = unread + 1,
    state = case when state in ('idle', 'parked') then 'ready' else state end,
    ready_at = case when state = 'running' then ready_at else least(coalesce(ready_at, now()), now()) end
  where tenant = $1 and id = $2 and exists (select from kept))
select held.sequence, kept.id from held left join kept on true`;

/** Whether anything is ready. An idle worker asks this again and again; the statement below takes long to plan. */
export const hasReadyStatement: string = `select from parley.session where ${isReady} limit 1`;

/**
 * $1 worker $2 how many $3 the newest format it reads. Sessions that are ready, those of tenants with the fewest running
 * sessions first, within the limits of the tenant. Subagents of an earlier owner lose their right to write.
 *
 * The limit holds exactly for tenants with an entry: its row is locked, and left out if another worker has it, or has
 * taken sessions since this statement began and counted those that run.
 */
export const takeStatement: string = `with recursive ${enlisted},
seen as (
  (select tenant from parley.session where ${isReady} order by tenant limit 1)
  union all
  select (select s.tenant from parley.session s where ${isReady} and s.tenant > seen.tenant order by s.tenant limit 1)
  from seen where seen.tenant is not null),
counted as (
  select seen.tenant, t.takes,
    (select count(*) from parley.session b where b.tenant = seen.tenant and b.state = 'running') as running
  from seen left join parley.tenant t on t.id = seen.tenant where seen.tenant is not null),
held as (
  select t.id, t.takes, t.most_running, t.most_spend, t.spent from parley.tenant t
  where t.id in (select tenant from counted) for update skip locked),
room as (
  select c.tenant, coalesce(h.most_running, 100) as most, c.running
  from counted c left join held h on h.id = c.tenant
  where c.takes is not distinct from h.takes and (h.most_spend is null or h.spent < h.most_spend)),
candidate as (
  select x.tenant, x.id, room.running + row_number() over (partition by x.tenant order by x.ready_at) as turn, x.ready_at
  from room cross join lateral (
    select tenant, id, ready_at from parley.session
    where tenant = room.tenant and ${isReady} and format <= $3 and exists (select from me)
    order by ready_at limit least($2::int, greatest(room.most - room.running, 0)) for update skip locked) x),
chosen as (select tenant, id from candidate order by turn, ready_at limit $2::int),
counting as (update parley.tenant t set takes = t.takes + 1 where t.id in (select tenant from chosen)),
children as (
  update parley.session c set owner = null, fence = c.fence + 1 from chosen
  where c.tenant = chosen.tenant and c.parent = chosen.id and c.owner is not null)
update parley.session s set state = 'running', owner = $1, fence = s.fence + 1, ready_at = null, changed = now()
from chosen where s.tenant = chosen.tenant and s.id = chosen.id
returning s.tenant, s.id, s.fence, s.sequence, s.project, s.crashes`;

/** $1 worker $2 tenant $3 session. Takes one session for this worker unless a live one holds it. */
export const claimStatement: string = `with ${enlisted},
held as (select owner from parley.session where tenant = $2 and id = $3 for update),
claimed as (
  update parley.session set state = case when state = 'child' then 'child' else 'running' end,
    owner = $1, fence = fence + 1, ready_at = null, changed = now()
  where tenant = $2 and id = $3 and exists (select from me) and (owner is null or not exists (
    select from parley.worker w where w.id = owner and w.expires > now()))
  returning fence)
select held.owner, claimed.fence, exists (select from me) as is_enlisted from held left join claimed on true`;

/** $1 tenant ... $13 cost; see the function. No row: the session is not ours any more, or does not end at this sequence. */
export const appendStatement = `select sequence from (
  select parley.append($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13) as sequence) x where sequence is not null`;

/** $1 tenant $2 session $3 fence $4 is parked $5 seconds until it is woken, or null. Late writes of the owner are refused. */
export const releaseStatement = `with released as (
  update parley.session set owner = null, fence = fence + 1, crashes = 0, changed = now(), billed = spent,
    state = case when state = 'child' then 'child' when unread > 0 then 'ready' when $4::boolean then 'parked'
      when $5::float8 is not null then 'ready' else 'idle' end,
    ready_at = case when state = 'child' then null when unread > 0 then now() else now() + make_interval(secs => $5::float8) end
  where tenant = $1 and id = $2 and fence = $3 returning state, spent),
before as (select spent - billed as cost from parley.session where tenant = $1 and id = $2),
paid as (
  insert into parley.tenant as t (id, spent) select $1, before.cost from before, released where before.cost <> 0
  on conflict (id) do update set spent = t.spent + excluded.spent)
select state from released`;

/** $1 worker $2 address $3 build $4 drives $5 seconds of its lease */
export const enlistStatement = `insert into parley.worker (id, address, build, drives, expires)
  values ($1, $2, $3, $4, now() + make_interval(secs => $5::float8))`;

/** $1 worker $2 seconds. No row: others consider this worker dead, so all of its work stops. */
export const beatStatement = `update parley.worker set expires = now() + make_interval(secs => $2::float8) where id = $1 returning id`;

/** $1 worker. Frees nothing: its sessions are released first. */
export const leaveStatement = `delete from parley.worker where id = $1
  and not exists (select from parley.session where owner = $1)`;

/**
 * Frees the sessions of dead workers: ready again, after a pause that grows with the crashes. Sessions of programs that
 * do not drive others' are left idle.
 */
const freeSessions = (dead: string, forget: string): string => `with dead as (${dead}),
owed as (
  select s.tenant, s.id, s.owner, s.spent, s.billed, dead.drives from parley.session s join dead on s.owner = dead.id),
freed as (
  update parley.session s set owner = null, fence = s.fence + 1, changed = now(), billed = owed.spent,
    crashes = case when owed.drives and s.state = 'running' then s.crashes + 1 else s.crashes end,
    state = case when s.state = 'child' then 'child'
      when not owed.drives then case when s.unread > 0 then 'ready' else 'idle' end
      when s.crashes + 1 >= $1 then 'parked' else 'ready' end,
    ready_at = case when s.state = 'child' then null
      when not owed.drives then case when s.unread > 0 then now() end
      when s.crashes + 1 >= $1 then null else now() + interval '1 second' * (2 ^ s.crashes - 1) end
  from owed where s.tenant = owed.tenant and s.id = owed.id and s.owner = owed.owner
  returning s.tenant, s.id, s.state, s.crashes, owed.spent - owed.billed as cost),
paid as (
  insert into parley.tenant as t (id, spent) select tenant, sum(cost) from freed group by tenant having sum(cost) <> 0
  on conflict (id) do update set spent = t.spent + excluded.spent)${forget}
select tenant, id, state, crashes from freed where state <> 'child'`;

/** $1 crashes in a row after which a person has to look. Frees the sessions of workers whose lease is over. */
export const reapStatement: string = freeSessions(
  "select id, drives from parley.worker where expires < now() for update skip locked",
  ",\ngone as (delete from parley.worker w using dead where w.id = dead.id)",
);

/**
 * $1 as above. Frees sessions whose worker is not enlisted any more: it took them in the moment it was found dead, which
 * the statement above cannot see.
 */
export const reapOrphansStatement: string = freeSessions(
  `select distinct s.owner as id, true as drives from parley.session s
    where s.owner is not null and not exists (select from parley.worker w where w.id = s.owner)`,
  "",
);

/** $1 worker. The sessions it drives. */
export const drivenStatement = `select tenant, id, fence from parley.session where owner = $1 and state = 'running'`;

/** $1 worker. Everything that was posted to its sessions and is not taken yet. */
export const commandsStatement = `select i.tenant, i.session, i.id, i.command
  from parley.session s join parley.inbox i on i.tenant = s.tenant and i.session = s.id and i.taken is null
  where s.owner = $1 and s.state = 'running' and s.unread > 0 order by i.id`;

/** $1 tenant $2 session. The commands of one session that are not taken yet. */
export const unreadStatement = `select id, command from parley.inbox
  where tenant = $1 and session = $2 and taken is null order by id`;
