/** The tables, one migration per version. A released migration never changes. */
export const migrations: readonly string[] = [
  `
create schema if not exists parley;
create table parley.store (version int not null);
insert into parley.store values (0);

create table parley.worker (
  id text primary key, address text, build text not null,
  -- False for a program that only opened sessions for itself: its sessions are not continued by others.
  drives boolean not null, started timestamptz not null default now(), expires timestamptz not null);

create table parley.tenant (
  id text primary key, most_running int, most_spend double precision, spent double precision not null default 0);

create table parley.session (
  tenant text not null, id text not null, parent text, project text not null, format int not null,
  state text not null check (state in ('idle', 'ready', 'running', 'parked', 'child')),
  owner text, fence bigint not null, sequence bigint not null, entries int not null, bytes bigint not null,
  ready_at timestamptz, unread int not null default 0, crashes int not null default 0,
  spent double precision not null default 0, billed double precision not null default 0,
  created bigint not null, modified bigint not null, changed timestamptz not null default now(), summary text not null,
  primary key (tenant, id)) with (fillfactor = 70);
create index session_ready on parley.session (tenant, ready_at) where state in ('ready', 'parked') and ready_at is not null;
create index session_running on parley.session (tenant) where state = 'running';
create index session_owned on parley.session (owner) where owner is not null;
create index session_children on parley.session (tenant, parent) where parent is not null;
create index session_list on parley.session (tenant, changed desc);

create table parley.record (
  tenant text not null, session text not null, sequence bigint not null, fence bigint not null,
  at bigint not null, sum int not null, body text not null, primary key (tenant, session, sequence));

create table parley.inbox (
  tenant text not null, session text not null, id bigint generated always as identity, key text not null,
  at timestamptz not null default now(), command text not null, taken bigint,
  primary key (tenant, session, id), unique (tenant, session, key));
create index inbox_waiting on parley.inbox (tenant, session, id) where taken is null;

-- The sessions created with a key, so that a repeated request is answered with the same session.
create table parley.creation (
  tenant text not null, key text not null, session text not null, request text not null,
  at timestamptz not null default now(), primary key (tenant, key));

create table parley.blob (
  tenant text not null, hash text not null, bytes bytea, place text, uses int not null, primary key (tenant, hash));
create table parley.blob_use (
  tenant text not null, session text not null, hash text not null, primary key (tenant, session, hash));

create table parley.bucket (
  name text primary key, tokens double precision not null, rate double precision not null, most double precision not null,
  at timestamptz not null default clock_timestamp(), closed_until timestamptz);

create function parley.append(
  t text, s text, f bigint, after bigint, sums int[], bodies text[], at_ bigint, done bigint[],
  entries_ int, bytes_ bigint, format_ int, summary_ text, cost double precision)
returns bigint language plpgsql as $$
declare
  last bigint;
  marked int;
begin
  update parley.session set sequence = sequence + cardinality(bodies), entries = entries + entries_, bytes = bytes + bytes_,
         unread = unread - cardinality(done), format = greatest(format, format_), summary = coalesce(summary_, summary),
         modified = case when cardinality(bodies) > 0 then at_ else modified end, spent = spent + cost
   where tenant = t and id = s and fence = f and sequence = after returning sequence into last;
  if last is null then return null; end if;
  insert into parley.record select t, s, after + o, f, at_, x, b from unnest(sums, bodies) with ordinality as u(x, b, o);
  if cardinality(done) > 0 then
    update parley.inbox set taken = last where tenant = t and session = s and id = any(done) and taken is null;
    get diagnostics marked = row_count;
    if marked <> cardinality(done) then raise exception 'a command of session % was taken twice', s; end if;
  end if;
  return last;
end $$;

create function parley.store_blob(t text, s text, h text, bytes_ bytea, place_ text) returns void language plpgsql as $$
begin
  insert into parley.blob_use values (t, s, h) on conflict do nothing;
  if not found then return; end if;
  insert into parley.blob as b values (t, h, bytes_, place_, 1) on conflict (tenant, hash) do update set uses = b.uses + 1;
end $$;

create function parley.remove(t text, s text) returns table (place text) language plpgsql as $$
declare
  names text[];
  hashes text[];
begin
  with gone as (delete from parley.session where tenant = t and id = s and (owner is null or not exists
      (select from parley.worker w where w.id = owner and w.expires > now())) returning id)
    select array_agg(id) into names from gone;
  if names is null then return; end if;
  with gone as (delete from parley.session where tenant = t and parent = s returning id)
    select names || coalesce(array_agg(id), '{}') into names from gone;
  delete from parley.record where tenant = t and session = any(names);
  delete from parley.inbox where tenant = t and session = any(names);
  delete from parley.creation where tenant = t and session = any(names);
  with gone as (delete from parley.blob_use where tenant = t and session = any(names) returning hash),
       counts as (select hash, count(*) as times from gone group by hash),
       less as (update parley.blob b set uses = b.uses - c.times from counts c where b.tenant = t and b.hash = c.hash returning b.hash)
    select array_agg(hash) into hashes from less;
  return query select ''::text union all
    select p.place from (select * from parley.drop_blobs(t, hashes)) p(place) where p.place is not null;
end $$;

create function parley.drop_blobs(t text, hashes text[]) returns setof text language sql as $$
  delete from parley.blob where tenant = t and hash = any(hashes) and uses <= 0 returning place
$$;
`,
  `
-- The limit of a provider holds for each account of it; a bucket holds the state of one account.
create table parley.rate_limit (provider text primary key, per_second double precision not null, most double precision not null);
alter table parley.bucket drop column rate, drop column most, alter column tokens set default 'Infinity';

-- Takes one request from a bucket. Returns 0, or the milliseconds until it may be tried again; -1 if the tenant has spent
-- all it may, running sessions included.
create function parley.admit(b text, p text, t text) returns double precision language plpgsql as $$
declare
  allowed double precision;
  rate double precision;
  full_ double precision;
  state parley.bucket;
  now_ timestamptz;
begin
  select x.most_spend - x.spent into allowed from parley.tenant x where x.id = t;
  if allowed is not null and allowed <=
      (select coalesce(sum(s.spent - s.billed), 0) from parley.session s where s.tenant = t and s.state = 'running') then
    return -1;
  end if;
  select x.per_second, x.most into rate, full_ from parley.rate_limit x where x.provider = p;
  if rate is null then
    -- Without a limit, nothing is counted: requests only wait as long as the provider asked for.
    return coalesce((select greatest(0, extract(epoch from x.closed_until - clock_timestamp()) * 1000)
      from parley.bucket x where x.name = b), 0);
  end if;
  insert into parley.bucket (name) values (b) on conflict (name) do nothing;
  select * into state from parley.bucket x where x.name = b for update;
  now_ := clock_timestamp();
  if state.closed_until > now_ then return extract(epoch from state.closed_until - now_) * 1000; end if;
  state.tokens := least(full_, state.tokens + rate * greatest(0, extract(epoch from now_ - state.at)));
  if state.tokens < 1 then return greatest(1, (1 - state.tokens) / rate * 1000); end if;
  update parley.bucket x set tokens = state.tokens - 1, at = now_ where x.name = b;
  return 0;
end $$;

-- Counts how often sessions of the tenant were taken: who counts its running sessions sees whether others did meanwhile.
alter table parley.tenant add column takes bigint not null default 0;
`,
  `
-- A session that takes a command has ended the turn before: crashes count for one turn.
create or replace function parley.append(
  t text, s text, f bigint, after bigint, sums int[], bodies text[], at_ bigint, done bigint[],
  entries_ int, bytes_ bigint, format_ int, summary_ text, cost double precision)
returns bigint language plpgsql as $$
declare
  last bigint;
  marked int;
begin
  update parley.session set sequence = sequence + cardinality(bodies), entries = entries + entries_, bytes = bytes + bytes_,
         unread = unread - cardinality(done), format = greatest(format, format_), summary = coalesce(summary_, summary),
         modified = case when cardinality(bodies) > 0 then at_ else modified end, spent = spent + cost,
         crashes = case when cardinality(done) > 0 then 0 else crashes end
   where tenant = t and id = s and fence = f and sequence = after returning sequence into last;
  if last is null then return null; end if;
  insert into parley.record select t, s, after + o, f, at_, x, b from unnest(sums, bodies) with ordinality as u(x, b, o);
  if cardinality(done) > 0 then
    update parley.inbox set taken = last where tenant = t and session = s and id = any(done) and taken is null;
    get diagnostics marked = row_count;
    if marked <> cardinality(done) then raise exception 'a command of session % was taken twice', s; end if;
  end if;
  return last;
end $$;
`,
];

/** The version of the tables this build needs. */
export const storeVersion: number = migrations.length;
