import { isObject, parseJson, objectOf, textOf } from "../json.ts";
import { countOf, linesOf, joinList, endSentence } from "./text.ts";

/** Summarizes a text file from its own content. */
export const summarizeFile = (path: string, text: string): string => {
  if (text.trim() === "") return "It is empty.";
  const [, make] = summarizers.find(([pattern]) => pattern.test(path)) ?? [undefined, summarizeText];
  const made = make(text);
  return made === "" ? summarizeText(text) : made;
};

const summarizeManifest = (text: string): string => {
  const value = parseJson(text);
  if (!isObject(value)) return "";
  const { name, version, description, scripts, dependencies, devDependencies } = value;
  const commands = Object.keys(objectOf(scripts));
  const needs = Object.keys(objectOf(dependencies));
  const others = Object.keys(objectOf(devDependencies));
  return [
    ...(typeof name === "string"
      ? [`The package is ${name}${textOf(version) === "" ? "" : ` ${textOf(version)}`}.`]
      : []),
    ...(textOf(description) === "" ? [] : [endSentence(textOf(description))]),
    ...(commands.length === 0 ? [] : [`Its scripts are ${joinList(commands)}.`]),
    ...(needs.length === 0 ? [] : [`It depends on ${joinList(needs, 10)}.`]),
    ...(others.length === 0 ? [] : [`${countOf(others.length, "more package")} are development dependencies.`]),
  ].join(" ");
};

const summarizeJson = (text: string): string => {
  const value = parseJson(text);
  if (Array.isArray(value)) return `It is a list of ${countOf(value.length, "item")}.`;
  return isObject(value)
    ? `It is an object with ${countOf(Object.keys(value).length, "field")}: ${joinList(Object.keys(value), 12)}.`
    : "";
};

const summarizeMarkdown = (text: string): string => {
  const lines = linesOf(text.replaceAll(/^```[\s\S]*?^```/gm, ""));
  const headings = lines.flatMap((line) => /^#{1,6}\s+(.+?)\s*#*$/.exec(line)?.[1] ?? []);
  const [title, ...sections] = headings;
  const opening = paragraphs(lines).find((each) => !/^(?:#|[[!<|>*-]|\d+\.)/.test(each));
  return [
    ...(title === undefined ? [] : [`Its title is "${title}".`]),
    ...(opening === undefined ? [] : [`It begins: "${shortened(opening)}"`]),
    ...(sections.length === 0 ? [] : [`Its sections are ${joinList(sections, 12)}.`]),
  ].join(" ");
};

const paragraphs = (lines: readonly string[]): readonly string[] =>
  lines
    .join("\n")
    .split(/\n\s*\n/)
    .map((each) => each.trim().replaceAll(/\s+/g, " "))
    .filter((each) => each !== "");

const summarizeCode = (text: string): string => {
  const names = [...text.matchAll(declarations)].flatMap(
    (match) => match.slice(1).find((name) => name !== undefined) ?? [],
  );
  const [, comment] = /^(?:\s|#!.*\n)*(?:\/\*\*?|\/\/|#|"""|--)\s*([^\n]*?)(?:\*\/)?\s*\n/.exec(`${text}\n`) ?? [];
  return [
    `It has ${countOf(linesOf(text).length, "line")}.`,
    ...(comment === undefined || comment === "" || /^[*#/-]*$/.test(comment)
      ? []
      : [`It begins with the comment "${shortened(comment.trim())}"`]),
    ...(names.length === 0 ? [] : [`It declares ${joinList([...new Set(names)], 15)}.`]),
  ].join(" ");
};

/** Declarations of most languages at the beginning of a line. */
const declarations =
  /^(?:export )?(?:default )?(?:pub(?:\([a-z]+\))? )?(?:async )?(?:(?:function\*?|class|interface|type|enum|struct|trait|const|let|var|fn|func|def|module|namespace)\s+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*))/gm;

const summarizeText = (text: string): string => {
  const lines = linesOf(text).filter((line) => line.trim() !== "");
  const opening = shortened(lines.slice(0, 2).join(" ").replaceAll(/\s+/g, " "));
  return `It has ${countOf(linesOf(text).length, "line")} and begins: "${opening}"`;
};

const shortened = (text: string): string => (text.length > 240 ? `${text.slice(0, 240).toWellFormed()}...` : text);

const summarizers: readonly (readonly [pattern: RegExp, make: (text: string) => string])[] = [
  [/(?:^|\/)package\.json$/, summarizeManifest],
  [/\.json$/i, summarizeJson],
  [/\.(?:md|markdown)$|(?:^|\/)readme$/i, summarizeMarkdown],
  [/\.(?:[cm]?[jt]sx?|py|rs|go|java|rb|c|h|cpp|cs|php|swift|kt|sh|lua)$/i, summarizeCode],
];
