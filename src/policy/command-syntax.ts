import type { Command, CommandNode, PipelineNode, ParsedScript, Statement, Word } from "unbash";
import type { Joint, PlainCommand } from "./command-plain.ts";

/** A script of nothing but plain words as a second parser sees it; undefined where it sees anything more. */
export const plainIn = (script: ParsedScript): readonly PlainCommand[] | undefined => {
  if ((script.errors?.length ?? 0) > 0 || script.shebang !== undefined) return undefined;
  return allOf(script.commands.map((statement, index) => statementIn(statement, index === 0 ? "first" : ";")));
};

type Reading = readonly PlainCommand[] | undefined;

const statementIn = ({ command, background }: Statement, joint: Joint): Reading => {
  if (background === true) return undefined;
  if (command.type !== "AndOr") return pipelineIn(command, joint);
  return allOf(command.commands.map((node, index) => pipelineIn(node, command.operators[index - 1] ?? joint)));
};

const pipelineIn = (node: PipelineNode, joint: Joint): Reading => {
  if (node.type !== "Pipeline") return commandIn(node, joint);
  if (node.prefixes.length > 0 || node.operators.some((operator) => operator !== "|")) return undefined;
  return allOf(node.commands.map((command, index) => commandIn(command, index === 0 ? joint : "|")));
};

const commandIn = (node: CommandNode, joint: Joint): Reading => {
  if (node.type !== "Command") return undefined;
  const words = wordsIn(node);
  return words === undefined ? undefined : [{ joint, words }];
};

const wordsIn = ({ name, prefix, suffix }: Command): readonly string[] | undefined => {
  if (name === undefined || prefix.length > 0) return undefined;
  const words = [name, ...suffix];
  return words.every((word): word is Word => word.type === "Word" && isLiteral(word))
    ? words.map(({ value }) => value)
    : undefined;
};

const isLiteral = ({ parts = [] }: Word): boolean =>
  parts.every(
    (part) =>
      part.type === "Literal" ||
      part.type === "SingleQuoted" ||
      (part.type === "DoubleQuoted" && part.parts.every(({ type }) => type === "Literal")),
  );

const allOf = (readings: readonly Reading[]): Reading => {
  const found = readings.flatMap((reading) => reading ?? []);
  return readings.includes(undefined) ? undefined : found;
};
