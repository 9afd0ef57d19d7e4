import type { CommandAnalysis, CommandContext, CommandProgram } from "./analysis.ts";
import { resolveFileEffects } from "./effects/files.ts";
import { isBuiltin } from "./profiles/classify.ts";
import { loadShellParser } from "./parse/load-parser.ts";
import { parsePlainCommands } from "./parse/plain.ts";
import { collectEffects, type CommandEffects } from "./effects/collect.ts";
import { classifyPlainCommands } from "./classify-line.ts";
import { plainCommandsInTree } from "./parse/syntax-tree.ts";
import { literalText, sourceText } from "./parse/word.ts";

export type { CommandAnalysis, CommandContext } from "./analysis.ts";

/**
 * Analyzes a command line: everything it might run, read or write. Nothing is run. Two parsers must agree that it
 * is plain; otherwise it is opaque.
 */
export const analyzeCommand = async (text: string, context: CommandContext): Promise<CommandAnalysis> => {
  if (text.includes("\0")) return unreadableAnalysis(text, context, "contains a NUL character");
  if (text.length > maxLength) return unreadableAnalysis(text, context, "is longer than a shell accepts");
  const parser = await loadShellParser();
  const scriptEffects = collectEffects(text, parser);
  if (scriptEffects.isTooComplex) return unreadableAnalysis(text, context, "is too complex to analyze");
  const effects = await resolveFileEffects(scriptEffects.events, context);
  const parsed = parsePlainCommands(text);
  const isPlain = parsed.plain && isSameJson(parsed.commands, plainCommandsInTree(parser.parse(text)));
  const commands = isPlain ? await classifyPlainCommands(parsed.commands, context) : [];
  const uncovered = commands.filter(({ requiredWords }) => requiredWords !== 0);
  const rules = uncovered.map(({ rule }) => rule).filter((rule) => rule !== undefined);
  return {
    text,
    folder: context.folder,
    shape: isPlain ? "plain" : "opaque",
    reason: parsed.plain ? (isPlain ? "" : "can be parsed in more than one way") : parsed.reason,
    commands,
    programs: await listPrograms(scriptEffects, context),
    suggestedRules: rules.length === uncovered.length ? rules : [],
    runs: scriptEffects.events.flatMap((event) => (event.type === "run" ? [event.words] : [])),
    mayRunUnseen: scriptEffects.mayRunUnseen,
    unparsedTexts: [...scriptEffects.unparsedTexts],
    unclearReason: scriptEffects.unclearReason,
    ...effects,
  };
};

/** The longest single argument Linux passes to a program. */
const maxLength = 2 ** 17 - 1;

const unreadableAnalysis = (text: string, { folder }: CommandContext, alwaysDeniedReason: string): CommandAnalysis => ({
  text,
  folder,
  shape: "opaque",
  reason: alwaysDeniedReason,
  commands: [],
  programs: [],
  suggestedRules: [],
  runs: [],
  mayRunUnseen: true,
  unparsedTexts: [text],
  unclearReason: alwaysDeniedReason,
  writes: [],
  operandPaths: [],
  readsOutside: false,
  writesOutside: false,
  alwaysDeniedReason,
});

const isSameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const maxPrograms = 64;

const listPrograms = async (
  { events }: CommandEffects,
  { findProgram }: CommandContext,
): Promise<readonly CommandProgram[]> => {
  const names = events.flatMap((event) => (event.type === "run" ? event.words.slice(0, 1) : []));
  const seen = new Map(names.map((name) => [sourceText(name), literalText(name)]));
  return Promise.all(
    [...seen].slice(0, maxPrograms).map(async ([name, literal]): Promise<CommandProgram> => {
      if (literal === undefined) return { name, binary: { kind: "unknown" } };
      if (isBuiltin(name)) return { name, binary: { kind: "builtin" } };
      const path = name.includes("/") ? name : await findProgram(name);
      return { name, binary: path === undefined ? { kind: "unknown" } : { kind: "file", path } };
    }),
  );
};
