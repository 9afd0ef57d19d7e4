import type { Arguments } from "./arguments.ts";
import type { Run } from "./commands.ts";
import { misused } from "./failure.ts";
import { openStore, readably, type Store } from "./session-store.ts";

/** `parley sessions`: what was said before, to be found, read, kept and removed. */
export const sessions: Run = async (given) => {
  const [action = "list"] = given.words;
  const load = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (load === undefined) throw misused(`sessions cannot "${action}". It can ${Object.keys(actions).join(", ")}.`);
  demandOptions(action, given);
  return readably(async () => (await load())(await openStore(), given));
};

/** Does one thing with the sessions there are, and answers the exit code. */
export type SessionAction = (store: Store, given: Arguments) => Promise<number>;

const actions: { readonly [name: string]: (() => Promise<SessionAction>) | undefined } = {
  list: async () => (await import("./sessions-list.ts")).list,
  search: async () => (await import("./sessions-list.ts")).search,
  show: async () => (await import("./sessions-export.ts")).show,
  rename: async () => (await import("./sessions-change.ts")).rename,
  delete: async () => (await import("./sessions-change.ts")).remove,
  export: async () => (await import("./sessions-export.ts")).exportSession,
  repair: async () => (await import("./sessions-repair.ts")).repair,
  import: async () => (await import("./sessions-import.ts")).importSession,
  prune: async () => (await import("./sessions-change.ts")).prune,
};

/** Which options mean something to which actions. A person who gives another one expects something to happen. */
const takes: { readonly [option: string]: readonly string[] } = {
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

const demandOptions = (action: string, given: Arguments): void => {
  for (const [option, known] of Object.entries(takes))
    if (given.has(option) && !known.includes(action))
      throw misused(`sessions ${action} does not know what to do with --${option}.`);
};
