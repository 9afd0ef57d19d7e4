import { displayCommand } from "../../../../policy/terminal/sanitize.ts";
import { toLines } from "../../../text/line.ts";
import { wrap } from "../../../text/wrap.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** A saved prompt with placeholders for arguments. */
export type PromptTemplate = {
  readonly name: string;
  readonly description: string;
  readonly usage?: string;
  readonly prompt: string;
  /** Placeholder style: `$ARGUMENTS` and `$1`, or `{{args}}`. */
  readonly style: "claude" | "gemini";
};

/** Fills the placeholders of a prompt. A command in it runs only if the user confirms; undefined if they reject the prompt. */
export const fillTemplate = async (
  template: PromptTemplate,
  words: string,
  at: SlashCommandContext,
): Promise<string | undefined> => {
  const { prompt, style } = template;
  const texts: string[] = [];
  for (const piece of style === "gemini" ? geminiPieces(prompt) : claudePieces(prompt)) {
    const ran =
      piece.type === "text"
        ? substituteArguments(piece.text, words, style)
        : await runConfirmedCommand(substituteArguments(piece.text, quoteForShell(words), style), at);
    if (ran === undefined) return undefined;
    texts.push(ran);
  }
  const text = texts.join("").trim();
  const isPlaced = /\{\{args\}\}|\$ARGUMENTS|\$[1-9]/.test(prompt);
  return isPlaced || words === "" ? text : `${text}\n\n${words}`;
};

type TemplatePiece = { readonly type: "text" | "command"; readonly text: string };

/** Claude Code style: a command in backquotes after an exclamation mark. */
const claudePieces = (prompt: string): readonly TemplatePiece[] =>
  prompt.split(/!`([^`\n]+)`/).map((text, at): TemplatePiece => ({ type: at % 2 === 0 ? "text" : "command", text }));

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

const substituteArguments = (text: string, words: string, style: PromptTemplate["style"]): string => {
  if (style === "gemini") return text.replaceAll("{{args}}", () => words).replaceAll(/@\{([^}]+)\}/g, '@"$1"');
  const each = words.match(/"[^"]*"|\S+/g) ?? [];
  return text
    .replaceAll("$ARGUMENTS", () => words)
    .replaceAll(/\$([1-9])/g, (_, place: string) => (each[Number(place) - 1] ?? "").replace(/^"(.*)"$/, "$1"));
};

/** Quotes words as one shell argument. */
const quoteForShell = (words: string): string => (words === "" ? "" : `'${words.replaceAll("'", String.raw`'\''`)}'`);

/** Runs a command of a prompt after confirmation and returns its output. */
const runConfirmedCommand = async (command: string, at: SlashCommandContext): Promise<string | undefined> => {
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
  if (answer === undefined || answer.id === "stop") return undefined;
  if (answer.id === "skip") return `(the command ${command} was not run)`;
  const { output, problem } = await at.runShell(command);
  return [output, ...(problem === undefined ? [] : [`(${problem})`])].join("\n");
};
