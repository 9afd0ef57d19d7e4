import type { AttachedFile } from "../api/attached-file.ts";
import { summarizeFile } from "./summarize-file.ts";
import type { ToolExchange } from "../api/parsed-request.ts";
import { parseOutcome } from "../plan/outcome.ts";
import { describeRange } from "../intent/describe-intent.ts";
import { parseFileText, parseFoundLines, parseListing, parsePaths } from "../plan/tool-results.ts";
import type { Countable, Intent } from "../intent/intent.ts";
import { codeBlock, countOf, groupThousands, linesOf, joinList, excerpt } from "./text.ts";

type FileIntent<Type extends Intent["type"]> = Extract<Intent, { type: Type }>;

/** Describes a folder listing. */
export const describeListing = ({ path }: FileIntent<"list">, text: string): string => {
  const names = parseListing(text);
  const folder = path === "." ? "The folder" : `The folder ${path}`;
  const [ignored] = /\(\d+ ignored\)/.exec(text) ?? [];
  const note = ignored === undefined ? "" : ` ${ignored}`;
  if (names.length === 0) return `${folder} is empty.${note}`;
  const folders = names.filter(({ kind }) => kind === "folder").map(({ name }) => name);
  const files = names.flatMap(({ name, kind, bytes }) =>
    kind === "folder" ? [] : [bytes === undefined ? `${name} (a link)` : `${name} (${countOf(bytes, "byte")})`],
  );
  const parts = [
    ...(folders.length === 0 ? [] : [`${countOf(folders.length, "folder")}: ${joinList(folders, 30)}`]),
    ...(files.length === 0 ? [] : [`${countOf(files.length, "file")}: ${joinList(files, 30)}`]),
  ];
  return `${folder} holds ${parts.join("; and ")}.${note}`;
};

/** Describes a file: its text, a summary, a count, or its image facts. */
export const describeRead = (intent: FileIntent<"read">, exchange: ToolExchange): string => {
  const { path, as, lines } = intent;
  const files = exchange.result?.files ?? [];
  if (files.length > 0) return files.map((file) => `${path} is ${describeFile(file)}.`).join(" ");
  const { text: result } = parseOutcome(exchange);
  if (/^\[(?:image|document|audio|video) file-\S+ not shown/.test(result)) return `${path} was not included. ${result}`;
  const { text, part } = parseFileText(result);
  if (as === "lines" || as === "words" || as === "characters") return describeCount(path, as, { text, part });
  if (as === "summary")
    return `${path}: ${summarizeFile(path, text)}${part === undefined ? "" : ` I saw only a part of it. ${part}`}`;
  if (text === "") return `${path} is empty.`;
  const shown = excerpt(text, { most: lines === undefined ? 60 : 400 });
  const all = shown.shown < shown.all ? `; these are the first ${shown.shown}` : "";
  const head =
    lines === undefined
      ? `${path} has ${lineTotal(text, part)}${all}:`
      : `Here ${Math.abs(lines.count ?? 2) === 1 ? "is" : "are"} ${describeRange(lines)} of ${path}${all}:`;
  return `${head}\n\n${codeBlock(shown.text)}`;
};

const describeCount = (
  path: string,
  as: Countable,
  { text, part }: { readonly text: string; readonly part: string | undefined },
): string => {
  if (as === "lines") return `${path} has ${lineTotal(text, part)}.`;
  const number = as === "words" ? (text.match(/\S+/g) ?? []).length : Array.from(text).length;
  const where = part === undefined ? path : `The part of ${path} that I received`;
  return `${where} has ${countOf(number, as.slice(0, -1))}.`;
};

const lineTotal = (text: string, part: string | undefined): string => {
  const [, total] = / of (\d+) total lines/.exec(part ?? "") ?? [];
  if (total !== undefined) return countOf(Number(total), "line");
  return `${part === undefined ? "" : "more than "}${countOf(linesOf(text).length, "line")}`;
};

/** Describes an attached file: "a PNG image of 64x48 pixels (1,234 bytes)". */
export const describeFile = ({ kind, mimeType, bytes, width, height }: AttachedFile): string => {
  const name = (mimeType.split("/")[1] ?? mimeType).replace(/^x-/, "").toUpperCase();
  const pixels = width === undefined || height === undefined ? "" : ` of ${width}x${height} pixels`;
  const what = kind === "audio" ? "audio file" : kind;
  return `${/^[AEFHILMNORSX]/.test(name) ? "an" : "a"} ${name} ${what}${pixels} (${mimeType}, ${countOf(bytes, "byte")})`;
};

/** Describes many files at once. */
export const describeManyFiles = (text: string): string => {
  const files = [...text.matchAll(/^--- (.+) ---\n\n([\s\S]*?)(?=^--- |$(?![\s\S]))/gm)].filter(
    ([, name]) => name !== "End of content",
  );
  if (files.length === 0) return text.trim();
  const each = files
    .slice(0, 20)
    .map(
      ([, name = "", content = ""]) =>
        `- ${name}: ${countOf(linesOf(content.trim()).length, "line")}. ${summarizeFile(name, content.trim())}`,
    );
  return [`I read ${countOf(files.length, "file")}:`, ...each, ...skippedLines(text)].join("\n");
};

const skippedLines = (text: string): readonly string[] =>
  text.split("\n").filter((line) => /^(?:Skipped|Truncated): /.test(line));

/** Describes files found by name. */
export const describeFind = (intent: FileIntent<"find">, text: string): string => {
  const { paths } = parsePaths(text);
  const where = intent.path === undefined ? "" : ` in ${intent.path}`;
  if (paths.length === 0) return `There is no file that matches ${intent.pattern}${where}.`;
  const cut = /\(only the latest/.test(text) ? "at least " : "";
  const number = `${cut}${countOf(paths.length, "file")}`;
  if (intent.as === "count")
    return `There ${paths.length === 1 ? "is" : "are"} ${number} that match${paths.length === 1 ? "es" : ""} ${intent.pattern}${where}.`;
  return `I found ${number} for ${intent.pattern}${where}:\n${bullets(paths)}`;
};

/** Describes lines found by a search. */
export const describeSearch = (intent: FileIntent<"search">, text: string): string => {
  const matches = parseFoundLines(text);
  const place = intent.path ?? intent.include;
  const where = place === undefined ? "" : ` in ${place}`;
  if (matches.length === 0) return `Nothing matches "${intent.pattern}"${where}.`;
  const files = new Set(matches.map(({ file }) => file));
  const number = `${countOf(matches.length, "line")} in ${countOf(files.size, "file")}`;
  if (intent.as === "count") return `"${intent.pattern}" is on ${number}${where}.`;
  return `"${intent.pattern}" is on ${number}${where}:\n${bullets(matches.map(({ file, line, text }) => `${file}:${line}: ${text.trim().slice(0, 200).toWellFormed()}`))}`;
};

const bullets = (lines: readonly string[], most = 30): string =>
  [
    ...lines.slice(0, most).map((line) => `- ${line}`),
    ...(lines.length > most ? [`- and ${groupThousands(lines.length - most)} more`] : []),
  ].join("\n");

/** Describes the size of a file, from the listing of its folder. */
export const describeSize = ({ path }: FileIntent<"size">, text: string): string => {
  const name = path.replace(/\/+$/, "").split("/").at(-1) ?? path;
  const found = parseListing(text).find((each) => each.name === name);
  if (found === undefined) return `There is no ${path}.`;
  if (found.kind !== "file") return `${path} is a ${found.kind}, not a file.`;
  return `${path} has ${countOf(found.bytes ?? 0, "byte")}.`;
};
