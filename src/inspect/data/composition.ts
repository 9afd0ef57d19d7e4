import { estimateMedia, estimateTokens } from "../../context/estimate-tokens.ts";
import { isObject, type JsonObject } from "../../conversation/json.ts";
import type { Entry } from "../../conversation/entry.ts";
import type { Media } from "../../conversation/parts.ts";
import type { ReadSession } from "../../session/store/store.ts";
import { findFacts, type KnownModels } from "./model-facts.ts";
import { traceRequest, type TracedRequest } from "./aligned-request.ts";
import { splitMessage, type CompositionGroup } from "./message-blocks.ts";

/** The contents of the next request to a model, by size. Tokens are estimates that add up to the whole. */
export type Composition = {
  readonly model: string;
  readonly wire: string;
  readonly bytes: number;
  readonly tokens: number;
  /** The size of the model's context window. */
  readonly context: number;
  readonly groups: readonly CompositionShare[];
};

/** One kind of content, and the things of that kind, largest first. */
export type CompositionShare = CompositionSize & {
  readonly group: CompositionGroup;
  readonly items: readonly CompositionItem[];
};

/** Things of one name: a context file, a tool, the results of a tool. */
type CompositionItem = CompositionSize & { readonly name: string; readonly count: number };

type CompositionSize = { readonly bytes: number; readonly tokens: number };

/** Measures the request a model would get next. */
export const composeComposition = (session: ReadSession, to: string, models?: KnownModels): Composition => {
  const traced = traceRequest(session, to);
  const { model, wire, body } = traced;
  const sizes = new SizeTable(findMedia(session));
  for (const { group, name: part, text } of splitSystem(session.head.system ?? "")) sizes.add(group, part, text);
  for (const tool of declaredTools(body)) sizes.add("tools", toolGroup(nameOfTool(tool)), tool);
  addMessages(sizes, traced, session.entries);
  const bytes = Buffer.byteLength(JSON.stringify(body));
  const groups = sizes.groups();
  const counted = groups.reduce((sum, group) => sum + group.bytes, 0);
  // Field names, ids, settings, and cache points: whatever holds the contents together.
  const rest = Math.max(0, bytes - counted);
  const all = [...groups, { group: "other" as const, bytes: rest, tokens: Math.ceil(rest / bytesPerToken), items: [] }];
  return {
    model,
    wire,
    bytes,
    tokens: all.reduce((sum, group) => sum + group.tokens, 0),
    context: findFacts(model, models).context,
    groups: all.filter((group) => group.bytes > 0),
  };
};

const bytesPerToken = 4;

const addMessages = (sizes: SizeTable, { messages, calls }: TracedRequest, entries: readonly Entry[]): void => {
  const toolOfId = new Map(calls.map(({ id, tool }) => [id, tool]));
  for (const { pieces } of messages)
    for (const { message, entries: made } of pieces) {
      const types = new Set(made.map((entry) => entries[entry]?.type));
      const source = types.has("user") || types.has("model") || types.has("completion") ? "user" : "notices";
      for (const { group, name, value } of splitMessage(message, toolOfId)) {
        // The system prompt is measured by its sections.
        if (group === "system") continue;
        sizes.add(group === "user" ? (types.has("compaction") ? "summary" : source) : group, name, value);
      }
    }
};

/** Sums sizes by group and name. Base64 data counts as media wherever it stands. */
class SizeTable {
  readonly #media: ReadonlyMap<string, Media>;
  readonly #groups = new Map<CompositionGroup, Map<string, { bytes: number; tokens: number; count: number }>>();

  constructor(media: ReadonlyMap<string, Media>) {
    this.#media = media;
  }

