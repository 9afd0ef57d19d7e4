import type { SavedSession } from "../session/load.ts";
import type { SessionContent } from "../session/log/content.ts";
import type { NewRecord } from "../session/log/record.ts";
import { summarizeContent, type SessionSummary } from "../session/store/summary.ts";
import type { Row } from "./database.ts";

/** The part of a summary that is stored with the session, and whether there is anything to list. */
type StoredSummary = Pick<SessionSummary, "title" | "models" | "source"> & {
  readonly turns: number;
  readonly isUsed: boolean;
  readonly isTitled: boolean;
  /** Whether `models` are those that answered, rather than the one that was chosen. */
  readonly hasAnswer: boolean;
};

/** The summary of a session while records are appended, so that a list reads no records. */
export class SummaryTracker {
  readonly #summary: StoredSummary;

  private constructor(summary: StoredSummary) {
    this.#summary = summary;
  }

  static of(content: SessionContent | SavedSession): SummaryTracker {
    const { title, models, turns = 0, source } = summarizeContent(content, noFile);
    const isTitled = content.title !== undefined;
    return new SummaryTracker({
      title,
      models,
      turns,
      isTitled,
      isUsed: isTitled || content.entries.some(({ type }) => type !== "notice"),
      hasAnswer: content.entries.some(({ type }) => type === "model"),
      ...(source === undefined ? {} : { source }),
    });
  }

  /** The summary as it is stored. */
  get text(): string {
    return JSON.stringify(this.#summary);
  }

  /** The summary after these records; the same object if it does not change. */
  with(records: readonly NewRecord[]): SummaryTracker {
    const summary = records.reduce(addRecord, this.#summary);
    return summary === this.#summary ? this : new SummaryTracker(summary);
  }
}

const noFile = { id: "", size: 0, modified: 0 };

const addRecord = (summary: StoredSummary, record: NewRecord): StoredSummary => {
  const { models, turns, isTitled, hasAnswer, isUsed } = summary;
  if (record.kind === "title") return { ...summary, title: record.title, isTitled: true, isUsed: true };
  if (record.kind === "model")
    return hasAnswer ? summary : { ...summary, models: [`${record.provider}/${record.model}`] };
  if (record.kind !== "entry") return summary;
  const { entry } = record;
  if (entry.type === "user") {
    const title =
      isTitled || summary.title !== ""
        ? summary.title
        : summarizeContent({ entries: [entry], lostEntries: new Set() }, noFile).title;
    return { ...summary, turns: turns + 1, isUsed: true, title };
  }
  if (entry.type === "model") {
    const name = `${entry.origin.provider}/${entry.origin.model}`;
    if (hasAnswer && models.includes(name)) return summary;
    return { ...summary, models: hasAnswer ? [...models, name] : [name], hasAnswer: true, isUsed: true };
  }
  return isUsed || entry.type === "notice" ? summary : { ...summary, isUsed: true };
};

/** The columns a summary is read from. */
export const summaryColumns = "id, project, bytes, created, modified, summary";

/** Reads a row of the session table; undefined if no prompt was ever sent. */
export const readSummaryRow = (row: Row): SessionSummary | undefined => {
  const { title, models, turns, source, isUsed } = JSON.parse(String(row["summary"])) as StoredSummary;
  if (!isUsed) return undefined;
  return {
    id: String(row["id"]),
    root: String(row["project"]),
    title,
    models,
    turns,
    size: Number(row["bytes"]),
    ...(source === undefined ? {} : { source }),
    created: Number(row["created"]),
    modified: Number(row["modified"]),
  };
};
