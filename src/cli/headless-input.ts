import { isatty } from "node:tty";
import type { UserPart } from "../conversation/parts.ts";
import type { Arguments } from "./arguments.ts";
import { Failure, misused } from "./failure.ts";
import { readPiped } from "./piped.ts";

/** Something to do. What was piped in is matter to work on: it mentions no files. */
export type Input = { readonly piped: string; readonly text: string };

/** A message with what was piped in before its words. */
export const before = (piped: string, [words, ...files]: readonly UserPart[]): readonly UserPart[] => {
  const said = words?.type === "text" ? words.text : "";
  return [{ type: "text", text: [piped, said].filter((text) => text !== "").join("\n\n") }, ...files];
};

/** What is to be done: given, piped in, or both; or a message per line. */
export const inputsOf = async (
  given: Arguments,
  signal: AbortSignal,
): Promise<AsyncIterable<Input> | readonly Input[]> => {
  const [word] = given.words;
  const asked = given.value("prompt") ?? word ?? "";
  if (given.value("input-format") === "stream-json") return streamed(asked, signal);
  const piped = isatty(0) ? "" : (await readPiped(asked === "")).trimEnd();
  if (piped === "" && asked === "") throw misused('There is nothing to do. Say what: parley -p "TEXT".');
  return [{ piped, text: asked }];
};

/** Messages as `{"type":"user","text":"..."}`, one per line. */
const streamed = async function* (first: string, signal: AbortSignal): AsyncGenerator<Input> {
  if (first !== "") yield { piped: "", text: first };
  const { createInterface } = await import("node:readline");
  for await (const line of createInterface({ input: process.stdin, signal }))
    if (line.trim() !== "") yield { piped: "", text: messageIn(line) };
};

const messageIn = (line: string): string => {
  const said: unknown = parsed(line);
  if (
    typeof said === "object" &&
    said !== null &&
    "type" in said &&
    said.type === "user" &&
    "text" in said &&
    typeof said.text === "string"
  )
    return said.text;
  throw new Failure(`A line of the input is not {"type":"user","text":"..."}: ${line.slice(0, 80)}`);
};

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};
