import { shownCommand } from "../../policy/plain.ts";
import { linesOf } from "../text/line.ts";
import { wrap } from "../text/wrap.ts";
import type { Desk } from "./command.ts";

/** A prompt somebody wrote down, with places for what is typed after the command. */
export type Template = {
  readonly name: string;
  readonly about: string;
  readonly usage?: string;
  readonly prompt: string;
  /** Whose places it has: `$ARGUMENTS` and `$1`, or `{{args}}`. */
  readonly style: "claude" | "gemini";
};

/** The prompt with its places filled in. A command in it runs only if the person says so; undefined where they leave it all. */
export const filledIn = async (template: Template, words: string, at: Desk): Promise<string | undefined> => {
  const marks = template.style === "gemini" ? geminiCommand : claudeCommand;
  const pieces: string[] = [];
  let from = 0;
  for (const { index, 0: raw, groups } of template.prompt.matchAll(marks)) {
    pieces.push(withWords(template.prompt.slice(from, index), words, template.style));
    const ran = await asked(withWords(groups?.["command"] ?? "", quotedWords(words), template.style), at);
    if (ran === undefined) return undefined;
    pieces.push(ran);
    from = index + raw.length;
  }
  pieces.push(withWords(template.prompt.slice(from), words, template.style));
  const text = pieces.join("").trim();
  const isPlaced = /\{\{args\}\}|\$ARGUMENTS|\$[1-9]/.test(template.prompt);
  return isPlaced || words === "" ? text : `${text}\n\n${words}`;
};

const geminiCommand = /!\{(?<command>[^{}]*(?:\{[^{}]*\}[^{}]*)*)\}/g;
const claudeCommand = /!`(?<command>[^`\n]+)`/g;

const withWords = (text: string, words: string, style: Template["style"]): string => {
  if (style === "gemini") return text.replaceAll("{{args}}", () => words).replaceAll(/@\{([^}]+)\}/g, '@"$1"');
  const each = words.match(/"[^"]*"|\S+/g) ?? [];
  return text
    .replaceAll("$ARGUMENTS", () => words)
    .replaceAll(/\$([1-9])/g, (_, place: string) => (each[Number(place) - 1] ?? "").replace(/^"(.*)"$/, "$1"));
};

/** Words as the shell takes them for one. */
const quotedWords = (words: string): string => (words === "" ? "" : `'${words.replaceAll("'", String.raw`'\''`)}'`);

/** What a command prints, where the person lets it run. */
const asked = async (command: string, at: Desk): Promise<string | undefined> => {
  at.print(
    linesOf(`$ ${shownCommand(command)}`, { tone: "warning" }).flatMap((each) =>
      wrap(each, { width: at.width(), at: "letters" }),
    ),
  );
  const answer = await at.pick("This prompt wants to run the command above.", [
    { id: "skip", label: "Leave it out" },
    { id: "run", label: "Run it" },
    { id: "stop", label: "Do not use the prompt" },
  ]);
  if (answer === undefined || answer.id === "stop") return undefined;
  if (answer.id === "skip") return `(the command ${command} was not run)`;
  const { output, problem } = await at.shell(command);
  return [output, ...(problem === undefined ? [] : [`(${problem})`])].join("\n");
};
