import { displayCommand } from "../../../../policy/terminal/sanitize.ts";
import { toLines } from "../../../text/line.ts";
import { wrap } from "../../../text/wrap.ts";
import type { PromptCommandContext } from "../slash-command.ts";
import { quoteForShell } from "./shell-argument.ts";

/** A saved prompt with placeholders for arguments. */
export type PromptTemplate = {
  readonly name: string;
  readonly description: string;
  readonly usage?: string;
  readonly prompt: string;
  /** Placeholder style: `$ARGUMENTS` and `$1`, or `{{args}}`. */
  readonly style: "claude" | "gemini";
  /** Names of arguments, for `$name`: by their place, or `keyed`, which are typed as `NAME=value`. */
  readonly argumentNames?: readonly string[];
  readonly isKeyed?: true;
};

/**
 * Fills the placeholders of a prompt, each once: arguments are never read as placeholders or commands themselves. A
 * command in it passes the permission gate and, where that asks, runs only if the user confirms; undefined if they
 * reject the prompt.
 */
export const fillTemplate = async (
  template: PromptTemplate,
  words: string,
  at: PromptCommandContext,
): Promise<string | undefined> => {
  const { prompt, style } = template;
  const missing = findMissingArguments(template, words);
  if (missing.length > 0) {
    at.warn(`/${template.name} needs ${missing.map((name) => `${name}=...`).join(" ")}`);
    return undefined;
  }
  const texts: string[] = [];
  for (const piece of style === "gemini" ? geminiPieces(prompt) : claudePieces(prompt)) {
    const text =
      piece.type === "text" ? fillText(piece.text, words, template) : await runPiece(piece.text, words, template, at);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  const text = texts.join("").trim();
  const isPlaced = /\{\{args\}\}|\$ARGUMENTS|\$\d(?!\d)/.test(prompt) || usesName(template);
  return isPlaced || words === "" ? text : `${text}\n\n${words}`;
};

type TemplatePiece = { readonly type: "text" | "command"; readonly text: string };

/** Claude Code style: a command in backquotes after an exclamation mark, or lines in a code block that begins with ```!. */
const claudePieces = (prompt: string): readonly TemplatePiece[] => {
  const pieces: TemplatePiece[] = [];
  let end = 0;
  for (const match of prompt.matchAll(/!`([^`\n]+)`|^[ \t]*(`{3,})![ \t]*\n([\s\S]*?)^[ \t]*\2[ \t]*$/gm)) {
    pieces.push({ type: "text", text: prompt.slice(end, match.index) });
    pieces.push({ type: "command", text: (match[1] ?? match[3] ?? "").trim() });
    end = match.index + match[0].length;
  }
  return [...pieces, { type: "text", text: prompt.slice(end) }];
};

/** Gemini CLI style: a command in braces after an exclamation mark, which may contain pairs of braces. */
const geminiPieces = (prompt: string): readonly TemplatePiece[] => {
  const start = prompt.indexOf("!{");
  const end = start === -1 ? -1 : closingBrace(prompt, start + 2);
  if (end === -1) return [{ type: "text", text: prompt }];
  return [
    { type: "text", text: prompt.slice(0, start) },
    { type: "command", text: prompt.slice(start + 2, end) },
    ...geminiPieces(prompt.slice(end + 1)),
  ];
};

const closingBrace = (text: string, from: number): number => {
  let open = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "{") open += 1;
    if (text[at] === "}") open -= 1;
    if (open === 0) return at;
  }
  return -1;
};

/** The placeholders of a template, or an escaped one, which stays as it is. Groups: an index, a place, a name. */
const placeholdersOf = ({ style, argumentNames = [] }: PromptTemplate): RegExp =>
  style === "gemini"
    ? /\{\{args\}\}/g
    : new RegExp(
        String.raw`\\\$(?:ARGUMENTS|\d)|\$ARGUMENTS\[(\d)\]|\$ARGUMENTS|\$(\d)(?!\d)|\$(${argumentNames.length === 0 ? "(?!)" : argumentNames.join("|")})(?![\w-])`,
        "g",
      );

const usesName = (template: PromptTemplate): boolean =>
  [...template.prompt.matchAll(placeholdersOf(template))].some((match) => match[3] !== undefined);

const findMissingArguments = ({ isKeyed, argumentNames = [] }: PromptTemplate, words: string): readonly string[] =>
  isKeyed ? argumentNames.filter((name) => keyedArgument(words, name) === undefined) : [];

