import { isObject, type JsonObject } from "../../conversation/json.ts";
import type { Note } from "../../conversation/notes.ts";
import { destinationOf, wireIds } from "../../providers/find.ts";
import { lint } from "../../rules/lint.ts";
import type { Finding } from "../../rules/rule.ts";
import type { TokenUsage } from "../../wire/decode/events.ts";
import type { ExchangeRecord } from "../../wire/exchange.ts";
import type { WireId } from "../../wire/wire.ts";
import { formatJson, withoutMessages } from "./aligned-request.ts";

/** An exchange as a row of the list. */
export type ExchangeRow = {
  /** Ordinal, from 1. */
  readonly number: number;
  /** Milliseconds since 1970; absent if the record's time cannot be read. */
  readonly at?: number;
  readonly client: string;
  readonly model: string;
  readonly api: string;
  /** The provider and model the request was sent to. */
  readonly sentTo?: string;
  readonly status: number;
  readonly usage?: TokenUsage;
  readonly cost?: number;
  readonly took?: number;
  readonly notes: number;
};

/** Parses a line of an exchange log; undefined if it is none. Only the request as received is required. */
export const parseExchange = (value: unknown): ExchangeRecord | undefined => {
  if (!isObject(value) || !isObject(value["in"]) || typeof value["in"]["api"] !== "string") return undefined;
  if (!("body" in value["in"])) return undefined;
  const { at, client, model, out, notes, usage, cost, status, error, took } = value;
  return {
    at: textOr(at, ""),
    client: textOr(client, ""),
    model: textOr(model, ""),
    in: { api: value["in"]["api"], body: value["in"]["body"] },
    ...(isObject(out) && "body" in out
      ? { out: { provider: textOr(out["provider"], ""), model: textOr(out["model"], ""), body: out["body"] } }
      : {}),
    notes: Array.isArray(notes) ? notes.filter(isNote) : [],
    ...(isObject(usage) ? { usage: parseUsage(usage) } : {}),
    ...(typeof cost === "number" ? { cost } : {}),
    status: typeof status === "number" ? status : 0,
    ...(typeof error === "string" ? { error } : {}),
    ...(typeof took === "number" ? { took } : {}),
  };
};

/** Returns the row of an exchange. */
export const exchangeRowOf = (record: ExchangeRecord, number: number): ExchangeRow => {
  const { at, client, model, out, status, usage, cost, took, notes } = record;
  const time = Date.parse(at);
  return {
    number,
    ...(Number.isNaN(time) ? {} : { at: time }),
    client,
    model,
    api: record.in.api,
    ...(out === undefined ? {} : { sentTo: `${out.provider}/${out.model}` }),
    status,
    ...(usage === undefined ? {} : { usage }),
    ...(cost === undefined ? {} : { cost }),
    ...(took === undefined ? {} : { took }),
    notes: notes.length,
  };
};

/** One of the two requests of an exchange. */
export type ExchangeBody = {
  /** Its API family; absent if that is unknown. */
  readonly wire?: string;
  readonly bytes: number;
  readonly messages: number;
  /** The body without its messages. */
  readonly head: string;
  /** The findings of its API's rules. */
  readonly findings: readonly Finding[];
};

/** The messages of both requests from one answer of the model to the next: the same part of the conversation. */
export type ExchangeTurn = {
  readonly role: "asked" | "answered";
  readonly in: readonly ExchangeMessage[];
  readonly out: readonly ExchangeMessage[];
};

type ExchangeMessage = { /** Index in the request. */ readonly message: number; readonly json: string };

/** An exchange with both bodies, aligned. */
export type ExchangeDetails = {
  readonly row: ExchangeRow;
  readonly error?: string;
  readonly notes: readonly Note[];
  readonly in: ExchangeBody;
  readonly out?: ExchangeBody;
  readonly turns: readonly ExchangeTurn[];
};

