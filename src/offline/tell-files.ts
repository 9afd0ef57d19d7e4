import type { HeardFile } from "./file.ts";
import { gistOf } from "./gist.ts";
import type { Exchange } from "./heard.ts";
import { outcomeOf } from "./outcome.ts";
import { rangeWords } from "./describe.ts";
import { fileTextOf, matchesIn, namesIn, pathsIn } from "./results.ts";
import type { Countable, Wish } from "./wish.ts";
import { block, count, grouped, linesOf, listed, some } from "./words.ts";

type Of<Type extends Wish["type"]> = Extract<Wish, { type: Type }>;

/** What a folder holds. */
export const tellList = ({ path }: Of<"list">, text: string): string => {
  const names = namesIn(text);
  const folder = path === "." ? "The folder" : `The folder ${path}`;
  const [ignored] = /\(\d+ ignored\)/.exec(text) ?? [];
  const note = ignored === undefined ? "" : ` ${ignored}`;
  if (names.length === 0) return `${folder} is empty.${note}`;
  const folders = names.filter(({ kind }) => kind === "folder").map(({ name }) => name);
  const files = names.flatMap(({ name, kind, bytes }) =>
    kind === "folder" ? [] : [bytes === undefined ? `${name} (a link)` : `${name} (${count(bytes, "byte")})`],
  );
  const parts = [
    ...(folders.length === 0 ? [] : [`${count(folders.length, "folder")}: ${listed(folders, 30)}`]),
    ...(files.length === 0 ? [] : [`${count(files.length, "file")}: ${listed(files, 30)}`]),
  ];
  return `${folder} holds ${parts.join("; and ")}.${note}`;
};

/** A file: its text, its gist, how much of something it has, or what it looks like. */
export const tellRead = (wish: Of<"read">, exchange: Exchange): string => {
  const { path, as, lines } = wish;
  const files = exchange.result?.files ?? [];
  if (files.length > 0) return files.map((file) => `${path} is ${describeFile(file)}.`).join(" ");
  const { text: result } = outcomeOf(exchange);
  if (/^\[(?:image|document|audio|video) file-\S+ not shown/.test(result)) return `${path} did not reach me. ${result}`;
  const { text, part } = fileTextOf(result);
  if (as === "lines" || as === "words" || as === "characters") return tellCount(path, as, { text, part });
  if (as === "gist")
    return `${path}: ${gistOf(path, text)}${part === undefined ? "" : ` I have seen a part of it. ${part}`}`;
  if (text === "") return `${path} is empty.`;
  const shown = some(text, { most: lines === undefined ? 60 : 400 });
  const all = shown.shown < shown.all ? `; these are the first ${shown.shown}` : "";
  const head =
    lines === undefined
      ? `${path} has ${totalIn(text, part)}${all}:`
      : `Here ${Math.abs(lines.count ?? 2) === 1 ? "is" : "are"} ${rangeWords(lines)} of ${path}${all}:`;
  return `${head}\n\n${block(shown.text)}`;
};

const tellCount = (
  path: string,
  as: Countable,
  { text, part }: { readonly text: string; readonly part: string | undefined },
): string => {
  if (as === "lines") return `${path} has ${totalIn(text, part)}.`;
  const number = as === "words" ? (text.match(/\S+/g) ?? []).length : Array.from(text).length;
  const where = part === undefined ? path : `The part of ${path} that I was given`;
  return `${where} has ${count(number, as.slice(0, -1))}.`;
};

const totalIn = (text: string, part: string | undefined): string => {
  const [, total] = / of (\d+) total lines/.exec(part ?? "") ?? [];
  if (total !== undefined) return count(Number(total), "line");
  return `${part === undefined ? "" : "more than "}${count(linesOf(text).length, "line")}`;
};

/** A file that arrived: "a PNG image of 64x48 pixels (1,234 bytes)". */
export const describeFile = ({ kind, mimeType, bytes, width, height }: HeardFile): string => {
  const name = (mimeType.split("/")[1] ?? mimeType).replace(/^x-/, "").toUpperCase();
  const pixels = width === undefined || height === undefined ? "" : ` of ${width}x${height} pixels`;
  const what = kind === "audio" ? "audio file" : kind;
  return `${/^[AEFHILMNORSX]/.test(name) ? "an" : "a"} ${name} ${what}${pixels} (${mimeType}, ${count(bytes, "byte")})`;
};

/** Many files at once. */
export const tellMany = (text: string): string => {
  const files = [...text.matchAll(/^--- (.+) ---\n\n([\s\S]*?)(?=^--- |$(?![\s\S]))/gm)].filter(
    ([, name]) => name !== "End of content",
  );
  if (files.length === 0) return text.trim();
  const each = files
    .slice(0, 20)
    .map(
      ([, name = "", content = ""]) =>
        `- ${name}: ${count(linesOf(content.trim()).length, "line")}. ${gistOf(name, content.trim())}`,
    );
  return [`I read ${count(files.length, "file")}:`, ...each, ...skippedIn(text)].join("\n");
};

const skippedIn = (text: string): readonly string[] =>
  text.split("\n").filter((line) => /^(?:Skipped|Truncated): /.test(line));

/** Files that were found by name. */
export const tellFind = (wish: Of<"find">, text: string): string => {
  const { paths } = pathsIn(text);
  const where = wish.path === undefined ? "" : ` in ${wish.path}`;
  if (paths.length === 0) return `There is no file that matches ${wish.pattern}${where}.`;
  const cut = /\(only the latest/.test(text) ? "at least " : "";
  const number = `${cut}${count(paths.length, "file")}`;
  if (wish.as === "count")
    return `There ${paths.length === 1 ? "is" : "are"} ${number} that match${paths.length === 1 ? "es" : ""} ${wish.pattern}${where}.`;
  return `I found ${number} for ${wish.pattern}${where}:\n${bullets(paths)}`;
};

/** Lines that were found by what they say. */
export const tellSearch = (wish: Of<"search">, text: string): string => {
  const matches = matchesIn(text);
  const place = wish.path ?? wish.include;
  const where = place === undefined ? "" : ` in ${place}`;
  if (matches.length === 0) return `Nothing matches "${wish.pattern}"${where}.`;
  const files = new Set(matches.map(({ file }) => file));
  const number = `${count(matches.length, "line")} in ${count(files.size, "file")}`;
  if (wish.as === "count") return `"${wish.pattern}" stands on ${number}${where}.`;
  return `"${wish.pattern}" stands on ${number}${where}:\n${bullets(matches.map(({ file, line, text: words }) => `${file}:${line}: ${words.trim().slice(0, 200).toWellFormed()}`))}`;
};

const bullets = (lines: readonly string[], most = 30): string =>
  [
    ...lines.slice(0, most).map((line) => `- ${line}`),
    ...(lines.length > most ? [`- and ${grouped(lines.length - most)} more`] : []),
  ].join("\n");

/** How large a file is, from the listing of its folder. */
export const tellSize = ({ path }: Of<"size">, text: string): string => {
  const name = path.replace(/\/+$/, "").split("/").at(-1) ?? path;
  const found = namesIn(text).find((each) => each.name === name);
  if (found === undefined) return `There is no ${path}.`;
  if (found.kind !== "file") return `${path} is a ${found.kind}, not a file.`;
  return `${path} has ${count(found.bytes ?? 0, "byte")}.`;
};
