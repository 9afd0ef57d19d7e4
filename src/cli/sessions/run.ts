import type { Arguments, CommandHandler } from "../command.ts";
import { usageError } from "../user-error.ts";
import { openSessionsContext, withUserErrors, type SessionAction } from "./context.ts";

/** `parley sessions`: finds, prints, imports, exports, repairs and deletes sessions. */
export const sessions: CommandHandler = async (args) => {
  const [action = "list"] = args.positionals;
  const load = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (load === undefined)
    throw usageError(`Unknown action "${action}" for sessions. Available: ${Object.keys(actions).join(", ")}.`);
  checkOptions(action, args);
  return withUserErrors(async () => (await load())(await openSessionsContext(), args));
};

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

/** The actions each option applies to. An option for another action is an error. */
const actionsByOption: { readonly [option: string]: readonly string[] } = {
  all: ["list", "search", "prune", "import"],
  limit: ["list", "search"],
  quiet: ["list"],
  format: ["export"],
  for: ["export"],
  images: ["export"],
  output: ["show", "export"],
  from: ["import"],
  title: ["import"],
  again: ["import"],
  "keep-days": ["prune"],
  "keep-count": ["prune"],
  "dry-run": ["repair", "prune", "delete", "import"],
  yes: ["delete"],
  json: ["list", "search", "show", "repair", "import", "prune"],
};

const checkOptions = (action: string, args: Arguments): void => {
  for (const [option, known] of Object.entries(actionsByOption))
    if (args.has(option) && !known.includes(action))
      throw usageError(`Unexpected option --${option} for sessions ${action}.`);
};
