import { appendFileSync, closeSync, fchmodSync, fstatSync, openSync } from "node:fs";
import type { AgentEvent } from "../../agent/events.ts";

/** A file that everything an agent says is written to, one JSON object a line. */
export type DebugLog = {
  /** Writes an event. Never throws. */
  readonly record: (event: AgentEvent) => void;
  readonly close: () => Promise<void>;
};

/** What a debug log needs. */
export type DebugLogOptions = {
  readonly path: string;
  readonly now: () => number;
  /** Hides secrets. */
  readonly redact?: (text: string) => string;
  /** Told once, when the file cannot be written. */
  readonly onError: (words: string) => void;
};

/** Opens a debug log, for its owner alone. It is added to, line by line as things happen, so that a crash loses none. */
export const openDebugLog = ({ path, now, onError: trouble, redact = (text) => text }: DebugLogOptions): DebugLog => {
  let file: number | undefined;
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      leave();
      trouble(`The debug log cannot be written. ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const leave = (): void => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  attempt(() => {
    file = openSync(path, "a", 0o600);
    if (fstatSync(file).isFile()) fchmodSync(file, 0o600);
  });
  return {
    record: (event) => {
      const to = file;
      if (to !== undefined) attempt(() => appendFileSync(to, `${formatLine(event, now(), redact)}\n`));
    },
    close: async () => leave(),
  };
};

const formatLine = (event: AgentEvent, at: number, redact: (text: string) => string): string => {
  const time = new Date(at).toISOString();
  const write = (name: string, value: unknown): unknown => {
    const short = shortenValue(name, value);
    return typeof short === "string" ? redact(short) : short;
  };
  try {
    return JSON.stringify({ time, ...event }, write);
  } catch (error) {
    return JSON.stringify({ time, type: event.type, unwritable: String(error) });
  }
};

/** Longer texts are cut; what a tool returned is kept whole in the session. */
const maxTextLength = 100_000;

/** Bytes of files are only counted. */
const shortenValue = (name: string, value: unknown): unknown => {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "string")
    return value.length <= maxTextLength ? value : `${value.slice(0, maxTextLength)}... (${value.length} characters)`;
  if (value instanceof Uint8Array) return `(${value.length} bytes)`;
  if (typeof value !== "object" || value === null) return value;
  if ("type" in value && value.type === "Buffer" && "data" in value && Array.isArray(value.data))
    return `(${value.data.length} bytes)`;
  if (name === "blobs")
    return Object.fromEntries(Object.entries(value).map(([hash, base64]) => [hash, `(${base64Size(base64)} bytes)`]));
  return value;
};

const base64Size = (base64: unknown): number => (typeof base64 === "string" ? Buffer.byteLength(base64, "base64") : 0);
