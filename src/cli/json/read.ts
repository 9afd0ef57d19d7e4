import { constants } from "node:buffer";
import { readFile, stat } from "node:fs/promises";
import { UserError } from "../user-error.ts";
import { findJsonSyntaxError } from "./syntax-error.ts";

/** Reads a JSON value from a file, or from stdin for `-`. Throws a `UserError` with the reason and position. */
export const readJson = async (path: string): Promise<unknown> => {
  const name = path === "-" ? "stdin" : path;
  const text = decode(await readBytes(path, name), name);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (text.trim() === "") throw new UserError(`${name} is empty.`);
    const fault = findJsonSyntaxError(text);
    if (fault === undefined) throw error;
    throw new UserError(`${name} is not valid JSON. Line ${fault.line}, column ${fault.column}: ${fault.message}.`);
  }
};

/** Describes the type of a JSON value, for messages. */
export const describeValue = (value: unknown): string => {
  if (value === null) return "null";
  if (!Array.isArray(value)) return typeof value === "object" ? "an object" : `a ${typeof value}`;
  if (value.length === 0) return "an empty list";
  const kinds = new Set(value.map((item) => (item === null ? "null" : Array.isArray(item) ? "list" : typeof item)));
  const [only] = kinds;
  return kinds.size === 1 ? `a list of ${only === "null" ? "null" : `${only}s`}` : "a list of mixed values";
};

const readBytes = async (path: string, name: string): Promise<Buffer> => {
  try {
    if (path === "-") return await readStdin();
    const { size } = await stat(path);
    checkSize(size, name);
    return await readFile(path);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(describeReadError(name, error as NodeJS.ErrnoException));
  }
};

const describeReadError = (name: string, { code, message }: NodeJS.ErrnoException): string => {
  switch (code) {
    case "ENOENT":
      return `No such file: ${name}.`;
    case "EISDIR":
      return `${name} is a folder, not a file.`;
    case "EACCES":
    case "EPERM":
      return `Permission denied: cannot read ${name}.`;
    default:
      return `Cannot read ${name}: ${message}.`;
  }
};

const readStdin = async (): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    checkSize(size, "stdin");
  }
  return Buffer.concat(chunks);
};

/** Throws if the text would exceed the longest string JavaScript can hold. */
const checkSize = (bytes: number, name: string): void => {
  if (bytes > constants.MAX_STRING_LENGTH)
    throw new UserError(
      `${name} is larger than ${Math.floor(constants.MAX_STRING_LENGTH / 2 ** 20)} MB, the largest input Parley can read. Reference large media by URL instead of inline.`,
    );
};

/** Decodes UTF-8, or little-endian UTF-16, which some Windows shells write. */
const decode = (bytes: Buffer, name: string): string => {
  checkSize(bytes.length, name);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.toString("utf16le", 2);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) throw new UserError(`${name} is big-endian UTF-16. Save it as UTF-8.`);
  const text = bytes.toString("utf8");
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
};