/** Describes both requests of an exchange, aligned by the answers in them. */
export const describeExchange = (record: ExchangeRecord, number: number): ExchangeDetails => {
  const { out, notes, error } = record;
  const sent = out === undefined ? undefined : wireOf(out);
  const received = listRuns(messagesOf(record.in.body));
  const forwarded = out === undefined ? [] : listRuns(messagesOf(out.body));
  return {
    row: exchangeRowOf(record, number),
    ...(error === undefined ? {} : { error }),
    notes,
    in: describeBody(
      record.in.body,
      wireIds.find((id) => id === record.in.api),
    ),
    ...(out === undefined ? {} : { out: describeBody(out.body, sent, out) }),
    turns: alignRuns(received, forwarded),
  };
};

const describeBody = (
  body: unknown,
  wire: WireId | undefined,
  target?: { readonly provider: string; readonly model: string },
): ExchangeBody => ({
  ...(wire === undefined ? {} : { wire }),
  bytes: Buffer.byteLength(JSON.stringify(body) ?? ""),
  messages: messagesOf(body).length,
  head: formatJson(isObject(body) ? withoutMessages(body as JsonObject) : body),
  findings:
    wire === undefined
      ? []
      : lint(body, { wire, ...(target === undefined ? {} : { provider: target.provider, model: target.model }) }),
});

/** The API family of a provider; undefined if the provider is not known here. */
const wireOf = ({ provider, model }: { readonly provider: string; readonly model: string }): WireId | undefined => {
  try {
    return destinationOf(`${provider}/${model}`).wire.id;
  } catch {
    return undefined;
  }
};

const messagesOf = (body: unknown): readonly unknown[] => {
  if (!isObject(body)) return [];
  const inner = isObject(body["request"]) ? body["request"] : body;
  const list = inner["messages"] ?? inner["contents"] ?? inner["input"];
  return Array.isArray(list) ? list : list === undefined ? [] : [list];
};

/** Neighbouring messages of the model, or of everyone else. */
type MessageRun = { readonly role: ExchangeTurn["role"]; readonly messages: readonly ExchangeMessage[] };

const listRuns = (messages: readonly unknown[]): readonly MessageRun[] => {
  const runs: { readonly role: ExchangeTurn["role"]; readonly messages: ExchangeMessage[] }[] = [];
  for (const [index, message] of messages.entries()) {
    const role = isAnswer(message) ? "answered" : "asked";
    const last = runs.at(-1);
    const shown = { message: index, json: formatJson(message) };
    if (last?.role === role) last.messages.push(shown);
    else runs.push({ role, messages: [shown] });
  }
  return runs;
};

/** OpenAI's Responses API has items without a role: reasoning and calls are the model's, outputs are not. */
const isAnswer = (message: unknown): boolean => {
  if (!isObject(message)) return false;
  const { role, type } = message;
  if (typeof role === "string") return role === "assistant" || role === "model";
  return typeof type === "string" && (type === "reasoning" || type.endsWith("_call"));
};

/** Puts the n-th answer of one beside the n-th of the other, and what comes before it as well. */
const alignRuns = (received: readonly MessageRun[], sent: readonly MessageRun[]): readonly ExchangeTurn[] => {
  const turns: ExchangeTurn[] = [];
  let [one, other] = [0, 0];
  while (one < received.length || other < sent.length) {
    const roles = [received[one]?.role, sent[other]?.role];
    const role = roles.includes("asked") ? "asked" : "answered";
    const left = received[one]?.role === role ? received[one++] : undefined;
    const right = sent[other]?.role === role ? sent[other++] : undefined;
    turns.push({ role, in: left?.messages ?? [], out: right?.messages ?? [] });
  }
  return turns;
};

const textOr = (value: unknown, otherwise: string): string => (typeof value === "string" ? value : otherwise);

const isNote = (value: unknown): value is Note =>
  isObject(value) &&
  typeof value["kind"] === "string" &&
  typeof value["message"] === "string" &&
  (value["class"] === "state" || value["class"] === "rendering" || value["class"] === "projection");

const parseUsage = (usage: Record<string, unknown>): TokenUsage => {
  const read = (name: string): number => (typeof usage[name] === "number" ? usage[name] : 0);
  return {
    input: read("input"),
    cachedRead: read("cachedRead"),
    cachedWrite: read("cachedWrite"),
    output: read("output"),
    reasoning: read("reasoning"),
  };
};
