import type { Conversation } from "../../conversation/entry.ts";
import type { Note } from "../../conversation/notes.ts";
import { parseSource, readRequest } from "../../providers/request.ts";
import type { ReadSession } from "../../session/store/store.ts";
import { formatVersion } from "../../session/log/record.ts";
import { summarizeSession } from "../../session/store/summary.ts";
import type { ExchangeRecord } from "../../wire/exchange.ts";
import type { WireId } from "../../wire/wire.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { ExchangeRow } from "./exchanges.ts";

/** A conversation to look at, in the form of a session: a file or a body has no requests and no times. */
export type Inspected = {
  readonly kind: "session" | "conversation" | "body" | "exchanges";
  /** The session id, or the name of the file. */
  readonly name: string;
  readonly session: ReadSession;
  /** Repairs made while a body was read. */
  readonly readNotes: readonly Note[];
  /** The request body as it was given, and its API. */
  readonly body?: { readonly wire: WireId; readonly value: unknown };
  /** The exchanges of an exchange log. Its conversation is empty. */
  readonly exchanges?: InspectedExchanges;
};

/** The rows of an exchange log. Bodies are large, so they are read one at a time. */
export type InspectedExchanges = {
  readonly rows: readonly ExchangeRow[];
  /** Lines that are no exchange. */
  readonly invalid: number;
  readonly read: (number: number) => Promise<ExchangeRecord | undefined>;
};

export const inspectSession = (session: ReadSession): Inspected => ({
  kind: "session",
  name: session.id,
  session,
  readNotes: [],
});

export const inspectConversation = (conversation: Conversation, name: string): Inspected => ({
  kind: "conversation",
  name,
  session: asSession(conversation, name),
  readNotes: [],
});

/** Reads a request body of an API, however broken. */
export const inspectBody = (value: unknown, wire: WireId, name: string): Inspected => {
  const { conversation, model, notes } = readRequest(value, parseSource(wire));
  const { provider } = parseSource(wire).origin;
  const session = asSession(conversation, name);
  return {
    kind: "body",
    name,
    session: model === undefined ? session : { ...session, model: { provider, model } },
    readNotes: notes,
    body: { wire, value },
  };
};

export const inspectExchanges = (exchanges: InspectedExchanges, name: string): Inspected => ({
  kind: "exchanges",
  name,
  session: asSession({ version: 1, entries: [], blobs: {} }, name),
  readNotes: [],
  exchanges,
});

/** Returns the title of a session or file, on one line and safe to print. */
export const titleOf = ({ kind, name, session }: Inspected): string =>
  sanitizeForTerminal(kind === "session" ? summarizeSession(session).title || session.id : name, "line");

const asSession = ({ system, tools, entries, blobs }: Conversation, id: string): ReadSession => ({
  id,
  head: {
    kind: "head",
    version: formatVersion,
    id,
    created: 0,
    root: "",
    ...(system === undefined ? {} : { system }),
  },
  entries,
  blobs,
  ...(tools === undefined ? {} : { tools }),
  ...lastModel(entries),
  damage: [],
  size: 0,
  modified: 0,
  records: async function* () {},
});

const lastModel = (entries: Conversation["entries"]): Pick<ReadSession, "model"> => {
  const last = entries.findLast((entry) => entry.type === "model");
  return last?.type === "model" ? { model: { provider: last.origin.provider, model: last.origin.model } } : {};
};
