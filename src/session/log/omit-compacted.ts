import { isObject } from "../../conversation/json.ts";
import type { LogLine } from "./line.ts";

/**
 * Leaves out the texts of lines that going on with a session does not need: of entries that a summary replaced, and of
 * requests. A log is then read without holding all of it. Every line keeps its place: an entry becomes an empty notice.
 */
export class CompactedTextFilter {
  /** Where entries stand among the lines, by their index in the conversation; only those that have their text. */
  readonly #held: { readonly line: number; readonly index: number }[] = [];
  #ordinal = 0;

  /** The highest number of a call whose text was left out. */
  get highestOmittedCall(): number {
    return this.#ordinal;
  }

  /** Looks at the last of the lines, and leaves out what it makes needless. */
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
    if (/^[^{]*\{[^{]*\{"type":"compaction"/.test(text)) this.#leaveOut(lines, readFirstKeptEntry(text));
  }

  #leaveOut(lines: LogLine[], from: number): void {
    const needless = this.#held.filter(({ index }) => index < from);
    this.#held.splice(0, this.#held.length, ...this.#held.filter(({ index }) => index >= from));
    for (const { line: at, index } of needless) {
      const line = lines[at];
      if (line === undefined) continue;
      for (const [, ordinal] of line.text.matchAll(/"hist_tool_(\d{1,9})"/g))
        this.#ordinal = Math.max(this.#ordinal, Number(ordinal));
      // The notice a conversation opens with stays in front of every summary.
      const isOpening = index === 0 && line.text.includes('"entry":{"type":"notice"');
      if (!isOpening)
        lines[at] = { ...line, text: `{"kind":"entry","index":${index},"entry":{"type":"notice","text":""}}` };
    }
  }
}

/** The first entry that a summary does not replace; 0 for a compaction without a summary. */
const readFirstKeptEntry = (text: string): number => {
  const record: unknown = JSON.parse(text);
  const entry = isObject(record) ? record["entry"] : undefined;
  if (!isObject(entry) || typeof entry["summary"] !== "string" || typeof entry["from"] !== "number") return 0;
  return entry["summary"].trim() === "" ? 0 : entry["from"];
};
