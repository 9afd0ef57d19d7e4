import type { Arguments } from "../parse-arguments.ts";
import type { CommandHandler } from "../commands.ts";
import { usageError } from "../user-error.ts";
import { openSessionsContext, withUserErrors, type SessionsContext } from "./context.ts";

/** `parley sessions`: what was said before, to be found, read, kept and removed. */
export const sessions: CommandHandler = async (given) => {
  const [action = "list"] = given.positionals;
  const load = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (load === undefined) throw usageError(`sessions cannot "${action}". It can ${Object.keys(actions).join(", ")}.`);
  checkOptions(action, given);
  return withUserErrors(async () => (await load())(await openSessionsContext(), given));
};

/** Does one thing with the sessions there are, and answers the exit code. */
export type SessionAction = (store: SessionsContext, given: Arguments) => Promise<number>;

const actions: { readonly [name: string]: (() => Promise<SessionAction>) | undefined } = {
  list: async () => (await import("./list.ts")).list,
  search: async () => (await import("./list.ts")).search,
  show: async () => (await import("./export.ts")).showSession,
  rename: async () => (await import("./change.ts")).renameSession,
  delete: async () => (await import("./change.ts")).deleteSession,
  export: async () => (await import("./export.ts")).exportSession,
  repair: async () => (await import("./repair.ts")).repairSession,
  import: async () => (await import("./import.ts")).importSession,
  prune: async () => (await import("./change.ts")).pruneSessions,
};

/** Which options mean something to which actions. A person who gives another one expects something to happen. */
const actionsByOption: { readonly [option: string]: readonly string[] } = {
  all: ["list", "search", "prune"],
  limit: ["list", "search"],
  quiet: ["list"],
  format: ["export"],
  for: ["export"],
  output: ["show", "export"],
  from: ["import"],
  title: ["import"],
  "keep-days": ["prune"],
  "keep-count": ["prune"],
  "dry-run": ["repair", "prune", "delete"],
  yes: ["delete"],
  json: ["list", "search", "show", "repair", "import", "prune"],
};

const checkOptions = (action: string, given: Arguments): void => {
  for (const [option, known] of Object.entries(actionsByOption))
    if (given.has(option) && !known.includes(action))
      throw usageError(`sessions ${action} does not know what to do with --${option}.`);
};
