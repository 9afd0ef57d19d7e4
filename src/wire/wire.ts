import type { Conversation, Origin, ProviderFields, ToolDeclaration } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { Note } from "../conversation/notes.ts";
import type { Step } from "../transcript/step.ts";
import type { ToolResponseLayout } from "../transcript/target.ts";
import type { ResponseDecoder } from "./decode/events.ts";
import type { ArgumentNames } from "./schema/argument-names.ts";

/** The API families, by their names on the command line. */
export type WireId = "gemini" | "anthropic" | "bedrock" | "openai-chat" | "openai-responses";

/** Settings of a request. Absent means the API's own default. */
export type RequestSettings = {
  readonly maxTokens?: number;
  /** About how many tokens of the context window are left for the response. The token limit never exceeds it. */
  readonly contextLeft?: number;
  readonly temperature?: number;
  readonly stream?: boolean;
  readonly toolChoice?: ToolChoice;
  readonly thinking?: ThinkingSetting;
  /** Whether thinking summaries are requested, or turned off, where the API leaves that to the request. */
  readonly thoughts?: boolean;
  readonly cache?: CacheSetting;
  /** The JSON Schema the answer must match, for APIs that enforce one. */
  readonly output?: OutputFormat;
  /** Further fields of the body these settings were read from. */
  readonly extra?: ProviderFields;
};

/**
 * The schema of an answer, and its form for APIs that enforce schemas. `isComplete` says that no property of that form is
 * optional, as OpenAI's strict mode requires.
 */
export type OutputFormat = {
  readonly name: string;
  readonly schema: JsonObject;
  readonly enforced?: JsonObject;
  readonly isComplete?: boolean;
};

/** Whether the model may, must not or must call a tool, or which one. */
export type ToolChoice = "auto" | "none" | "required" | { readonly tool: string };

/** How much to think. `budget` is in tokens, for models without effort levels. */
export type ThinkingSetting = { readonly effort: "none" | "low" | "medium" | "high"; readonly budget?: number };

/**
 * Prompt cache settings: `marks` sets explicit cache points where an API has them, with a lifetime of `ttl`; `key` routes
 * requests of one session together.
 */
export type CacheSetting = { readonly marks?: boolean; readonly key?: string; readonly ttl?: string };
/** When a request may ask for thinking summaries: never, only together with thinking, or always. */
export type ThoughtSummaries = "never" | "with-thinking" | "always";

/** Everything in a request besides its messages. Tool names are already the target's. */
export type WireRequest<Dialect> = {
  readonly model: string;
  readonly system?: string;
  readonly tools: readonly ToolDeclaration[];
  readonly settings: RequestSettings;
  readonly dialect: Dialect;
};

/** A message with a cache point, and its index among the messages. */
export type MarkedMessage = { readonly at: number; readonly message: JsonObject };

/** A request body, and notes on adapted settings. */
export type EncodedBody = { readonly body: JsonObject; readonly notes: readonly Note[] };

/** A request body decoded into a conversation. */
export type DecodedRequest = {
  readonly conversation: Conversation;
  readonly settings: RequestSettings;
  readonly model?: string;
  readonly notes: readonly Note[];
};

/**
 * Encodes and decodes the requests and responses of one API family. Syntax only: a wire never repairs, never throws on
 * what it reads, and never looks at a provider's name.
 */
export type Wire<Dialect> = {
  readonly id: WireId;
  /** Encodes the messages before all steps, such as a system message. */
  readonly encodeHead: (request: WireRequest<Dialect>) => readonly JsonObject[];
  /** Encodes one step as messages. `layout` selects the layout of tool results where an API leaves that open. */
  readonly encodeStep: (step: Step, dialect: Dialect, layout?: ToolResponseLayout) => readonly JsonObject[];
  /** Merges two adjacent messages of one role; undefined where they cannot be merged. For targets that require alternating roles. */
  readonly mergeMessages: (before: JsonObject, next: JsonObject, dialect: Dialect) => JsonObject | undefined;
  /** Returns the messages that get a prompt cache point, where these are requested and the API has them. */
  readonly markCachePoints: (
    messages: readonly JsonObject[],
    request: WireRequest<Dialect>,
  ) => readonly MarkedMessage[];
  /** Encodes the request body around the messages. The array is used, not copied. */
  readonly encodeRequest: (messages: readonly JsonObject[], request: WireRequest<Dialect>) => EncodedBody;
  /** Extracts the messages from a body made by `encodeRequest`, without cache points. */
  readonly extractMessages: (body: JsonObject) => readonly JsonObject[];
  /** Reads a body of this family, however broken, as a conversation. `from` is the origin of its model messages. */
  readonly read: (body: unknown, from: Origin) => DecodedRequest;
  /** Returns the renamed arguments of a tool; absent where the API accepts every name. */
  readonly argumentNames?: (parameters: JsonObject | undefined, dialect: Dialect) => ArgumentNames | undefined;
  /** Decodes responses, streamed or complete. */
  readonly decode: ResponseDecoder<Dialect>;
};
