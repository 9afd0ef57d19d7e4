import { openBlobFolder, type BlobOwner } from "../../postgres/blobs.ts";
import { connectDatabase, type OpenDatabase } from "../../postgres/connect.ts";
import { realWorld } from "../../world/real/world.ts";
import type { World } from "../../world/world.ts";
import type { Arguments } from "../command.ts";
import { usageError } from "../user-error.ts";

/** An open database, for one tenant. */
export type StoreContext = BlobOwner & { readonly database: OpenDatabase; readonly world: World };

/** The tenant of the person who runs sessions for themselves. */
const defaultTenant = "local";

/** Runs a function with the database a command names. */
export const withDatabase = async <Result>(
  args: Arguments,
  work: (context: StoreContext) => Promise<Result>,
): Promise<Result> => {
  const world = realWorld();
  const database = await connectDatabase(await readDatabaseUrl(args, world));
  const blobs = args.value("blobs");
  try {
    return await work({
      database,
      world,
      tenant: args.value("tenant") ?? defaultTenant,
      place: blobs === undefined ? undefined : openBlobFolder(world.disk, blobs),
    });
  } finally {
    await database.close();
  }
};

/** Reads the address of the database from the option, the environment, or a file with a secret. */
export const readDatabaseUrl = async (args: Arguments, { env, files }: World): Promise<string> => {
  const file = env["PARLEY_STORE_FILE"];
  const url =
    args.value("store") ?? env["PARLEY_STORE"] ?? (file === undefined ? undefined : (await files.read(file))?.trim());
  if (url === undefined || url === "")
    throw usageError("No database. Set PARLEY_STORE to postgres://USER:PASSWORD@HOST/NAME, or use --store.");
  if (!/^postgres(ql)?:\/\//.test(url))
    throw usageError("The database must be an address such as postgres://USER:PASSWORD@HOST/NAME.");
  return url;
};
