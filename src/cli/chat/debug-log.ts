import { appendFileSync, closeSync, fchmodSync, fstatSync, openSync } from "node:fs";
import type { AgentEvent } from "../../agent/events.ts";

/** A file descriptor which every agent event is appended, one JSON object per line. */
export type DebugLog = {
  /** Appends an event. Never throws. */
  readonly record: (event: AgentEvent) => void;
  readonly close: () => Promise<void>;
};

/** Options of a debug log. */
export type DebugLogOptions = {
  readonly path: string;
  readonly now: () => number;
  /** Redacts secrets. */
  readonly redact?: (text: string) => string;
  /** Called once, when the file cannot be written. */
  readonly onError: (message: string) => void;
};

/** Opens a debug log, readable by its owner only. Lines are written synchronously, so a crash loses none. */
export const openDebugLog = ({ path, now, onError, redact = (text) => text }: DebugLogOptions): DebugLog => {
  let file: number | undefined;
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      closeFile();
      onError(`Cannot write the debug log. ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const closeFile = (): void => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  attempt(() => {
    file = openSync(path, "a", 0o600);
    if (fstatSync(file).isFile()) fchmodSync(file, 0o600);
  });
  return {
    record: (event) => {
      const descriptor = file;
      if (descriptor !== undefined) attempt(() => appendFileSync(descriptor, `${formatLine(event, now(), redact)}\n`));
    },
    close: async () => closeFile(),
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

/** Longer texts are truncated; the session keeps tool results in full. */
const maxTextLength = 100_000;

/** Truncates long texts and replaces file contents by their size. */
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
