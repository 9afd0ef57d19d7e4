import { runStatement, type SqlDatabase } from "./database.ts";

/** The limits of a tenant and its spending in US dollars. */
export type TenantLimits = {
  readonly mostRunning: number;
  /** Undefined if it may spend any amount. */
  readonly mostSpend?: number;
  readonly spent: number;
};

const defaultMostRunning = 100;

/** Reads the limits of a tenant. One that is unknown has the defaults. */
export const readTenant = async (database: SqlDatabase, id: string): Promise<TenantLimits> => {
  const [row] = await runStatement(
    database,
    "select most_running, most_spend, spent from parley.tenant where id = $1",
    [id],
  );
  return {
    mostRunning: Number(row?.["most_running"] ?? defaultMostRunning),
    ...(typeof row?.["most_spend"] === "number" ? { mostSpend: row["most_spend"] } : {}),
    spent: Number(row?.["spent"] ?? 0),
  };
};

/** Sets limits of a tenant; those not given stay as they are. */
export const setTenantLimits = async (
  database: SqlDatabase,
  id: string,
  { mostRunning, mostSpend }: Partial<Pick<TenantLimits, "mostRunning" | "mostSpend">>,
): Promise<void> => {
  await runStatement(
    database,
    `insert into parley.tenant as t (id, most_running, most_spend) values ($1, $2, $3) on conflict (id) do update
      set most_running = coalesce(excluded.most_running, t.most_running), most_spend = coalesce(excluded.most_spend, t.most_spend)`,
    [id, mostRunning ?? null, mostSpend ?? null],
  );
};
