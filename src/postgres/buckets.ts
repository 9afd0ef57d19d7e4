import { runStatement, type SqlDatabase } from "./database.ts";

/** A rate limit that all processes share, for each account of a provider. */
export type RateLimit = {
  /** Requests a minute. */
  readonly perMinute: number;
  /** The most requests at once, after a pause. Default: those of ten seconds. */
  readonly burst?: number;
};

/** Sets the rate limit of a provider's accounts; undefined removes it. */
export const setRateLimit = async (
  database: SqlDatabase,
  provider: string,
  limit: RateLimit | undefined,
): Promise<void> => {
  if (limit === undefined) {
    await runStatement(database, "delete from parley.rate_limit where provider = $1", [provider]);
    return;
  }
  const { perMinute, burst = Math.max(1, perMinute / 6) } = limit;
  await runStatement(
    database,
    `insert into parley.rate_limit (provider, per_second, most) values ($1, $2, $3)
      on conflict (provider) do update set per_second = excluded.per_second, most = excluded.most`,
    [provider, perMinute / 60, burst],
  );
};

/** Reads the rate limits of all providers. */
export const readRateLimits = async (
  database: SqlDatabase,
): Promise<readonly (Required<RateLimit> & { readonly provider: string })[]> =>
  (await runStatement(database, "select provider, per_second, most from parley.rate_limit order by provider")).map(
    (row) => ({
      provider: String(row["provider"]),
      perMinute: Number(row["per_second"]) * 60,
      burst: Number(row["most"]),
    }),
  );

/** A request that asks for admission: the bucket of its account, its provider, and the tenant that pays. */
export type AdmissionRequest = { readonly bucket: string; readonly provider: string; readonly tenant: string };

/** Takes a request from a bucket. Returns how long it has to wait before the next try, in milliseconds; 0 if it may be sent. */
export const takeFromBucket = async (
  database: SqlDatabase,
  { bucket, provider, tenant }: AdmissionRequest,
): Promise<number | "spent"> => {
  const [row] = await runStatement(database, "select parley.admit($1, $2, $3) as wait", [bucket, provider, tenant]);
  const wait = Number(row?.["wait"]);
  return wait < 0 ? "spent" : wait;
};

/** Closes a bucket for all processes, for as long as a provider asks to wait. A longer closure stays. */
export const closeBucket = async (database: SqlDatabase, name: string, milliseconds: number): Promise<void> => {
  await runStatement(
    database,
    `insert into parley.bucket as b (name, closed_until) values ($1, clock_timestamp() + make_interval(secs => $2::float8))
      on conflict (name) do update set closed_until = greatest(b.closed_until, excluded.closed_until)`,
    [name, milliseconds / 1000],
  );
};
