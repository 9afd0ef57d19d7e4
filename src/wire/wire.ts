import type { Conversation, Origin, ProviderFields, ToolDeclaration } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { Note } from "../conversation/notes.ts";
import type { Step } from "../transcript/step.ts";
import type { ToolResponseLayout } from "../transcript/target.ts";
import type { ResponseDecoder } from "./decode/events.ts";
import type { ArgumentNames } from "./schema/argument-names.ts";

/** The API families, by the names people use on the command line. */
export type WireId = "gemini" | "anthropic" | "bedrock" | "openai-chat" | "openai-responses";

/** What a caller may ask of a request besides its messages. Absent means the API's own default. */
export type RequestSettings = {
  readonly maxTokens?: number;
  /** About how many tokens the model's context has left for the answer. A limit never exceeds it. */
  readonly contextLeft?: number;
  readonly temperature?: number;
  readonly stream?: boolean;
  readonly toolChoice?: ToolChoice;
  readonly thinking?: ThinkingSetting;
  /** Whether summaries of thoughts are asked for, or refused, where an API leaves that to the request. */
  readonly thoughts?: boolean;
  readonly cache?: CacheSetting;
  /** What the body these settings were read from said besides. */
  readonly extra?: ProviderFields;
};

/** Whether the model may, must not or must call a tool. */
export type ToolChoice = "auto" | "none" | "required" | { readonly tool: string };

/** How hard to think. `budget` counts tokens and is for models that know no effort. */
export type ThinkingSetting = { readonly effort: "none" | "low" | "medium" | "high"; readonly budget?: number };

/**
 * Prompt cache hints: `marks` sets explicit markers where an API has them, which live as long as `ttl` says;
 * `key` routes requests of one session together.
 */
export type CacheSetting = { readonly marks?: boolean; readonly key?: string; readonly ttl?: string };
/** When a request may ask for summaries of thoughts: never, only where it asks for thinking too, or always. */
export type ThoughtSummaries = "never" | "with-thinking" | "always";

/** Everything a request says besides its messages. Tool names are already the target's. */
export type WireRequest<Dialect> = {
  readonly model: string;
  readonly system?: string;
  readonly tools: readonly ToolDeclaration[];
  readonly settings: RequestSettings;
  readonly dialect: Dialect;
};

/** A message with a cache marker, and its place among the messages. */
export type MarkedMessage = { readonly at: number; readonly message: JsonObject };

/** A body, and what had to be adapted to write it. */
export type EncodedBody = { readonly body: JsonObject; readonly notes: readonly Note[] };

/** A body brought back into a conversation. */
export type DecodedRequest = {
  readonly conversation: Conversation;
  readonly settings: RequestSettings;
  readonly model?: string;
  readonly notes: readonly Note[];
};

/**
 * How one API family writes a conversation. Syntax only: a wire never repairs,
 * never throws on what it reads, and never looks at a provider's name.
 */
export type Wire<Dialect> = {
  readonly id: WireId;
  /** Messages that stand before all steps, such as a system message. */
  readonly encodeHead: (request: WireRequest<Dialect>) => readonly JsonObject[];
  /** One step as messages. `layout` is how results are laid out where an API leaves that open. */
  readonly encodeStep: (step: Step, dialect: Dialect, layout?: ToolResponseLayout) => readonly JsonObject[];
  /** Two neighbouring messages of one side as one; undefined where they stay two. For targets that want the sides to alternate. */
  readonly mergeMessages: (before: JsonObject, next: JsonObject, dialect: Dialect) => JsonObject | undefined;
  /** The messages that carry a cache marker, where markers are asked for and this API has them. The others stay as they are. */
  readonly markCachePoints: (
    messages: readonly JsonObject[],
    request: WireRequest<Dialect>,
  ) => readonly MarkedMessage[];
  /** The request around the messages. The array is taken as it is, not copied. */
  readonly encodeRequest: (messages: readonly JsonObject[], request: WireRequest<Dialect>) => EncodedBody;
  /** The messages inside a body made by `encodeRequest`, without cache markers. */
  readonly extractMessages: (body: JsonObject) => readonly JsonObject[];
  /** A body of this family, however broken, as a conversation. `from` says who made its model messages. */
  readonly read: (body: unknown, from: Origin) => DecodedRequest;
  /** The arguments of a tool that go by another name in this API; absent where every name is taken. */
  readonly argumentNames?: (parameters: JsonObject | undefined, dialect: Dialect) => ArgumentNames | undefined;
  /** How answers are read, as they stream in or whole. */
  readonly decode: ResponseDecoder<Dialect>;
};
