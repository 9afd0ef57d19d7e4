import { isatty } from "node:tty";
import type { UserPart } from "../../conversation/parts.ts";
import type { Arguments } from "../parse-arguments.ts";
import { UserError, usageError } from "../user-error.ts";
import { readPipedInput } from "./piped-input.ts";

/** Something to do. What was piped in is matter to work on: it mentions no files. */
export type HeadlessInput = { readonly piped: string; readonly text: string };

/** A message with what was piped in before its words. */
export const prependPipedInput = (piped: string, [words, ...files]: readonly UserPart[]): readonly UserPart[] => {
  const said = words?.type === "text" ? words.text : "";
  return [{ type: "text", text: [piped, said].filter((text) => text !== "").join("\n\n") }, ...files];
};

/** What is to be done: given, piped in, or both; or a message per line. */
export const readInputs = async (
  given: Arguments,
  signal: AbortSignal,
): Promise<AsyncIterable<HeadlessInput> | readonly HeadlessInput[]> => {
  const [word] = given.positionals;
  const asked = given.value("prompt") ?? word ?? "";
  if (given.value("input-format") === "stream-json") return readInputLines(asked, signal);
  const piped = isatty(0) ? "" : (await readPipedInput(asked === "")).trimEnd();
  if (piped === "" && asked === "") throw usageError('There is nothing to do. Say what: parley -p "TEXT".');
  return [{ piped, text: asked }];
};

/** Messages as `{"type":"user","text":"..."}`, one per line. */
const readInputLines = async function* (first: string, signal: AbortSignal): AsyncGenerator<HeadlessInput> {
  if (first !== "") yield { piped: "", text: first };
  const { createInterface } = await import("node:readline");
  for await (const line of createInterface({ input: process.stdin, signal }))
    if (line.trim() !== "") yield { piped: "", text: parseInputLine(line) };
};

const parseInputLine = (line: string): string => {
  const said: unknown = parseJson(line);
  if (
    typeof said === "object" &&
    said !== null &&
    "type" in said &&
    said.type === "user" &&
    "text" in said &&
    typeof said.text === "string"
  )
    return said.text;
  throw new UserError(`A line of the input is not {"type":"user","text":"..."}: ${line.slice(0, 80)}`);
};

const parseJson = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};
