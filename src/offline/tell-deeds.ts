import { hintOf } from "./hints.ts";
import { jsonOf, objectOf, textOf } from "./json.ts";
import { ranIn } from "./results.ts";
import type { Wish } from "./wish.ts";
import { block, count, linesOf, sentence, some } from "./words.ts";

type Of<Type extends Wish["type"]> = Extract<Wish, { type: Type }>;

/** How a command went. */
export const tellRun = ({ command }: Of<"run">, text: string): string => {
  const ran = ranIn(text);
  if (ran === undefined) return `\`${command}\` returned:\n\n${block(some(text).text)}`;
  const { output, error, code, signal, background } = ran;
  const isFine = code === "0" && error === "" && signal === "";
  const ended =
    signal !== ""
      ? `was ended by ${signal}`
      : code === ""
        ? "did not end by itself"
        : isFine
          ? "ran well (exit code 0)"
          : `failed with exit code ${code}`;
  const printed = output === "" ? " and printed nothing" : " and printed";
  const shown = some(output, { most: 40, end: isFine ? "first" : "last" });
  const cut =
    shown.shown < shown.all ? ` (the ${isFine ? "first" : "last"} ${shown.shown} of ${count(shown.all, "line")})` : "";
  const hint = isFine ? undefined : hintOf(`${output}\n${error}`);
  return [
    `\`${command}\` ${ended}${printed}${cut}${output === "" ? "." : ":"}`,
    ...(output === "" ? [] : [block(shown.text)]),
    ...(error === "" ? [] : [sentence(error)]),
    ...(background === "" ? [] : [`In the background there still run: ${background}.`]),
    ...(hint === undefined ? [] : [hint]),
  ].join("\n\n");
};

/** A file that was written. */
export const tellWrite = ({ path, content }: Of<"write">, text: string): string => {
  const deed = /overwrote/i.test(text) ? "I replaced what was in" : /created/i.test(text) ? "I created" : "I wrote";
  const size =
    content === ""
      ? "; it is empty"
      : ` with ${count(linesOf(content).length, "line")} (${count(Buffer.byteLength(content), "byte")})`;
  return `${deed} ${path}${size}.${editedNote(text)}`;
};

/** Text that was added to a file. */
export const tellAppend = ({ path, content }: Of<"append">, text: string): string =>
  `I added ${count(linesOf(content).length, "line")} to the end of ${path}.${editedNote(text)}`;

/** A file that was changed. */
export const tellEdit = ({ path, old, fresh }: Of<"edit">, text: string): string => {
  const [, times] = /\((\d+) replacements?\)/.exec(text) ?? [];
  const where = times === undefined ? "" : ` in ${count(Number(times), "place")}`;
  const change = fresh === "" ? `I took "${old}" out of ${path}` : `I replaced "${old}" with "${fresh}" in ${path}`;
  return `${change}${where === "" ? "" : `,${where}`}.${editedNote(text)}`;
};

/** People may change an edit before they approve it. */
const editedNote = (text: string): string =>
  /The user changed the edit/.test(text)
    ? " You changed the edit before you approved it; the file has your version."
    : "";

/** Web pages, or what was said about them. */
export const tellFetch = (text: string): string => {
  const pages = [...text.matchAll(/^--- (https?:\S+) ---\n([\s\S]*?)(?=^--- https?:|$(?![\s\S]))/gm)];
  if (pages.length === 0) return text.trim();
  return pages
    .map(([, url = "", page = ""]) => {
      const shown = some(page.trim(), { most: 25 });
      return `${url} has ${count(shown.all, "line")} of text${shown.shown < shown.all ? `; these are the first ${shown.shown}` : ""}:\n\n${block(shown.text)}`;
    })
    .join("\n\n");
};

/** A fact that was kept. */
export const tellRemember = ({ fact }: Of<"remember">, text: string): string => {
  const { message } = objectOf(jsonOf(text));
  return textOf(message) === "" ? `I have noted: ${sentence(fact)}` : sentence(textOf(message));
};