const keyedArgument = (words: string, name: string): string | undefined => {
  const match = [...words.matchAll(/(\w+)=(?:"([^"]*)"|(\S*))/g)].find((each) => each[1] === name);
  return match === undefined ? undefined : (match[2] ?? match[3] ?? "");
};

/** Fills text. A file embedded with `@{path}` becomes a mention, which attaches it. */
const fillText = (text: string, words: string, template: PromptTemplate): string =>
  template.style === "gemini"
    ? text.replaceAll(/\{\{args\}\}|@\{([^}]+)\}/g, (_, path?: string) => (path === undefined ? words : `@"${path}"`))
    : text.replaceAll(placeholdersOf(template), (whole: string, ...groups: readonly unknown[]) =>
        whole.startsWith("\\") ? whole.slice(1) : argumentFor(words, groups, template),
      );

/** The argument of a placeholder, by the groups of its match. */
const argumentFor = (
  words: string,
  [index, place, name]: readonly unknown[],
  { prompt, argumentNames = [], isKeyed }: PromptTemplate,
): string => {
  if (typeof name !== "string")
    return argumentAt(words, placeOf(index as string | undefined, place as string | undefined, prompt));
  return isKeyed ? (keyedArgument(words, name) ?? "") : argumentAt(words, argumentNames.indexOf(name));
};

/**
 * The place of the argument a placeholder names, counted from 0: `$ARGUMENTS[0]`, and `$1`, which is the first one,
 * except in a file that uses `$0`, as newer releases of Claude Code do. Undefined for all of them.
 */
const placeOf = (index: string | undefined, place: string | undefined, prompt: string): number | undefined => {
  if (index !== undefined) return Number(index);
  if (place === undefined) return undefined;
  return Number(place) - (/(?<!\\)\$0(?!\d)/.test(prompt) ? 0 : 1);
};

/** One argument, without the quotes around it; without a place, all of them. */
const argumentAt = (words: string, place: number | undefined): string =>
  place === undefined ? words : ((words.match(/"[^"]*"|\S+/g) ?? [])[place] ?? "").replace(/^"(.*)"$/s, "$1");

/** Fills the arguments of a command, quoted for the place where each is, and runs it. */
const runPiece = async (
  command: string,
  words: string,
  template: PromptTemplate,
  at: PromptCommandContext,
): Promise<string | undefined> => {
  let isQuotable = true;
  const filled = command.replaceAll(placeholdersOf(template), (whole: string, ...match: readonly unknown[]) => {
    if (whole.startsWith("\\")) return whole;
    const [value, offset] =
      template.style === "claude" ? [argumentFor(words, match, template), match[3]] : [words, match[0]];
    const quoted = quoteForShell(value, command.slice(0, offset as number));
    if (quoted === undefined) isQuotable = false;
    return quoted ?? "";
  });
  if (isQuotable) return runCommandPiece(filled, at);
  at.warn(`Not run, as an argument cannot be quoted safely inside it: ${displayCommand(command)}`);
  return `(the command ${command} was not run)`;
};

/** Runs a command of a prompt, if the permission gate allows it or the user confirms, and returns its output. */
const runCommandPiece = async (command: string, at: PromptCommandContext): Promise<string | undefined> => {
  const { gate } = await at.opened().services();
  const { decision, reason } = await gate.judge({
    tool: "run_shell_command",
    access: "execute",
    touches: { reads: [], writes: [], urls: [], command: { text: command, folder: at.folder } },
  });
  if (decision === "deny") {
    at.warn(`Not run: ${displayCommand(command)}. ${reason}`);
    return `(the command ${command} was not run)`;
  }
  if (decision === "ask") {
    const answer = await confirmCommand(command, at);
    if (answer === "stop") return undefined;
    if (answer === "skip") return `(the command ${command} was not run)`;
  }
  const { output, problem } = await at.runShell(command);
  return [output, ...(problem === undefined ? [] : [`(${problem})`])].join("\n");
};

const confirmCommand = async (command: string, at: PromptCommandContext): Promise<string> => {
  at.print(
    toLines(`$ ${displayCommand(command)}`, { tone: "warning" }).flatMap((each) =>
      wrap(each, { width: at.width(), breakAt: "characters" }),
    ),
  );
  const answer = await at.confirm("Run the command above for this prompt?", [
    { id: "skip", label: "Skip the command" },
    { id: "run", label: "Run it" },
    { id: "stop", label: "Cancel the prompt" },
  ]);
  return answer?.id ?? "stop";
};
