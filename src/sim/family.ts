import type { RuleWire } from "../rules/rule.ts";
import type { HttpHeaders, HttpRequest } from "../world/net.ts";
import type { SimModelRequest, ModelReply, ReplyFinish, ReplyPart, TokensByModality } from "./model/types.ts";

/** A JSON object of a request or an answer. */
export type Json = { readonly [key: string]: unknown };

/** Someone whose API is simulated. What differs from the family's own vendor is data here. */
export type SimProvider<Quirks = unknown> = {
  readonly id: string;
  readonly wire: RuleWire;
  /** The real host, so that a simulated network can stand in for it. */
  readonly host: RegExp;
  /** What stands before the family's own paths. */
  readonly base: string;
  /** How the key arrives. */
  readonly auth: "x-api-key" | "x-goog-api-key" | "api-key" | "bearer" | "aws" | "none";
  readonly models: readonly SimModel[];
  /** Further model names this provider would know. Others are answered as not found. */
  readonly knownModels: RegExp;
  readonly cache: CacheRule;
  /** Largest request body it takes, in bytes. Without one, 32 MiB. */
  readonly maxBytes?: number;
  readonly quirks: Quirks;
};

export type SimModel = {
  readonly id: string;
  readonly context: number;
  readonly maxOutput: number;
  /** Where this model's prompts are cached from another size on than the provider's others. */
  readonly minCacheTokens?: number;
};

/** How a provider caches prompts: at the caller's marks or by itself, from `floor` tokens on, in steps of `step`. */
export type CacheRule = {
  readonly mode: "marked" | "automatic" | "none";
  readonly minTokens: number;
  readonly stepTokens: number;
};

/** What a request asks for. */
export type ApiRoute =
  | {
      readonly kind: "generate" | "stream" | "count";
      readonly model?: string;
      /** The content type of a stream that is not of the family's usual one. */
      readonly streamType?: string;
    }
  | { readonly kind: "models" }
  | { readonly kind: "model"; readonly model: string }
  /** A method with no model behind it, answered as it stands once the key is checked. */
  | { readonly kind: "fixed"; readonly body: Json };

/** A request that passed the door: what it asks of whom. */
export type SimRequest<Quirks = unknown> = {
  readonly provider: SimProvider<Quirks>;
  readonly model: string;
  readonly route: ApiRoute;
  readonly headers: HttpHeaders;
  readonly body: Json;
  /** Number of this request at its server, from 1. Makes ids, never anything random. */
  readonly ordinal: number;
  /** Seconds since 1970, from the server's clock. */
  readonly time: number;
};

/** A request turned down, before the vendor's own envelope is put around it. */
export type ApiRefusal = {
  readonly status: number;
  readonly kind:
    | "bad-request"
    | "bad-key"
    | "no-permission"
    | "no-credit"
    | "not-found"
    | "too-large"
    | "context"
    | "rate-limited"
    | "quota"
    | "overloaded"
    | "server";
  /**
   * In the vendor's words where a rule, a seal or a script says it. What the door
   * itself refuses has a plain sentence here and its facts in `about`: the family words it.
   */
  readonly message: string;
  readonly about?: CheckFailure;
  /** Where in the body, as a JSON pointer. */
  readonly pointer?: string;
  readonly headers?: HttpHeaders;
  /** Number of the request, for ids in the envelope. */
  readonly ordinal?: number;
};

/** What the door found. The kinds of refusal are `bad-key`, `not-found` (model or path), `bad-request` (json), `too-large`, `context`. */
export type CheckFailure =
  | { readonly check: "no-key" }
  | { readonly check: "wrong-key"; readonly key: string }
  /** An AWS signature that does not match, or a header that is none. */
  | { readonly check: "wrong-signature" }
  | { readonly check: "no-model"; readonly model: string }
  | { readonly check: "no-route"; readonly method: string; readonly path: string }
  | { readonly check: "not-json"; readonly error: string }
  | { readonly check: "too-large"; readonly bytes: number; readonly limit: number }
  | { readonly check: "context"; readonly model: string; readonly tokens: number; readonly limit: number };

/**
 * A piece of the prompt in the order the provider caches it (tools, system,
 * then message by message, block by block). `content` is its exact JSON without
 * cache marks; a file the API loses in silence has no tokens.
 */
export type PromptUnit = {
  readonly content: string;
  readonly tokens: TokensByModality;
  readonly isCachePoint: boolean;
  /** Seconds a marked prefix is kept, where the request says so; 300 otherwise. */
  readonly ttlSeconds?: number;
  /** Later seals are not bound to it: it may be taken out of the history. */
  readonly isUnbound?: true;
};

