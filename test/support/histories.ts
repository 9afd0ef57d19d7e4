import type { Conversation, Origin, ToolDeclaration } from "../../src/conversation/entry.ts";
import { importHistory, type ForeignEntry } from "../../src/conversation/import-history.ts";
import type { JsonValue } from "../../src/conversation/json.ts";
import { Ledger, type NewPart } from "../../src/conversation/ledger.ts";
import { mediaAt, storeBytes } from "../../src/conversation/media.ts";
import type { CallId, Content, Media, Outcome, UserPart } from "../../src/conversation/parts.ts";
import { providers } from "../../src/providers/all.ts";
import { recordDecisions } from "../../src/transcript/record-decisions.ts";
import { Random } from "./random.ts";

/**
 * What a random history is made of. `call` numbers the calls of the history
 * from 0; `at` is a moment at which a request is sent.
 */
export type HistoryOp =
  | { readonly type: "user"; readonly parts: readonly UserPart[] }
  | { readonly type: "notice"; readonly text: string }
  | { readonly type: "model"; readonly origin: Origin; readonly parts: readonly NewPart[] }
  | { readonly type: "result"; readonly call: number; readonly outcome: Outcome }
  | { readonly type: "orphan"; readonly id: string; readonly outcome: Outcome }
  | { readonly type: "compact"; readonly back: number; readonly summary: string }
  | { readonly type: "request" };

/** A history: `live` ones are written as they happen, `import` ones are read from a foreign record in its own order. */
export type History = {
  readonly mode: "live" | "import";
  readonly ops: readonly HistoryOp[];
  readonly blobs: Conversation["blobs"];
};

/** A history as a conversation, with the number of entries at each request. */
export type BuiltHistory = { readonly conversation: Conversation; readonly requests: readonly number[] };

/** Makes the history of a seed. */
export const makeHistory = (seed: number): History => new HistoryMaker(new Random(seed)).make();

const declared: readonly ToolDeclaration[] = [
  {
    name: "read_file",
    description: "Reads.",
    parameters: { type: "object", properties: { path: { type: "string" } } },
  },
  {
    name: "mcp.files/list",
    description: "Lists.",
    parameters: { type: "object", properties: { "team:": { type: "string" }, team_: { type: "string" } } },
  },
];

/** Builds the conversation of a history. */
export const buildHistory = (history: History): BuiltHistory => {
  const head = { version: 1, system: "Be exact.", tools: declared, blobs: history.blobs } as const;
  if (history.mode === "import")
    return { conversation: { ...head, entries: importHistory(toForeignEntries(history.ops)).entries }, requests: [] };
  const { entries, requests } = buildLive(history.ops);
  return { conversation: { ...head, entries }, requests };
};

const buildLive = (ops: readonly HistoryOp[]): { entries: Conversation["entries"]; requests: readonly number[] } => {
  const ledger = new Ledger();
  const calls: { id: CallId; tool: string }[] = [];
  const requests: number[] = [];
  for (const op of ops) {
    switch (op.type) {
      case "user":
        ledger.user(op.parts);
        break;
      case "notice":
        ledger.notice(op.text);
        break;
      case "model":
        calls.push(...ledger.model(op.origin, op.parts));
        break;
      case "result": {
        const call = calls[op.call];
        if (call !== undefined) ledger.complete(call.id, call.tool, op.outcome);
        break;
      }
      case "orphan":
        ledger.orphan("ghost", op.outcome);
        break;
      case "compact":
        ledger.compact(op.summary, Math.max(0, ledger.entries.length - op.back));
        break;
      case "request":
        recordDecisions(ledger);
        requests.push(ledger.entries.length);
    }
  }
  return { entries: ledger.entries, requests };
};

const toForeignEntries = (ops: readonly HistoryOp[]): readonly ForeignEntry[] => {
  const ids = ops.flatMap((op) =>
    op.type === "model" ? op.parts.flatMap((part) => (part.type === "call" ? [part.seal?.id ?? ""] : [])) : [],
  );
  return ops.flatMap((op): readonly ForeignEntry[] => {
    switch (op.type) {
      case "user":
      case "notice":
      case "model":
        return [op];
      case "result":
        return op.call < ids.length ? [{ type: "result", id: ids[op.call]!, outcome: op.outcome }] : [];
      case "orphan":
        return [{ type: "result", id: op.id, outcome: op.outcome }];
      case "compact":
      case "request":
        return [];
    }
  });
};

