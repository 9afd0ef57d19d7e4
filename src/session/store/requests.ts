import type { JsonObject } from "../../conversation/json.ts";
import type { Note } from "../../conversation/notes.ts";
import type { ReadSession } from "./store.ts";

/** A completed request of a session. */
export type SessionRequest = {
  /** Ordinal, from 1. */
  readonly number: number;
  /** When its response was committed. */
  readonly at: string;
  readonly model: string;
  /** Number of entries of the conversation it contained. */
  readonly entries: number;
  readonly digest?: string;
  readonly usage?: JsonObject;
  /** The notes that are new in this request. */
  readonly notes: readonly Note[];
};

/** Lists the completed requests. The log has each one after its response; it contained the entries before that. */
export const listRequests = async ({ records }: Pick<ReadSession, "records">): Promise<readonly SessionRequest[]> => {
  const requests: SessionRequest[] = [];
  let entryCount = 0;
  let lastResponse = 0;
  for await (const { at, record } of records()) {
    if (record.kind === "entry") {
      if (record.entry.type === "model") lastResponse = record.index;
      entryCount = record.index + 1;
    }
    if (record.kind !== "request") continue;
    const { provider, model, digest, usage, notes } = record;
    requests.push({
      number: requests.length + 1,
      at: new Date(at).toISOString(),
      model: `${provider}/${model}`,
      entries: Math.min(lastResponse, entryCount),
      ...(digest === undefined ? {} : { digest }),
      ...(usage === undefined ? {} : { usage }),
      notes,
    });
  }
  return requests;
};

/** Returns the session as of a request, with the tools and the media support recorded then. */
export const sessionAtRequest = async (
  session: ReadSession,
  { number, entries }: SessionRequest,
): Promise<ReadSession> => {
  let { tools } = session.head;
  let inputs: NonNullable<ReadSession["inputs"]> = {};
  let seen = 0;
  for await (const { record } of session.records()) {
    if (record.kind === "request") seen += 1;
    if (seen === number) break;
    if (record.kind === "tools") ({ tools } = record);
    if (record.kind === "input") inputs = { ...inputs, [`${record.provider}/${record.model}`]: record.input };
  }
  const { tools: _, ...rest } = session;
  return { ...rest, ...(tools === undefined ? {} : { tools }), inputs, entries: session.entries.slice(0, entries) };
};
