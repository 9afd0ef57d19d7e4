import { createAgentOpener } from "../../fleet/agent-opener.ts";
import { openPostgresService } from "../../fleet/postgres-service.ts";
import type { SessionService } from "../../fleet/service.ts";
import { connectDatabase } from "../../postgres/connect.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import type { World } from "../../world/world.ts";
import type { Arguments } from "../command.ts";
import { withUserErrors } from "../sessions/context.ts";
import { readDatabaseUrl } from "./database.ts";

/** Whether a command is to use sessions in a database. */
export const hasDatabase = (args: Arguments, { env }: Pick<World, "env">): boolean =>
  args.value("store") !== undefined || (env["PARLEY_STORE"] ?? "") !== "" || (env["PARLEY_STORE_FILE"] ?? "") !== "";

/** Opens the operations on sessions in a database. Workers carry them out; this process runs no turns. */
export const openFleetService = (
  args: Arguments,
  world: World,
  { folders, model }: { readonly folders: readonly string[]; readonly model?: string | undefined },
): Promise<SessionService> =>
  withUserErrors(async () => {
    const database = await connectDatabase(await readDatabaseUrl(args, world));
    try {
      const service = await openPostgresService({
        store: { database, world },
        openAgent: createAgentOpener({
          world,
          home: (await findHomeFolders(world)).config,
          ...(model === undefined ? {} : { flags: { model: [model] } }),
        }),
        folders,
        canonicalPath: world.disk.canonicalPath,
      });
      return {
        ...service,
        close: async () => {
          await service.close();
          await database.close();
        },
      };
    } catch (error) {
      await database.close();
      throw error;
    }
  });