const tools = [
  "read_file",
  "mcp.files/list",
  "read-file",
  "read.file",
  "read_file_2",
  "日本語",
  "x".repeat(80),
  "9lives",
  "",
  "a b",
];
const models: Readonly<Record<string, readonly string[]>> = {
  google: ["gemini-3.8-flash", "gemini-2.5-flash"],
  anthropic: ["claude-sonnet-5", "claude-fable-5-1"],
};
const kinds = [
  ["image/png", "image"],
  ["image/jpeg", "image"],
  ["image/gif", "image"],
  ["image/svg+xml", "image"],
  ["application/pdf", "document"],
  ["text/csv", "document"],
  ["application/zip", "document"],
  ["audio/wav", "audio"],
  ["audio/mpeg", "audio"],
  ["video/mp4", "video"],
] as const;
const addresses = ["https://example.com/", "gs://bucket/", "s3://bucket/", "ms://", "https://www.youtube.com/watch?v="];

class HistoryMaker {
  readonly #random: Random;
  readonly #blobs: Record<string, string> = {};
  readonly #ops: HistoryOp[] = [];
  readonly #ids: string[] = [];
  #token = 0;
  #calls = 0;
  #origin: Origin;

  constructor(random: Random) {
    this.#random = random;
    this.#origin = this.#someone();
  }

