import type { RuleWire } from "../rules/rule.ts";
import type { HttpHeaders, HttpRequest } from "../world/net.ts";
import type { SimModelRequest, ModelReply, ReplyFinish, ReplyPart, TokensByModality } from "./model/types.ts";

/** A JSON object of a request or a response. */
export type Json = { readonly [key: string]: unknown };

/** A simulated provider, as data: its differences from the family's own vendor. */
export type SimProvider<Quirks = unknown> = {
  readonly id: string;
  readonly wire: RuleWire;
  /** Matches the real host, so that a simulated network can replace it. */
  readonly host: RegExp;
  /** The path before the family's own paths. */
  readonly base: string;
  /** The header that carries the key. */
  readonly auth: "x-api-key" | "x-goog-api-key" | "api-key" | "bearer" | "aws" | "none";
  readonly models: readonly SimModel[];
  /** Matches further model names the provider knows. Any other model is not found. */
  readonly knownModels: RegExp;
  readonly cache: CacheRule;
  /** Maximum size of a request body in bytes. Default: 32 MiB. */
  readonly maxBytes?: number;
  readonly quirks: Quirks;
};

/** A provider without an entry in its family's table, which is simulated as a typical server of the family. */
export type UnlistedProvider = {
  readonly id: string;
  readonly wire: RuleWire;
  /** The path before the family's own paths. */
  readonly base: string;
  readonly auth: SimProvider["auth"];
  /** Names of its models; any other name is accepted too. */
  readonly models: readonly string[];
};

export type SimModel = {
  readonly id: string;
  readonly context: number;
  readonly maxOutput: number;
  /** Minimum prompt size for caching, where it differs from the provider's default. */
  readonly minCacheTokens?: number;
};

/**
 * How a provider caches prompts: at the caller's cache points or automatically, from `minTokens` on, in steps of
 * `stepTokens`.
 */
export type CacheRule = {
  readonly mode: "marked" | "automatic" | "none";
  readonly minTokens: number;
  readonly stepTokens: number;
};

/** The operation a request's method and path select. */
export type ApiRoute =
  | {
      readonly kind: "generate" | "stream" | "count";
      readonly model?: string;
      /** The content type of the stream, where it is not the family's default. */
      readonly streamType?: string;
    }
  | { readonly kind: "models" }
  | { readonly kind: "model"; readonly model: string }
  /** An operation without a model: a fixed response once the key is checked. */
  | { readonly kind: "fixed"; readonly body: Json };

/** A request that passed the checks of route, key and body. */
export type SimRequest<Quirks = unknown> = {
  readonly provider: SimProvider<Quirks>;
  readonly model: string;
  readonly route: ApiRoute;
  readonly headers: HttpHeaders;
  readonly body: Json;
  /** Number of this request at its server, from 1. Ids are derived from it, never random. */
  readonly ordinal: number;
  /** Seconds since 1970, from the server's clock. */
  readonly time: number;
};

/** A refused request, before the vendor's error envelope is put around it. */
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
   * The vendor's wording where it comes from a rule, a seal or a script. A failed check has a plain message here and
   * its facts in `about`; the family words it.
   */
  readonly message: string;
  readonly about?: CheckFailure;
  /** Where in the body, as a JSON pointer. */
  readonly pointer?: string;
  readonly headers?: HttpHeaders;
  /** Number of the request, for ids in the envelope. */
  readonly ordinal?: number;
};

/**
 * A failed check. Its kind of refusal is `bad-key`, `not-found` (model or path), `bad-request` (JSON), `too-large` or
 * `context`.
 */
export type CheckFailure =
  | { readonly check: "no-key" }
  | { readonly check: "wrong-key"; readonly key: string }
  /** An AWS signature that does not match, or a malformed one. */
  | { readonly check: "wrong-signature" }
  | { readonly check: "no-model"; readonly model: string }
  | { readonly check: "no-route"; readonly method: string; readonly path: string }
  | { readonly check: "not-json"; readonly error: string }
  | { readonly check: "too-large"; readonly bytes: number; readonly limit: number }
  | { readonly check: "context"; readonly model: string; readonly tokens: number; readonly limit: number };

/**
 * A piece of the prompt, in the order the provider caches it: tools, system, then messages block by block. `content` is
 * its exact JSON without cache points; a file the API silently loses has no tokens.
 */
export type PromptUnit = {
  readonly content: string;
  readonly tokens: TokensByModality;
  readonly isCachePoint: boolean;
  /** Lifetime of the cached prefix in seconds, where the request sets it. Default: 300. */
  readonly ttlSeconds?: number;
  /** Later seals are not bound to it: it may be removed from the history. */
  readonly isUnbound?: true;
};

