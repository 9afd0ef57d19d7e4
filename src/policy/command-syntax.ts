import type {
  Assignment,
  Command,
  CommandNode,
  PipelineNode,
  ParsedScript,
  Redirection,
  Statement,
  Word,
} from "unbash";
import type { Joint, PlainCommand, PlainRedirect } from "./command-plain.ts";

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
  if (node.type !== "Command" || node.name === undefined) return undefined;
  const assignments = node.prefix.map(assignmentIn);
  const words = [node.name, ...node.suffix.filter(({ type }) => type === "Word" || type === "Assignment")];
  const redirects = node.redirects.map(redirectIn);
  if (!words.every((word): word is Word => word.type === "Word" && isLiteral(word))) return undefined;
  if (assignments.includes(undefined) || redirects.includes(undefined)) return undefined;
  return [
    {
      joint,
      assignments: assignments.filter((each) => each !== undefined),
      words: words.map(({ value }) => value),
      redirects: redirects.filter((each) => each !== undefined),
    },
  ];
};

const assignmentIn = (node: Command["prefix"][number]): string | undefined => {
  if (node.type !== "Assignment") return undefined;
  const { name, value, append, index }: Assignment = node;
  const isPlain = value.type === "Word" && isLiteral(value) && append !== true && index === undefined;
  return isPlain ? `${name}=${value.value}` : undefined;
};

const redirectIn = (node: Redirection): PlainRedirect | undefined => {
  if (node.type !== "Redirect" || node.target === undefined || !isLiteral(node.target)) return undefined;
  if (node.descriptor !== undefined && node.descriptor.type !== "FileDescriptor") return undefined;
  return { stream: node.descriptor?.value, operator: node.operator, target: node.target.value };
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
