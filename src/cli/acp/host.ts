import { chooseModel } from "../../agent/models/choose.ts";
import { openSessionStore } from "../../session/store/store.ts";
import { findCredentials } from "../../transport/credentials/credentials.ts";
import type { AcpHost } from "../../acp/sessions.ts";
import { invalidParams } from "../../acp/rpc-error.ts";
import type { Arguments } from "../command.ts";
import { openChatSession, rethrowAsUserError } from "../chat/open-session.ts";
import { loadRunEnvironment } from "../run-environment.ts";
import { realWorld } from "../../world/real/world.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import { UserError } from "../user-error.ts";

/** Creates the host of `parley acp`: sessions open with the settings and options of this run. */
export const createHost = async (args: Arguments): Promise<AcpHost> => {
  const real = realWorld();
  const home = await findHomeFolders(real);
  return {
    world: real,
    home,
    store: openSessionStore(real, { home: home.data }),
    open: async ({ folder: requested, additionalFolders, resume, agent }) => {
      const folder = await real.disk.canonicalPath(requested);
      if (folder === undefined) throw invalidParams(`The folder ${requested} does not exist.`);
      const sessionArgs = withFolders(args, folder, additionalFolders);
      const environment = await loadRunEnvironment(sessionArgs).catch(rethrowAsUserError);
      const opened = await openChatSession(environment, sessionArgs, {
        ...agent,
        interactive: true,
        onProgress: (text) => void process.stderr.write(`parley: ${text}\n`),
        ...(resume === undefined ? {} : { resume }),
      });
      return { ...environment, opened };
    },
    findKeyProblem: async () => {
      const { world, loaded } = await loadRunEnvironment(args).catch(rethrowAsUserError);
      const { pool, by } = await chooseModel(loaded.settings, world.env);
      if (by === "none")
        return "No API key found. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or run parley login.";
      const [first] = pool.models;
      const status = first === undefined ? undefined : await findCredentials(first.provider, world);
      return status?.found === false ? status.how : undefined;
    },
    isUserError: (error) => error instanceof UserError || isFixable(error),
  };
};

/** Whether `rethrowAsUserError` knows the error. */
const isFixable = (error: unknown): boolean => {
  try {
    return rethrowAsUserError(error);
  } catch (thrown) {
    return thrown instanceof UserError;
  }
};

/** The arguments of this run, for a session in these folders. */
const withFolders = (args: Arguments, folder: string, additional: readonly string[]): Arguments => ({
  ...args,
  value: (option) => (option === "cwd" ? folder : args.value(option)),
  values: (option) =>
    option === "include-directories" ? [...args.values(option), ...additional] : args.values(option),
});