  make(): History {
    const random = this.#random;
    const mode = random.chance(0.5) ? "live" : "import";
    const turns = random.chance(0.15) ? 6 + random.below(5) : 1 + random.below(3);
    if (random.chance(0.9)) this.#say();
    for (let turn = 0; turn < turns; turn++) {
      if (random.chance(0.5)) this.#origin = this.#someone();
      if (random.chance(0.6)) this.#ops.push({ type: "request" });
      this.#turn(mode);
      if (random.chance(0.1))
        this.#ops.push({ type: "notice", text: random.pick(["The date changed.", " ", this.#word()]) });
      if (random.chance(0.08)) this.#ops.push({ type: "compact", back: random.below(8), summary: this.#word() });
      if (random.chance(0.65)) this.#say();
    }
    this.#ops.push({ type: "request" });
    return { mode, ops: this.#ops, blobs: this.#blobs };
  }

  /** A model message, its results in some order or none, and what may come in between. */
  #turn(mode: History["mode"]): void {
    const random = this.#random;
    const first = this.#calls;
    const model: HistoryOp = { type: "model", origin: this.#origin, parts: this.#modelParts() };
    const results: HistoryOp[] = [];
    for (let call = first; call < this.#calls; call++) {
      if (random.chance(0.15)) continue;
      const outcome = this.#outcome();
      results.push({ type: "result", call, outcome });
      // In a foreign record, a second result under a shared id may belong to any of the calls that share it.
      const own =
        mode === "live" ||
        (this.#ids[call] !== "" && this.#ids.indexOf(this.#ids[call]!) === this.#ids.lastIndexOf(this.#ids[call]!));
      if (own && random.chance(0.05)) results.push({ type: "result", call, outcome });
      if (random.chance(0.05)) results.push({ type: "result", call, outcome: this.#outcome() });
    }
    if (random.chance(0.04))
      results.push({ type: "orphan", id: random.pick(["", "ghost", "call_1"]), outcome: this.#outcome() });
    if (random.chance(0.3)) results.reverse();
    const early = mode === "import" && random.chance(0.05) ? results.splice(0, 1) : [];
    const late = random.chance(0.1) ? results.splice(0, 1) : [];
    this.#ops.push(...early, model);
    for (const result of results) {
      this.#ops.push(result);
      if (random.chance(0.06)) this.#say();
    }
    if (random.chance(0.5))
      this.#ops.push({ type: "model", origin: this.#origin, parts: [{ type: "text", text: this.#word() }] });
    this.#ops.push(...late);
  }

  #say(): void {
    const random = this.#random;
    const parts: UserPart[] = [{ type: "text", text: random.chance(0.05) ? " \n" : this.#word() }];
    if (random.chance(0.12)) parts.push(this.#media());
    if (random.chance(0.05)) parts.push({ type: "text", text: this.#word() });
    this.#ops.push({ type: "user", parts });
  }

  #modelParts(): readonly NewPart[] {
    const random = this.#random;
    const parts: NewPart[] = [];
    if (random.chance(0.5)) parts.push(this.#thinking());
    if (random.chance(0.6))
      parts.push({ type: "text", text: random.chance(0.08) ? "" : this.#plain(), ...this.#textSeal() });
    if (random.chance(0.05)) parts.push({ type: "code", language: "python", text: "print(1)" });
    if (random.chance(0.04)) parts.push(this.#media());
    const calls = random.chance(0.7) ? 1 + random.below(random.chance(0.2) ? 5 : 2) : 0;
    for (let index = 0; index < calls; index++) {
      parts.push(this.#call());
      if (random.chance(0.05)) parts.push({ type: "text", text: this.#plain() });
    }
    return parts;
  }

  #textSeal(): { readonly seal?: { readonly signature: string } | { readonly item: string } } {
    const roll = this.#random.next();
    if (roll < 0.1) return { seal: { signature: signature(this.#mark()) } };
    return roll < 0.2 ? { seal: { item: `msg_${this.#mark()}` } } : {};
  }

  #thinking(): NewPart {
    const random = this.#random;
    const text = random.chance(0.1) ? "" : this.#plain();
    if (random.chance(0.3)) return { type: "thinking", text };
    const mark = this.#mark();
    switch (this.#origin.provider) {
      case "openai":
      case "xai":
      case "azure":
        return {
          type: "thinking",
          text,
          seal: { item: random.chance(0.1) ? "rs_again" : `rs_${mark}`, encrypted: `enc${mark}` },
        };
      case "openrouter":
      case "minimax":
        return { type: "thinking", text, seal: { details: [{ type: "reasoning.text", text: `d${mark}`, index: 0 }] } };
      default:
        return random.chance(0.8)
          ? { type: "thinking", text, seal: { signature: signature(mark) } }
          : { type: "thinking", text: "", seal: { encrypted: signature(mark) } };
    }
  }

  #call(): NewPart {
    const random = this.#random;
    this.#calls++;
    const id = this.#id();
    this.#ids.push(id);
    const roll = random.next();
    const seal =
      roll < 0.3
        ? { id, signature: signature(this.#mark()) }
        : roll < 0.5
          ? { id, item: `fc_${this.#mark()}` }
          : { id };
    return { type: "call", tool: random.pick(tools), input: this.#input(), seal };
  }

  #id(): string {
    const random = this.#random;
    const number = random.below(12);
    return random.pick([
      () => `call_${this.#mark()}`,
      () => `toolu_${this.#mark()}`,
      () => "",
      () => (this.#ids.length > 0 ? random.pick(this.#ids) : "call_0"),
      () => `call_${number}`,
      () => `toolu_${number}`,
      () => `tooluse_${number}`,
      () => `c0000000${number.toString(36)}`,
      () => `functions.read_file:${number}`,
      () => `list_dir:${number}`,
      () => `call_${"x".repeat(440)}|fc_${number}`,
      () => `идентификатор-${number}`,
      () => `hist_tool_${number}`,
      () => this.#mark().padStart(9, "A").slice(-9),
    ])();
  }

  #input(): { readonly text: string } | { readonly value: unknown } {
    const random = this.#random;
    const cyclic: Record<string, unknown> = { path: "a" };
    cyclic["self"] = cyclic;
    return random.pick([
      { value: { path: `/${this.#mark()}` } },
      { value: { "team:": this.#mark(), team_: "b" } },
      { text: `{"path": "a",  "n": 1}` },
      { text: "" },
      { text: `{"path": "unfin` },
      { text: "[]" },
      { value: [1, 2] },
      { value: null },
      { value: cyclic },
      { value: { "": 1, nested: { "": [true, null, 1.5] }, text: "a\ud800b" } },
    ]);
  }

  #outcome(): Outcome {
    const random = this.#random;
    const status = random.pick(["complete", "complete", "complete", "error", "cancelled", "interrupted"] as const);
    const content: Content[] = [];
    const size = random.chance(0.1) ? 0 : 1 + random.below(3);
    for (let index = 0; index < size; index++) {
      const roll = random.next();
      if (roll < 0.55) content.push({ type: "text", text: this.#word() });
      else if (roll < 0.6) content.push({ type: "text", text: " " });
      else if (roll < 0.75) content.push({ type: "structured", value: this.#value() });
      else content.push(this.#media());
    }
    return { status, content };
  }

  #value(): JsonValue {
    return this.#random.pick<JsonValue>([
      { found: this.#word() },
      [this.#word(), 1],
      this.#word(),
      { "": this.#word() },
    ]);
  }

  #media(): Media {
    const random = this.#random;
    const [mimeType, kind] = random.pick(kinds);
    const name = random.chance(0.3) ? { name: `n${this.#mark()}.${mimeType.split("/")[1]}` } : {};
    if (random.chance(0.25)) return mediaAt(`${random.pick(addresses)}${this.#mark()}`, { mimeType, kind, ...name });
    const mark = `media-${this.#mark()}-${random.below(1e9)}`;
    const { media, blob } = storeBytes(new TextEncoder().encode(mark), { mimeType, kind, ...name });
    if (!random.chance(0.03)) this.#blobs[blob.hash] = blob.base64;
    return media;
  }

  #someone(): Origin {
    const { id, defaultModel } = this.#random.pick(providers);
    return { provider: id, model: this.#random.pick([defaultModel, ...(models[id] ?? [])]) };
  }

  /** A text with a token in it that occurs nowhere else and must not be lost. */
  #word(): string {
    return `word ⟦${this.#token++}⟧ ${this.#random.pick(["end", "naïve 🎉", "\u0000", "line\nline", "</thinking>"])}`;
  }

  #plain(): string {
    return `said ${this.#mark()}`;
  }

  #mark(): string {
    return `m${(this.#token++).toString(36)}q`;
  }
}

const signature = (mark: string): string => Buffer.from(`signature ${mark} of sixteen bytes`).toString("base64");
