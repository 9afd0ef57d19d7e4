import { runStatement, type SqlDatabase } from "./database.ts";
import { drawStatement } from "./statements.ts";

/** A rate limit that all processes share: `rate` tokens a second, and at most `most` saved up. */
export type BucketLimits = { readonly rate: number; readonly most: number };

/** Creates a bucket, full, or changes its limits. */
export const setBucket = async (database: SqlDatabase, name: string, { rate, most }: BucketLimits): Promise<void> => {
  await runStatement(
    database,
    `insert into parley.bucket (name, tokens, rate, most) values ($1, $3, $2, $3)
      on conflict (name) do update set rate = excluded.rate, most = excluded.most`,
    [name, rate, most],
  );
};

/** Draws tokens. False if there are too few, or the bucket is closed or unknown. */
export const drawTokens = async (database: SqlDatabase, name: string, tokens: number): Promise<boolean> =>
  (await runStatement(database, drawStatement, [name, tokens])).length > 0;

/** Closes a bucket for everyone, e.g. for as long as a provider asks to wait. A longer closure stays. */
export const closeBucket = async (database: SqlDatabase, name: string, milliseconds: number): Promise<void> => {
  await runStatement(
    database,
    `update parley.bucket set closed_until = greatest(closed_until, clock_timestamp() + make_interval(secs => $2::float8))
      where name = $1`,
    [name, milliseconds / 1000],
  );
};
