import type { SimRequest, Json, ApiRefusal, SimModel, SimUsage, SimResponse } from "../family.ts";
import type { RequestFile } from "../model/types.ts";

export type ChatSimRequest = SimRequest<ChatQuirks>;

/** How one vendor's Chat Completions differs from the others. */
export type ChatQuirks = {
  readonly responseId: (request: ChatSimRequest) => string;
  /** Derives a call's id; `index` counts the calls of one response from 0. */
  readonly callId: (call: { readonly index: number; readonly tool: string }, request: ChatSimRequest) => string;
  /** The model name in a response, where the requested name is an alias. */
  readonly servedModel?: (model: string) => string;
  /**
   * The field for reasoning in a response. `details`: OpenRouter's sealed list; `tags`: in the text, unless the request
   * splits it.
   */
  readonly reasoning: "hidden" | "reasoning_content" | "reasoning" | "details" | "chunks" | "tags";
  /** Reasoning fields of earlier messages that the model reads again. */
  readonly rereadFields: readonly string[];
  /** Finish reasons that differ from OpenAI's. */
  readonly finishReasons: { readonly [finish in SimResponse["finish"]]?: string };
  /** The content of a message with calls only; undefined omits the field. */
  readonly emptyContent: null | "" | undefined;
  /** A refusal's text has its own field. */
  readonly refusalField: boolean;
  /** Sources are in `annotations`. */
  readonly hasAnnotations: boolean;
  /** Files a model can generate: OpenRouter's images, OpenAI's audio. */
  readonly generates: "image" | "audio" | "nothing";
  /** True for files that reach the model, by position. Others are silently lost, unless `refuseFile` refuses them. */
  readonly acceptsFile: (kind: RequestFile["kind"], place: "user" | "tool", model: string) => boolean;
  /** The refusal of a file that cannot reach the model, by the index of its message; undefined loses it silently. */
  readonly refuseFile?: (
    index: number,
    file: { readonly isAddress: boolean },
  ) => Pick<ApiRefusal, "status" | "kind" | "message"> | undefined;
  /** Files given by URL are fetched. */
  readonly fetchesUrls: boolean;
  /** A tool message whose content is a list loses its id and its files. */
  readonly losesListIds?: true;
  /** Encodes the message of a complete response around content, reasoning and calls. */
  readonly message: (core: Json, draft: { readonly refusal: string | null }) => Json;
  /** Encodes one call of a complete response. */
  readonly call: (call: SimChatCall) => Json;
  /** Encodes the only choice of a complete response. */
  readonly choice: (message: Json, finish: ChatFinish) => Json;
  /** Encodes the envelope of a complete response or of a chunk. */
  readonly envelope: (body: ChatResponseBody, request: ChatSimRequest) => Json;
  readonly usage: (usage: SimUsage, request: ChatSimRequest) => Json;
  readonly stream: StreamQuirks;
  /** Models of other vendors that are streamed differently. */
  readonly hosted?: { readonly models: RegExp; readonly stream: Partial<StreamQuirks> };
  readonly errors: ChatErrors;
  /** Headers with the request id, made from its number in hexadecimal digits. */
  readonly requestId: (number: string) => { readonly [header: string]: string };
  /** Rate limit headers. */
  readonly limits: { readonly [header: string]: string };
  /** Encodes one model of the list; `list` encodes the envelope of `count` models. */
  readonly model: (model: SimModel) => Json;
  readonly list: (count: number) => Json;
};

/** How a vendor splits a response into chunks. */
export type StreamQuirks = {
  /**
   * How calls are streamed. `pieces`: arguments in deltas; in `blank-ids` each delta has an empty id, in `blank-names`
   * an empty name. `buffered`: one call per chunk. `whole`: all calls in one chunk.
   */
  readonly calls: "pieces" | "blank-ids" | "blank-names" | "buffered" | "whole";
  /** Encodes one call of a `whole` or `buffered` chunk. */
  readonly call: (call: SimChatCall) => Json;
  /** Calls are sent in the chunk with the finish reason. */
  readonly sendsCallsLast: boolean;
  /** The first chunk has the role and no content. */
  readonly hasOpeningChunk: boolean;
  /** Encodes the delta of one chunk. */
  readonly delta: (core: Json, step: StreamStep) => Json;
  readonly choice: (delta: Json, finish: ChatFinish | undefined) => Json;
  /** Extra fields of the first chunk. */
  readonly first?: (request: ChatSimRequest) => Json;
  /** Extra fields of the last chunk. */
  readonly last?: (usage: Json, request: ChatSimRequest) => Json;
  /**
   * Where the usage is. `on-request`: in a separate chunk if the request asks for it. `last-chunk`: always in the last
   * chunk. `last-choice`: in the last choice, and also on request. `repeated-chunk`: the last chunk is sent twice, the
   * second time with usage.
   */
  readonly usage: "on-request" | "last-chunk" | "last-choice" | "repeated-chunk";
  /** `usage: null` in earlier chunks: never, always, or if the request asks for usage. */
  readonly pendingUsage: "absent" | "null" | "null-on-request";
  /** A padding field that hides the length of the content. */
  readonly padding?: "obfuscation" | "p";
  /** A comment line that keeps the connection open. */
  readonly comment?: string;
  /** The error that ends the stream after an invalid call. */
  readonly badCall?: Json;
  /** How an error inside a stream is sent: the envelope, a named event, or a chunk with an error field. */
  readonly failure: "plain" | "event" | "chunk";
};

/** The context of one chunk. */
export type StreamStep = {
  readonly kind: "open" | "think" | "say" | "calls" | "other" | "end";
  readonly isFirst: boolean;
  /** The response contains reasoning. */
  readonly hasReasoning: boolean;
  readonly hasOnlyCalls: boolean;
  readonly model: string;
};

export type SimChatCall = {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
};

/** The finish reason: the vendor's, and OpenRouter's copy of the upstream's. */
export type ChatFinish = { readonly reason: string; readonly native: string };

export type ChatResponseBody = {
  readonly id: string;
  readonly kind: "chat.completion" | "chat.completion.chunk";
  readonly choices: readonly Json[];
  readonly usage?: Json | null;
};

/** Encodes a vendor's error. `number` is the request's number in hexadecimal digits. */
export type ChatErrors = (refusal: ApiRefusal, number: string) => { readonly body: Json; readonly status: number };
