import { isObject } from "../../conversation/json.ts";
import type { LogLine } from "./line.ts";

/**
 * Omits texts that resuming a session does not need: entries replaced by a compaction, and request records. A long log can
 * then be read without holding all of it in memory. Every line keeps its position: an omitted entry becomes an empty notice.
 */
export class CompactedTextFilter {
  /** Line number and entry index of each entry that still has its text. */
  readonly #held: { readonly line: number; readonly index: number }[] = [];
  #highestOmittedCall = 0;

  /** The highest tool-call number whose text was omitted. */
  get highestOmittedCall(): number {
    return this.#highestOmittedCall;
  }

  /** Processes the last line, and omits the texts it makes unnecessary. */
  add(lines: LogLine[]): void {
    const at = lines.length - 1;
    const line = lines[at];
    if (line === undefined) return;
    const { text } = line;
    if (text.startsWith('{"kind":"request"')) {
      lines[at] = { ...line, text: '{"kind":"request"}' };
      return;
    }
    const index = /^\{"kind":"entry","index":(\d{1,9}),"entry":/.exec(text)?.[1];
    if (index === undefined) return;
    this.#held.push({ line: at, index: Number(index) });
    if (/^[^{]*\{[^{]*\{"type":"compaction"/.test(text)) this.#omit(lines, readFirstKeptEntry(text));
  }

  #omit(lines: LogLine[], from: number): void {
    const replaced = this.#held.filter(({ index }) => index < from);
    this.#held.splice(0, this.#held.length, ...this.#held.filter(({ index }) => index >= from));
    for (const { line: at, index } of replaced) {
      const line = lines[at];
      if (line === undefined) continue;
      for (const [, ordinal] of line.text.matchAll(/"hist_tool_(\d{1,9})"/g))
        this.#highestOmittedCall = Math.max(this.#highestOmittedCall, Number(ordinal));
      // The opening notice of a conversation precedes every summary, so it is kept.
      const isOpening = index === 0 && line.text.includes('"entry":{"type":"notice"');
      if (!isOpening)
        lines[at] = { ...line, text: `{"kind":"entry","index":${index},"entry":{"type":"notice","text":""}}` };
    }
  }
}

/** The first entry a compaction keeps; 0 for a compaction without a summary. */
const readFirstKeptEntry = (text: string): number => {
  const record: unknown = JSON.parse(text);
  const entry = isObject(record) ? record["entry"] : undefined;
  if (!isObject(entry) || typeof entry["summary"] !== "string" || typeof entry["from"] !== "number") return 0;
  return entry["summary"].trim() === "" ? 0 : entry["from"];
};
