import type { SimRequest, Json, ApiRefusal, SimModel, SimUsage, SimResponse } from "../family.ts";
import type { RequestFile } from "../model/types.ts";

export type ChatSimRequest = SimRequest<ChatQuirks>;

/** What one vendor's Chat Completions does where the family differs. */
export type ChatQuirks = {
  readonly responseId: (ask: ChatSimRequest) => string;
  /** Each call's id; `index` counts the calls of one answer from 0. */
  readonly callId: (call: { readonly index: number; readonly tool: string }, ask: ChatSimRequest) => string;
  /** The name an answer gives its model, where an alias was asked for. */
  readonly servedModel?: (model: string) => string;
  /** Where the model's reasoning stands in an answer. `details`: OpenRouter's sealed list; `tags`: in the text, unless asked to split it. */
  readonly reasoning: "hidden" | "reasoning_content" | "reasoning" | "details" | "chunks" | "tags";
  /** Fields of earlier answers that the model reads again. */
  readonly rereadFields: readonly string[];
  /** The vendor's words for how an answer ended, where they are not OpenAI's. */
  readonly finishReasons: { readonly [finish in SimResponse["finish"]]?: string };
  /** What stands as content where a model only calls; undefined leaves the field out. */
  readonly emptyContent: null | "" | undefined;
  /** Words of a refusal stand in a field of their own. */
  readonly refusalField: boolean;
  /** Sources stand in `annotations`. */
  readonly hasAnnotations: boolean;
  /** What a model can make beside words: OpenRouter's pictures, OpenAI's sound. */
  readonly generates: "image" | "audio" | "nothing";
  /** Which files reach the model, by where they stand. Others are lost without a word, unless `unseen` says otherwise. */
  readonly acceptsFile: (kind: RequestFile["kind"], place: "user" | "tool", model: string) => boolean;
  /** How a file that cannot reach the model is refused, by the index of its message; undefined loses it. */
  readonly refuseFile?: (
    index: number,
    file: { readonly isAddress: boolean },
  ) => Pick<ApiRefusal, "status" | "kind" | "message"> | undefined;
  /** Files given by address are fetched. */
  readonly fetchesUrls: boolean;
  /** A tool message whose content is a list arrives without its id, and its files never do. */
  readonly losesListIds?: true;
  /** Message of a whole answer: what the vendor puts around content, reasoning and calls. */
  readonly message: (core: Json, draft: { readonly refusal: string | null }) => Json;
  /** One call of a whole answer. */
  readonly call: (call: SimChatCall) => Json;
  /** The only choice of a whole answer. */
  readonly choice: (message: Json, finish: ChatFinish) => Json;
  /** What stands around the choices, of a whole answer or of each chunk. */
  readonly envelope: (body: ChatResponseBody, ask: ChatSimRequest) => Json;
  readonly usage: (usage: SimUsage, ask: ChatSimRequest) => Json;
  readonly stream: StreamQuirks;
  /** Models of other makers that this vendor serves, and streams as their makers do. */
  readonly hosted?: { readonly models: RegExp; readonly stream: Partial<StreamQuirks> };
  readonly errors: ChatErrors;
  /** Headers with the id of a request, made from its number in hexadecimal digits. */
  readonly requestId: (number: string) => { readonly [header: string]: string };
  /** Headers about how much may still be asked. */
  readonly limits: { readonly [header: string]: string };
  /** One model of the list; `list` is what stands around so many of them. */
  readonly model: (model: SimModel) => Json;
  readonly list: (count: number) => Json;
};

/** How a vendor cuts an answer into chunks. */
export type StreamQuirks = {
  /**
   * How calls come. `pieces`: arguments bit by bit, each bit of `blank-ids` with an empty id and of `blank-names`
   * with an empty name. `buffered`: call by call. `whole`: all at once.
   */
  readonly calls: "pieces" | "blank-ids" | "blank-names" | "buffered" | "whole";
  /** One call of a `whole` or `buffered` chunk. */
  readonly call: (call: SimChatCall) => Json;
  /** The calls come with the chunk that ends the answer. */
  readonly sendsCallsLast: boolean;
  /** A first chunk names the role and says nothing. */
  readonly hasOpeningChunk: boolean;
  /** What the vendor puts around the new words of one chunk. */
  readonly delta: (core: Json, step: StreamStep) => Json;
  readonly choice: (delta: Json, finish: ChatFinish | undefined) => Json;
  /** Extra fields of the first chunk. */
  readonly first?: (ask: ChatSimRequest) => Json;
  /** Extra fields of the last chunk. */
  readonly last?: (usage: Json, ask: ChatSimRequest) => Json;
  /**
   * Where the counts stand. `asked`: in a chunk of their own, for who asked. `end`: always in the last
   * chunk. `choice`: within its choice, and again as if asked. `again`: the last chunk comes twice, once without.
   */
  readonly usage: "asked" | "end" | "choice" | "again";
  /** Chunks say `usage: null` until it is known: never, always, or for who asked for it. */
  readonly pendingUsage: "absent" | "null" | "null-if-asked";
  /** A field of random length that hides how long the words are. */
  readonly padding?: "obfuscation" | "p";
  /** A comment line that keeps the connection open. */
  readonly comment?: string;
  /** A call that the vendor itself finds wrong ends the stream with this error. */
  readonly badCall?: Json;
  /** A failure inside a stream: the envelope, a named event, or a chunk that says so. */
  readonly failure: "plain" | "event" | "chunk";
};

/** What a chunk is about. */
export type StreamStep = {
  readonly kind: "open" | "think" | "say" | "calls" | "other" | "end";
  readonly isFirst: boolean;
  /** The answer contains reasoning, or calls and no words. */
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

/** How an answer ended: in the vendor's word, and in OpenRouter's copy of the upstream's word. */
export type ChatFinish = { readonly reason: string; readonly native: string };

export type ChatResponseBody = {
  readonly id: string;
  readonly kind: "chat.completion" | "chat.completion.chunk";
  readonly choices: readonly Json[];
  readonly usage?: Json | null;
};

/** A vendor's error envelope. `number` is the request's, in hexadecimal digits. */
export type ChatErrors = (refusal: ApiRefusal, number: string) => { readonly body: Json; readonly status: number };