/** A signature or sealed thought inside a request. */
export type SealUse = {
  readonly pointer: string;
  readonly value: string;
  /** The text it must belong to, as `sealedText` in seal.ts writes it; undefined where the seal stands for itself. */
  readonly text?: string;
  /** How many units stand before the message that holds it. */
  readonly unitsBefore: number;
  /** The unit that costs nothing when the vendor passes over this seal. */
  readonly unit?: number;
};

/** What a seal turned out to be. `prefix`: genuine, but what stood before it has changed. */
export type SealVerdict = "genuine" | "forged" | "other-model" | "other-text" | "prefix";

/** Tokens as counted for one exchange. `input` is the whole prompt, cached or not; `output` includes reasoning. */
export type SimUsage = {
  readonly input: number;
  readonly inputBy: TokensByModality;
  readonly cachedRead: number;
  readonly cachedWrite: number;
  readonly output: number;
  readonly reasoning: number;
};

/** An answer ready to be written: every part with the id or seal it needs. */
export type SimResponse = {
  readonly parts: readonly SimResponsePart[];
  readonly finish: ReplyFinish | "calls";
  readonly usage: SimUsage;
  /** Seals of the request that were passed over. */
  readonly droppedSeals?: readonly { readonly pointer: string; readonly verdict: SealVerdict }[];
};

export type SimResponsePart =
  | (Extract<ReplyPart, { type: "think" | "say" | "call" }> & { readonly seal: string })
  | Extract<ReplyPart, { type: "file" | "cite" }>;

/** One API family as its servers behave. All functions are pure. */
export type SimFamily<Quirks = unknown> = {
  readonly wire: RuleWire;
  readonly providers: readonly SimProvider<Quirks>[];
  /** What a method and path (without the provider's base) ask for; undefined is answered as not found. */
  readonly route: (request: HttpRequest, path: string, provider: SimProvider<Quirks>) => ApiRoute | undefined;
  /** The vendor's error envelope, as JSON, with its own status where it differs from the refusal's. */
  readonly encodeError: (
    refusal: ApiRefusal,
    provider: SimProvider<Quirks>,
  ) => { readonly body: unknown; readonly headers: HttpHeaders; readonly status?: number };
  /** What this vendor refuses beyond `rules/`: by headers, versions or its own settings. Runs after the rules. */
  readonly checkRequest?: (ask: SimRequest<Quirks>) => ApiRefusal | undefined;
  /** Headers of a good answer, beside its content type. */
  readonly responseHeaders?: (ask: SimRequest<Quirks>) => HttpHeaders;
  /** The request that a count request asks about, so that it is checked and counted like one. Without this: the same body. */
  readonly countedBody?: (body: Json) => Json;
  readonly parseRequest: (ask: SimRequest<Quirks>) => SimModelRequest;
  readonly splitPrompt: (ask: SimRequest<Quirks>) => readonly PromptUnit[];
  /** The seals in a request, in order. */
  readonly findSeals: (ask: SimRequest<Quirks>) => readonly SealUse[];
  /**
   * What the vendor does about a seal that is not genuine: refuses the request, passes over
   * it (undefined; its `unit` then costs nothing), or does not look that closely ("accepted").
   */
  readonly judgeSeal: (
    use: SealUse,
    verdict: Exclude<SealVerdict, "genuine">,
    ask: SimRequest<Quirks>,
  ) => ApiRefusal | "accepted" | undefined;
  /** A whole answer. */
  readonly encodeResponse: (spoken: SimResponse, ask: SimRequest<Quirks>) => Json;
  /** The same answer as the events of a stream, each complete with its framing. */
  readonly encodeStream: (spoken: SimResponse, ask: SimRequest<Quirks>) => readonly (string | Uint8Array)[];
  readonly streamType: string;
  /** The vendor's event for a failure inside a stream. Without one: the error envelope as an event. */
  readonly encodeStreamError?: (refusal: ApiRefusal, ask: SimRequest<Quirks>) => string | Uint8Array;
  readonly encodeCount: (usage: SimUsage, ask: SimRequest<Quirks>) => Json;
  readonly encodeModels: (models: readonly SimModel[], provider: SimProvider<Quirks>) => Json;
  readonly encodeModel: (model: SimModel, provider: SimProvider<Quirks>) => Json;
};

/** What a model of this family says where it thinks of nothing better: kept here so that scripts and families agree. */
export type ModelFunction = (heard: SimModelRequest) => ModelReply;
