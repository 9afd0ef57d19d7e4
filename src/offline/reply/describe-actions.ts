import { errorHint } from "./error-hints.ts";
import { parseJson, objectOf, textOf } from "../json.ts";
import { parseCommandResult } from "../plan/tool-results.ts";
import type { Intent } from "../intent/intent.ts";
import { codeBlock, countOf, linesOf, endSentence, excerpt } from "./text.ts";

type ActionIntent<Type extends Intent["type"]> = Extract<Intent, { type: Type }>;

/** Describes how a command ended. */
export const describeRun = ({ command }: ActionIntent<"run">, text: string): string => {
  const ran = parseCommandResult(text);
  if (ran === undefined) return `\`${command}\` returned:\n\n${codeBlock(excerpt(text).text)}`;
  const { output, error, code, signal, background } = ran;
  const isFine = code === "0" && error === "" && signal === "";
  const ended =
    signal !== ""
      ? `was killed by ${signal}`
      : code === ""
        ? "did not exit by itself"
        : isFine
          ? "succeeded (exit code 0)"
          : `failed with exit code ${code}`;
  const printed = output === "" ? " and printed nothing" : " and printed";
  const shown = excerpt(output, { most: 40, end: isFine ? "first" : "last" });
  const cut =
    shown.shown < shown.all
      ? ` (the ${isFine ? "first" : "last"} ${shown.shown} of ${countOf(shown.all, "line")})`
      : "";
  const hint = isFine ? undefined : errorHint(`${output}\n${error}`);
  return [
    `\`${command}\` ${ended}${printed}${cut}${output === "" ? "." : ":"}`,
    ...(output === "" ? [] : [codeBlock(shown.text)]),
    ...(error === "" ? [] : [endSentence(error)]),
    ...(background === "" ? [] : [`Still running in the background: ${background}.`]),
    ...(hint === undefined ? [] : [hint]),
  ].join("\n\n");
};

/** Describes a written file. */
export const describeWrite = ({ path, content }: ActionIntent<"write">, text: string): string => {
  const action = /overwrote/i.test(text) ? "I overwrote" : /created/i.test(text) ? "I created" : "I wrote";
  const size =
    content === ""
      ? "; it is empty"
      : ` with ${countOf(linesOf(content).length, "line")} (${countOf(Buffer.byteLength(content), "byte")})`;
  return `${action} ${path}${size}.${editedNote(text)}`;
};

/** Describes appended text. */
export const describeAppend = ({ path, content }: ActionIntent<"append">, text: string): string =>
  `I added ${countOf(linesOf(content).length, "line")} to the end of ${path}.${editedNote(text)}`;

/** Describes an edit. */
export const describeEdit = ({ path, old, fresh }: ActionIntent<"edit">, text: string): string => {
  const [, times] = /\((\d+) replacements?\)/.exec(text) ?? [];
  const where = times === undefined ? "" : ` in ${countOf(Number(times), "place")}`;
  const change = fresh === "" ? `I removed "${old}" from ${path}` : `I replaced "${old}" with "${fresh}" in ${path}`;
  return `${change}${where === "" ? "" : `,${where}`}.${editedNote(text)}`;
};

/** The user may change an edit before approving it. */
const editedNote = (text: string): string =>
  /The user changed the edit/.test(text)
    ? " You changed the edit before you approved it; the file has your version."
    : "";

/** Describes fetched pages. */
export const describeFetch = (text: string): string => {
  const pages = [...text.matchAll(/^--- (https?:\S+) ---\n([\s\S]*?)(?=^--- https?:|$(?![\s\S]))/gm)];
  if (pages.length === 0) return text.trim();
  return pages
    .map(([, url = "", page = ""]) => {
      const shown = excerpt(page.trim(), { most: 25 });
      return `${url} has ${countOf(shown.all, "line")} of text${shown.shown < shown.all ? `; these are the first ${shown.shown}` : ""}:\n\n${codeBlock(shown.text)}`;
    })
    .join("\n\n");
};

/** Describes a saved memory. */
export const describeRemember = ({ fact }: ActionIntent<"remember">, text: string): string => {
  const { message } = objectOf(parseJson(text));
  return textOf(message) === "" ? `Saved to memory: ${endSentence(fact)}` : endSentence(textOf(message));
};
