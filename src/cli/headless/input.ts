import { isatty } from "node:tty";
import type { UserPart } from "../../conversation/parts.ts";
import type { Arguments } from "../command.ts";
import { UserError, usageError } from "../user-error.ts";
import { readPipedInput } from "./piped-input.ts";

/** A prompt. `@path` mentions are resolved in `text` only: piped input may come from anywhere. */
export type HeadlessInput = { readonly piped: string; readonly text: string };

/** Adds piped input before the text of a message. */
export const prependPipedInput = (piped: string, [first, ...rest]: readonly UserPart[]): readonly UserPart[] => {
  const prompt = first?.type === "text" ? first.text : "";
  return [{ type: "text", text: [piped, prompt].filter((text) => text !== "").join("\n\n") }, ...rest];
};

/** Reads the prompts: from arguments, piped input or both; or one message per line of stdin. */
export const readInputs = async (
  args: Arguments,
  signal: AbortSignal,
): Promise<AsyncIterable<HeadlessInput> | readonly HeadlessInput[]> => {
  const [positional] = args.positionals;
  const prompt = args.value("prompt") ?? positional ?? "";
  if (args.value("input-format") === "stream-json") return readInputLines(prompt, signal);
  const piped = isatty(0) ? "" : (await readPipedInput(prompt === "")).trimEnd();
  if (piped === "" && prompt === "") throw usageError('No prompt. Give one with parley -p "TEXT".');
  return [{ piped, text: prompt }];
};

/** Reads messages `{"type":"user","text":"..."}`, one per line. */
const readInputLines = async function* (first: string, signal: AbortSignal): AsyncGenerator<HeadlessInput> {
  if (first !== "") yield { piped: "", text: first };
  const { createInterface } = await import("node:readline");
  for await (const line of createInterface({ input: process.stdin, signal }))
    if (line.trim() !== "") yield { piped: "", text: parseInputLine(line) };
};

const parseInputLine = (line: string): string => {
  const message: unknown = parseJson(line);
  if (
    typeof message === "object" &&
    message !== null &&
    "type" in message &&
    message.type === "user" &&
    "text" in message &&
    typeof message.text === "string"
  )
    return message.text;
  throw new UserError(`Invalid input line, expected {"type":"user","text":"..."}: ${line.slice(0, 80)}`);
};

const parseJson = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};