  add(group: CompositionGroup, name: string, value: unknown): void {
    const data: string[] = [];
    const rest = takeData(value, data);
    const text = typeof rest === "string" ? rest : JSON.stringify(rest);
    // The fields around data belong to no name of their own.
    if (group !== "media" || data.length === 0)
      this.#count(group, name, { bytes: Buffer.byteLength(text), tokens: estimateTokens(text) });
    for (const base64 of data) {
      const media = this.#media.get(mediaKey(base64));
      this.#count("media", media?.name ?? media?.kind ?? "data", {
        bytes: base64.length,
        tokens: media === undefined ? unknownMediaTokens : estimateMedia(media),
      });
    }
  }

  groups(): readonly CompositionShare[] {
    const bySize = (one: CompositionSize, other: CompositionSize): number => other.tokens - one.tokens;
    return [...this.#groups].map(([group, names]) => {
      const items = [...names].map(([name, size]) => ({ name, ...size })).toSorted(bySize);
      const sum = (read: (item: CompositionSize) => number): number =>
        items.reduce((total, item) => total + read(item), 0);
      return { group, bytes: sum(({ bytes }) => bytes), tokens: sum(({ tokens }) => tokens), items };
    });
  }

  #count(group: CompositionGroup, name: string, { bytes, tokens }: CompositionSize): void {
    const names = this.#groups.get(group) ?? new Map<string, { bytes: number; tokens: number; count: number }>();
    this.#groups.set(group, names);
    const known = names.get(name) ?? { bytes: 0, tokens: 0, count: 0 };
    names.set(name, { bytes: known.bytes + bytes, tokens: known.tokens + tokens, count: known.count + 1 });
  }
}

const unknownMediaTokens = 1600;

/** Splits a system prompt at its headings and at the context files in it. */
const splitSystem = (
  system: string,
): readonly { readonly group: CompositionGroup; readonly name: string; readonly text: string }[] => {
  const parts = system.split(/^(?=# .+$|--- .+ ---$)/m).filter((part) => part.trim() !== "");
  return parts.map((text) => {
    const file = /^--- (.+) ---$/m.exec(text.split("\n", 1)[0] ?? "")?.[1];
    const heading = /^# (.+)$/.exec(text.split("\n", 1)[0] ?? "")?.[1];
    if (file !== undefined) return { group: "context", name: file, text };
    return { group: heading === "Skills" ? "skills" : "system", name: heading ?? "Beginning", text };
  });
};

const declaredTools = (body: JsonObject): readonly unknown[] => {
  const inner = isObject(body["request"]) ? (body["request"] as JsonObject) : body;
  const config = inner["toolConfig"];
  const list = inner["tools"] ?? (isObject(config) ? (config as JsonObject)["tools"] : undefined);
  if (!Array.isArray(list)) return [];
  return list.flatMap((tool: unknown) =>
    isObject(tool) && Array.isArray(tool["functionDeclarations"]) ? tool["functionDeclarations"] : [tool],
  );
};

const nameOfTool = (tool: unknown): string => {
  if (!isObject(tool)) return "tool";
  if (typeof tool["name"] === "string") return tool["name"];
  for (const field of ["function", "toolSpec"]) {
    const inner = tool[field];
    if (isObject(inner) && typeof inner["name"] === "string") return inner["name"];
  }
  return typeof tool["type"] === "string" ? tool["type"] : "tool";
};

/** Tools of an MCP server count together. */
const toolGroup = (name: string): string => {
  const server = /^mcp__(.+?)__/.exec(name)?.[1];
  return server === undefined ? name : `MCP server ${server}`;
};

const findMedia = ({ entries, blobs }: ReadSession): ReadonlyMap<string, Media> => {
  const parts = entries.flatMap((entry): readonly { readonly type: string }[] =>
    entry.type === "completion" ? entry.outcome.content : "parts" in entry ? entry.parts : [],
  );
  return new Map(
    parts.flatMap((part): readonly [string, Media][] => {
      if (part.type !== "media") return [];
      const media = part as Media;
      const base64 = media.source.type === "blob" ? blobs[media.source.hash] : undefined;
      return base64 === undefined ? [] : [[mediaKey(base64), media]];
    }),
  );
};

const mediaKey = (base64: string): string => {
  const data = base64.slice(base64.startsWith("data:") ? base64.indexOf(",") + 1 : 0);
  return `${data.length} ${data.slice(0, 100)} ${data.slice(-100)}`;
};

const minDataLength = 512;

/** Takes base64 data out of a value. */
const takeData = (value: unknown, data: string[]): unknown => {
  if (typeof value === "string") {
    if (value.length < minDataLength || !/^(data:[^,]{0,100},)?[A-Za-z0-9+/_-]+={0,2}$/.test(value)) return value;
    data.push(value);
    return "";
  }
  if (Array.isArray(value)) return value.map((item) => takeData(item, data));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, takeData(item, data)]));
};