/** A signature or encrypted thinking inside a request. */
export type SealUse = {
  readonly pointer: string;
  readonly value: string;
  /**
   * The text it must belong to, as `sealedText` in seal.ts writes it; undefined where the seal is not bound to a text.
   */
  readonly text?: string;
  /** Number of prompt units before the message that contains it. */
  readonly unitsBefore: number;
  /** The unit that is not billed when the vendor ignores this seal. */
  readonly unit?: number;
};

/** The result of checking a seal. `prefix`: genuine, but the prompt before it has changed. */
export type SealVerdict = "genuine" | "forged" | "other-model" | "other-text" | "prefix";

/** The tokens of one exchange. `input` is the whole prompt, cached or not; `output` includes reasoning. */
export type SimUsage = {
  readonly input: number;
  readonly inputBy: TokensByModality;
  readonly cachedRead: number;
  readonly cachedWrite: number;
  readonly output: number;
  readonly reasoning: number;
};

/** A response before encoding: every part has its seal. */
export type SimResponse = {
  readonly parts: readonly SimResponsePart[];
  readonly finish: ReplyFinish | "calls";
  readonly usage: SimUsage;
  /** Seals of the request that were ignored. */
  readonly droppedSeals?: readonly { readonly pointer: string; readonly verdict: SealVerdict }[];
};

export type SimResponsePart =
  | (Extract<ReplyPart, { type: "think" | "say" | "call" }> & { readonly seal: string })
  | Extract<ReplyPart, { type: "file" | "cite" }>;

/** The behaviour of one API family's servers. All functions are pure. */
export type SimFamily<Quirks = unknown> = {
  readonly wire: RuleWire;
  readonly providers: readonly SimProvider<Quirks>[];
  /** The template for providers without an entry. Default: the first of `providers`. */
  readonly generic?: SimProvider<Quirks>;
  /** Selects the operation for a method and path (without the provider's base); undefined is answered as not found. */
  readonly route: (request: HttpRequest, path: string, provider: SimProvider<Quirks>) => ApiRoute | undefined;
  /** Encodes a refusal in the vendor's error envelope, with its own status where it differs from the refusal's. */
  readonly encodeError: (
    refusal: ApiRefusal,
    provider: SimProvider<Quirks>,
  ) => { readonly body: unknown; readonly headers: HttpHeaders; readonly status?: number };
  /** Checks what `rules/` cannot: headers, versions and the vendor's own settings. Runs after the rules. */
  readonly checkRequest?: (request: SimRequest<Quirks>) => ApiRefusal | undefined;
  /** Headers of a successful response, in addition to its content type. */
  readonly responseHeaders?: (request: SimRequest<Quirks>) => HttpHeaders;
  /** Extracts the request whose tokens a count request asks for. Default: the body itself. */
  readonly countedBody?: (body: Json) => Json;
  readonly parseRequest: (request: SimRequest<Quirks>) => SimModelRequest;
  readonly splitPrompt: (request: SimRequest<Quirks>) => readonly PromptUnit[];
  /** Finds the seals in a request, in order. */
  readonly findSeals: (request: SimRequest<Quirks>) => readonly SealUse[];
  /**
   * Decides what the vendor does with a seal that is not genuine: refuse the request, ignore the seal (undefined; its
   * `unit` is not billed), or accept it unnoticed ("accepted").
   */
  readonly judgeSeal: (
    use: SealUse,
    verdict: Exclude<SealVerdict, "genuine">,
    request: SimRequest<Quirks>,
  ) => ApiRefusal | "accepted" | undefined;
  /** Encodes a complete response. */
  readonly encodeResponse: (response: SimResponse, request: SimRequest<Quirks>) => Json;
  /** Encodes the response as the events of a stream, each with its framing. */
  readonly encodeStream: (response: SimResponse, request: SimRequest<Quirks>) => readonly (string | Uint8Array)[];
  readonly streamType: string;
  /** Encodes an error inside a stream. Default: the error envelope as an event. */
  readonly encodeStreamError?: (refusal: ApiRefusal, request: SimRequest<Quirks>) => string | Uint8Array;
  readonly encodeCount: (usage: SimUsage, request: SimRequest<Quirks>) => Json;
  readonly encodeModels: (models: readonly SimModel[], provider: SimProvider<Quirks>) => Json;
  readonly encodeModel: (model: SimModel, provider: SimProvider<Quirks>) => Json;
};

/** A model as a function, to use in place of a script. */
export type ModelFunction = (modelRequest: SimModelRequest) => ModelReply;
