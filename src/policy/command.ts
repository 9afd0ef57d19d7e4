import type { CommandAnalysis, CommandContext, RootCommand } from "./command-analysis.ts";
import { effectsOf } from "./command-effects.ts";
import { isBuiltin } from "./command-known.ts";
import { readPlain } from "./command-plain.ts";
import { see, type Sight } from "./command-sight.ts";
import { studyPlain } from "./command-simple.ts";
import { plainIn } from "./command-syntax.ts";
import { literalOf, spelled } from "./command-word.ts";

export type { CommandAnalysis, CommandContext } from "./command-analysis.ts";

/**
 * Reads a command line and looks at all it might do. Nothing is run. Two
 * readers must agree that it is plain; whatever either is not sure of is opaque.
 */
export const analyse = async (text: string, context: CommandContext): Promise<CommandAnalysis> => {
  if (text.includes("\0")) return unreadable(text, context, "a command cannot hold a NUL character");
  if (text.length > longest) return unreadable(text, context, "it is longer than a shell can be given");
  const parser = await import("unbash");
  const sight = see(text, parser);
  if (sight.excess) return unreadable(text, context, "it does more, or hides it deeper, than can be looked at");
  const effects = await effectsOf(sight.events, context);
  const reading = readPlain(text);
  const isPlain = reading.plain && same(reading.commands, plainIn(parser.parse(text)));
  const commands = isPlain ? await studyPlain(reading.commands, context) : [];
  const asked = commands.filter(({ needs }) => needs !== 0);
  const rules = asked.map(({ rule }) => rule).filter((rule) => rule !== undefined);
  return {
    text,
    folder: context.folder,
    shape: isPlain ? "plain" : "opaque",
    reason: reading.plain ? (isPlain ? "" : "its words can be read in more than one way") : reading.reason,
    commands,
    roots: await rootsOf(sight, context),
    always: rules.length === asked.length ? rules : [],
    runs: sight.events.flatMap((event) => (event.type === "run" ? [event.words] : [])),
    unseen: sight.unseen,
    unread: [...sight.unread],
    unclear: sight.unclear,
    ...effects,
  };
};

/** The longest single argument Linux passes to a program. */
const longest = 2 ** 17 - 1;

const unreadable = (text: string, { folder }: CommandContext, floor: string): CommandAnalysis => ({
  text,
  folder,
  shape: "opaque",
  reason: floor,
  commands: [],
  roots: [],
  always: [],
  runs: [],
  unseen: true,
  unread: [text],
  unclear: floor,
  writes: [],
  readsOutside: false,
  writesOutside: false,
  floor,
});

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const mostRoots = 64;

const rootsOf = async ({ events }: Sight, { resolve }: CommandContext): Promise<readonly RootCommand[]> => {
  const names = events.flatMap((event) => (event.type === "run" ? event.words.slice(0, 1) : []));
  const seen = new Map(names.map((name) => [spelled(name), literalOf(name)]));
  return Promise.all(
    [...seen].slice(0, mostRoots).map(async ([name, literal]): Promise<RootCommand> => {
      if (literal === undefined) return { name, binary: { kind: "unknown" } };
      if (isBuiltin(name)) return { name, binary: { kind: "builtin" } };
      const path = name.includes("/") ? name : await resolve(name);
      return { name, binary: path === undefined ? { kind: "unknown" } : { kind: "file", path } };
    }),
  );
};
