import type { CommandAnalysis, CommandContext, CommandProgram } from "./analysis.ts";
import { resolveFileEffects } from "./effects/files.ts";
import { isBuiltin } from "./profiles/classify.ts";
import { parsePlainCommands } from "./parse/plain.ts";
import { collectEffects, type CommandEffects } from "./effects/collect.ts";
import { classifyPlainCommands } from "./classify-line.ts";
import { plainCommandsInTree } from "./parse/syntax-tree.ts";
import { literalText, sourceText } from "./parse/word.ts";

export type { CommandAnalysis, CommandContext } from "./analysis.ts";

/**
 * Reads a command line and looks at all it might do. Nothing is run. Two
 * readers must agree that it is plain; whatever either is not sure of is opaque.
 */
export const analyzeCommand = async (text: string, context: CommandContext): Promise<CommandAnalysis> => {
  if (text.includes("\0")) return unreadableAnalysis(text, context, "a command cannot hold a NUL character");
  if (text.length > maxLength) return unreadableAnalysis(text, context, "it is longer than a shell can be given");
  const parser = await import("unbash");
  const sight = collectEffects(text, parser);
  if (sight.isTooComplex)
    return unreadableAnalysis(text, context, "it does more, or hides it deeper, than can be looked at");
  const effects = await resolveFileEffects(sight.events, context);
  const reading = parsePlainCommands(text);
  const isPlain = reading.plain && isSameJson(reading.commands, plainCommandsInTree(parser.parse(text)));
  const commands = isPlain ? await classifyPlainCommands(reading.commands, context) : [];
  const asked = commands.filter(({ requiredWords: needs }) => needs !== 0);
  const rules = asked.map(({ rule }) => rule).filter((rule) => rule !== undefined);
  return {
    text,
    folder: context.folder,
    shape: isPlain ? "plain" : "opaque",
    reason: reading.plain ? (isPlain ? "" : "its words can be read in more than one way") : reading.reason,
    commands,
    programs: await listPrograms(sight, context),
    suggestedRules: rules.length === asked.length ? rules : [],
    runs: sight.events.flatMap((event) => (event.type === "run" ? [event.words] : [])),
    mayRunUnseen: sight.mayRunUnseen,
    unparsedTexts: [...sight.unparsedTexts],
    unclearReason: sight.unclearReason,
    ...effects,
  };
};

/** The longest single argument Linux passes to a program. */
const maxLength = 2 ** 17 - 1;

const unreadableAnalysis = (text: string, { folder }: CommandContext, floor: string): CommandAnalysis => ({
  text,
  folder,
  shape: "opaque",
  reason: floor,
  commands: [],
  programs: [],
  suggestedRules: [],
  runs: [],
  mayRunUnseen: true,
  unparsedTexts: [text],
  unclearReason: floor,
  writes: [],
  readsOutside: false,
  writesOutside: false,
  alwaysDeniedReason: floor,
});

const isSameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const maxPrograms = 64;

const listPrograms = async (
  { events }: CommandEffects,
  { findProgram: resolve }: CommandContext,
): Promise<readonly CommandProgram[]> => {
  const names = events.flatMap((event) => (event.type === "run" ? event.words.slice(0, 1) : []));
  const seen = new Map(names.map((name) => [sourceText(name), literalText(name)]));
  return Promise.all(
    [...seen].slice(0, maxPrograms).map(async ([name, literal]): Promise<CommandProgram> => {
      if (literal === undefined) return { name, binary: { kind: "unknown" } };
      if (isBuiltin(name)) return { name, binary: { kind: "builtin" } };
      const path = name.includes("/") ? name : await resolve(name);
      return { name, binary: path === undefined ? { kind: "unknown" } : { kind: "file", path } };
    }),
  );
};
