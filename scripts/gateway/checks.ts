import type { LogEntry } from "../../src/sim/request-log.ts";
import type { ExchangeRecord } from "../../src/wire/exchange.ts";
import { lostContents } from "./contents.ts";
import { thoughtText } from "./model.ts";
import { linesPerFile } from "./stage.ts";

/** The verdict on one run of a client. `faults` is empty if all of it holds. */
export type RunChecks = {
  readonly requests: number;
  readonly switched?: boolean;
  readonly images: number;
  /** Whether the target got its own thinking of earlier responses back. */
  readonly thinking: boolean;
  /** Requests that begin with the bytes of the request before. */
  readonly prefix: { readonly kept: number; readonly of: number };
  readonly faults: readonly string[];
};

type CheckedRun = {
  readonly log: readonly LogEntry[];
  readonly exchanges: readonly ExchangeRecord[];
  readonly isDone: boolean;
  readonly received: { readonly texts: string; readonly images: number } | undefined;
  /** The files whose contents must have reached the model by the last request. */
  readonly files: readonly number[];
  /** Whether an image must have reached it. */
  readonly hasImage: boolean;
  /** Whether the target takes images at all. */
  readonly takesImages: boolean;
};

/** Checks that every request was accepted, the client finished, and nothing was lost or changed on the way. */
export const checkRun = (run: CheckedRun): RunChecks => {
  const { log, exchanges, isDone, received, files, hasImage } = run;
  const sent = log.filter(({ path }) => !isTokenCount(path));
  const refused = sent.flatMap((entry) => (entry.verdict === "refused" ? [`${entry.status} ${entry.message}`] : []));
  const dropped = sent.flatMap((entry) => ("dropped" in entry ? (entry.dropped ?? []) : []));
  const lost = new Set(exchanges.flatMap((exchange) => lostContents(exchange, run.takesImages)));
  const prefix = countPrefixes(sent);
  const faults = [
    ...refused.map((message) => `refused: ${message.slice(0, 160)}`),
    ...(dropped.length === 0 ? [] : [`${dropped.length} seals were ignored`]),
    ...(isDone ? [] : ["the client did not finish"]),
    ...files
      .filter(
        (file) => (received?.texts.match(new RegExp(`content of file ${file}\\b`, "g")) ?? []).length < linesPerFile,
      )
      .map((file) => `file ${file} did not reach the model`),
    ...(hasImage && (received?.images ?? 0) === 0 ? ["the image did not reach the model"] : []),
    ...[...lost].slice(0, 3).map((text) => `lost: ${JSON.stringify(text)}`),
    ...(prefix.of === 0 ? ["no prefix to compare"] : []),
    ...(prefix.kept === prefix.of ? [] : [`${prefix.of - prefix.kept} of ${prefix.of} prefixes changed`]),
  ];
  return {
    requests: sent.length,
    images: received?.images ?? 0,
    thinking: sent.some(({ body, verdict }) => verdict === "accepted" && hasThinking(body)),
    prefix,
    faults,
  };
};

/** Whether a request counts tokens and asks for no response. */
export const isTokenCount = (path: string): boolean => /count|token/i.test(path);

/** Whether a body holds thinking: its text, or a seal of the target in one of the fields for it. */
const hasThinking = (body: unknown): boolean => {
  const text = JSON.stringify(body ?? "");
  return (
    text.includes(thoughtText) ||
    /"(signature|encrypted_content|thoughtSignature|redactedContent)":"(?!skip_|context_)[^"]{8,}"/.test(text)
  );
};

/** Compares each request of a tool loop with the one before it. Cache points move, so they do not count. */
const countPrefixes = (log: readonly LogEntry[]): RunChecks["prefix"] => {
  const bodies = log.flatMap(({ body, verdict }) => (verdict === "accepted" ? [contentOf(body)] : []));
  const loops = bodies.filter(({ tools, messages }) => tools !== "" && messages.length > 0);
  const pairs = loops.slice(1).map((next, index) => [loops[index]!, next] as const);
  const grown = pairs.filter(([one, next]) => next.messages.length > one.messages.length);
  return { of: grown.length, kept: grown.filter(([one, next]) => isPrefix(one, next)).length };
};

type BodyContent = { readonly head: string; readonly tools: string; readonly messages: readonly string[] };

const contentOf = (body: unknown): BodyContent => {
  const whole = withoutCachePoints(body) as Readonly<Record<string, unknown>>;
  // Code Assist has the request within the body.
  const fields = (whole["request"] ?? whole) as Readonly<Record<string, unknown>>;
  const messages = fields["messages"] ?? fields["contents"] ?? fields["input"];
  const tools = fields["tools"] ?? fields["toolConfig"];
  const system = fields["system"] ?? fields["systemInstruction"] ?? fields["instructions"] ?? "";
  return {
    head: JSON.stringify(system) + JSON.stringify(tools),
    tools: tools === undefined ? "" : JSON.stringify(tools),
    messages: Array.isArray(messages) ? messages.map((message) => JSON.stringify(message)) : [],
  };
};

/** Where an API joins neighbours into one message (Bedrock, Anthropic), the last message may grow. */
const isPrefix = (one: BodyContent, next: BodyContent): boolean => {
  if (one.head !== next.head) return false;
  const all = one.messages.join(",");
  const longer = next.messages.join(",");
  return longer.startsWith(all) || longer.startsWith(all.replace(/\]\}$/, "").replace(/\],"role":"user"\}$/, ""));
};

const withoutCachePoints = (value: unknown): unknown => {
  if (Array.isArray(value))
    return value.filter((item) => !isCachePoint(item)).map((item: unknown) => withoutCachePoints(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== "cache_control")
      .map(([name, field]) => [name, plainText(withoutCachePoints(field))]),
  );
};

/** A text with a cache point is written as a list of one part, which means the same. */
const plainText = (value: unknown): unknown => {
  const [only, ...more] = Array.isArray(value) ? (value as readonly unknown[]) : [];
  const { type, text } = (only ?? {}) as { readonly type?: unknown; readonly text?: unknown };
  return more.length === 0 && type === "text" && typeof text === "string" ? text : value;
};

const isCachePoint = (value: unknown): boolean => typeof value === "object" && value !== null && "cachePoint" in value;
