import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { isObject } from "../conversation/json.ts";
import { sanitizeForTerminal } from "../policy/terminal/sanitize.ts";
import {
  maxOpenFiles,
  maxSelectionLength,
  type Diagnostic,
  type FileDiagnostics,
  type IdeMention,
  type IdeSelection,
} from "./ide.ts";

/** The longest path an editor may name. */
const maxPathLength = 4096;

/** Parses an absolute path, or a file URL. */
export const readPath = (value: unknown): string | undefined => {
  if (typeof value !== "string" || value.length > maxPathLength || value.includes("\0")) return undefined;
  try {
    const path = value.startsWith("file:") ? fileURLToPath(value) : value;
    return isAbsolute(path) ? path : undefined;
  } catch {
    return undefined;
  }
};

/** Parses open files: absolute paths, each once, the active one first. */
export const readOpenFiles = (
  values: readonly { readonly path: unknown; readonly isActive: boolean }[],
): readonly string[] => {
  const sorted = [...values.filter(({ isActive }) => isActive), ...values.filter(({ isActive }) => !isActive)];
  const paths = sorted.flatMap(({ path }) => readPath(path) ?? []);
  return [...new Set(paths)].slice(0, maxOpenFiles);
};

/** Parses a selection: `selection_changed` counts lines from 0. An empty one is none. */
export const readSelection = (params: Readonly<Record<string, unknown>>): IdeSelection | undefined => {
  const path = readPath(params["filePath"]) ?? readPath(params["fileUrl"]);
  const { text, selection } = params;
  if (path === undefined || typeof text !== "string" || text === "" || !isObject(selection)) return undefined;
  if (selection["isEmpty"] === true) return undefined;
  const [start, end] = [readLine(selection["start"]), readLine(selection["end"])];
  if (start === undefined || end === undefined || end < start) return undefined;
  return { path, text: text.slice(0, maxSelectionLength), firstLine: start + 1, lastLine: end + 1 };
};

/** Parses `at_mentioned`, which counts lines from 0. */
export const readMention = (params: Readonly<Record<string, unknown>>): IdeMention | undefined => {
  const path = readPath(params["filePath"]);
  if (path === undefined) return undefined;
  const [start, end] = [readCount(params["lineStart"]), readCount(params["lineEnd"])];
  return start === undefined || end === undefined || end < start
    ? { path }
    : { path, firstLine: start + 1, lastLine: end + 1 };
};

/** The most problems of one file that are read, and the longest message. */
const maxDiagnostics = 500;
const maxMessageLength = 300;

/** Parses the JSON of `getDiagnostics`. Hints and information are left out. */
export const readDiagnostics = (json: string): readonly FileDiagnostics[] | undefined => {
  const files = parseJson(json);
  if (!Array.isArray(files)) return undefined;
  return files.flatMap((file: unknown) => {
    const path = isObject(file) ? readPath(file["uri"]) : undefined;
    if (path === undefined || !isObject(file) || !Array.isArray(file["diagnostics"])) return [];
    return [{ path, diagnostics: file["diagnostics"].slice(0, maxDiagnostics).flatMap(readDiagnostic) }];
  });
};

const readDiagnostic = (value: unknown): readonly Diagnostic[] => {
  if (!isObject(value) || !isObject(value["range"])) return [];
  const severity = severities[String(value["severity"])];
  const line = readLine(value["range"]["start"]);
  const message = readText(value["message"]);
  if (severity === undefined || line === undefined || message === undefined) return [];
  const [source, code] = [readText(value["source"]), readText(value["code"])];
  return [
    {
      severity,
      message,
      line: line + 1,
      ...(source === undefined ? {} : { source }),
      ...(code === undefined ? {} : { code }),
    },
  ];
};

/** By name, as most editors send it, and by the number of the language server protocol. */
const severities: Readonly<Record<string, Diagnostic["severity"]>> = {
  Error: "error",
  Warning: "warning",
  "1": "error",
  "2": "warning",
};

/** One line of text, bounded. */
const readText = (value: unknown): string | undefined => {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string") return undefined;
  const line = sanitizeForTerminal(text.slice(0, maxMessageLength).replaceAll(/\s+/g, " "), "line").trim();
  return line === "" ? undefined : line;
};

const readLine = (position: unknown): number | undefined =>
  isObject(position) ? readCount(position["line"]) : undefined;

const readCount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** Parses JSON; undefined if it is none. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
