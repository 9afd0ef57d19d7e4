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
import type { ControlOperator, PlainCommand, PlainRedirect } from "./plain.ts";

/** Reads plain commands from a second parser's syntax tree; undefined if the tree contains anything else. */
export const plainCommandsInTree = (script: ParsedScript): readonly PlainCommand[] | undefined => {
  if ((script.errors?.length ?? 0) > 0 || script.shebang !== undefined) return undefined;
  return joinAll(script.commands.map((statement, index) => readStatement(statement, index === 0 ? "first" : ";")));
};

type PlainCommands = readonly PlainCommand[] | undefined;

const readStatement = ({ command, background }: Statement, operator: ControlOperator): PlainCommands => {
  if (background === true) return undefined;
  if (command.type !== "AndOr") return readPipeline(command, operator);
  return joinAll(command.commands.map((node, index) => readPipeline(node, command.operators[index - 1] ?? operator)));
};

const readPipeline = (node: PipelineNode, operator: ControlOperator): PlainCommands => {
  if (node.type !== "Pipeline") return readCommand(node, operator);
  if (node.prefixes.length > 0 || node.operators.some((each) => each !== "|")) return undefined;
  return joinAll(node.commands.map((command, index) => readCommand(command, index === 0 ? operator : "|")));
};

const readCommand = (node: CommandNode, operator: ControlOperator): PlainCommands => {
  if (node.type !== "Command" || node.name === undefined) return undefined;
  const assignments = node.prefix.map(readAssignment);
  const words = [node.name, ...node.suffix.filter(({ type }) => type === "Word" || type === "Assignment")];
  const redirects = node.redirects.map(readRedirect);
  if (!words.every((word): word is Word => word.type === "Word" && isLiteral(word))) return undefined;
  if (assignments.includes(undefined) || redirects.includes(undefined)) return undefined;
  return [
    {
      operator,
      assignments: assignments.filter((each) => each !== undefined),
      words: words.map(({ value }) => value),
      redirects: redirects.filter((each) => each !== undefined),
    },
  ];
};

const readAssignment = (node: Command["prefix"][number]): string | undefined => {
  if (node.type !== "Assignment") return undefined;
  const { name, value, append, index }: Assignment = node;
  const isPlain = value.type === "Word" && isLiteral(value) && append !== true && index === undefined;
  return isPlain ? `${name}=${value.value}` : undefined;
};

const readRedirect = (node: Redirection): PlainRedirect | undefined => {
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

const joinAll = (lists: readonly PlainCommands[]): PlainCommands => {
  const found = lists.flatMap((list) => list ?? []);
  return lists.includes(undefined) ? undefined : found;
};
