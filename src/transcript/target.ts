import type { MediaKind } from "../conversation/parts.ts";

/** Everything the passes need to know about the model that will read a transcript. Data, filled in by providers/. */
export type Target = {
  readonly provider: string;
  readonly model: string;
  /** Digest of the account, where thinking is bound to one. */
  readonly account?: string;
  readonly ids: IdFormat;
  /** Tool names that are legal as they are. */
  readonly toolName: RegExp;
  readonly media: MediaRows;
  /** Set where nobody knows which media a model takes: a body written for it tells. */
  readonly mediaUnknown?: true;
  readonly thinking: ThinkingRule;
  readonly order: OrderRule;
  /** Set where a call is refused whose arguments have a key without a letter. */
  readonly namedKeys?: true;
  /** Set where nothing may follow a call in its message. */
  readonly callsLast?: true;
  /** Set where documents go by neutral names, as a name could talk to the model. */
  readonly neutralNames?: true;
  /** Set for models that know no tools: calls and their results are told in words. */
  readonly callsAsText?: true;
};

/** How call ids look on a target. */
export type IdFormat = {
  readonly name: string;
  readonly legal: RegExp;
  /** The id for a call, by its ordinal and the tool name the target sees: another one for every ordinal, and for a higher attempt. */
  readonly project: (ordinal: number, tool: string, attempt: number) => string;
};

/** What may stand where. A kind that is absent is not taken there at all. */
export type MediaRows = {
  /** Inside a tool result. */
  readonly result: MediaRow;
  /** Inside the result of a call that failed; several APIs want nothing but text there. */
  readonly errorResult: MediaRow;
  /** In a user message. */
  readonly user: MediaRow;
  /** In the user message right after results, where files go that a result cannot hold; as `user` when absent. */
  readonly after?: MediaRow;
  /** In the model's own message. */
  readonly model: MediaRow;
};

/** One place's media, by kind. */
export type MediaRow = { readonly [kind in MediaKind]?: MediaCell };

/** Which files of one kind a place takes. */
export type MediaCell = {
  /** Mime types, or prefixes that end in `/`. */
  readonly types: readonly string[];
  /** False where bytes cannot be sent. */
  readonly data?: false;
  /** Address schemes that are fetched, such as `https:` or `gs:`. */
  readonly uri?: readonly string[];
  /** What such an address must look like besides. */
  readonly uriPattern?: RegExp;
  readonly maxBytes?: number;
  /** How many a whole request may hold. */
  readonly perRequest?: number;
  /** How many one message may hold. */
  readonly perMessage?: number;
};

/** What a target does with reasoning from the past. */
export type ThinkingRule = {
  /**
   * `none`: it takes no thinking. `signed`: only thinking its maker sealed.
   * `plain`: its own words are enough. `seal`: thoughts stay out, their seals on calls and text go back.
   */
  readonly form: "none" | "signed" | "plain" | "seal";
  /** Which other models' thinking this one can read; its own it always can. */
  readonly readers: readonly ThinkingReader[];
  /** Whether a seal is void once anything before it has changed. */
  readonly bound: boolean;
  /** Set where no seal is accepted any more, not even one of its own. */
  readonly unsealed?: true;
  /** Signature for the first call of a step that has none. */
  readonly filler?: string | undefined;
  /** Thinking that stands in where the API demands some and there is none. */
  readonly backfill?: { readonly text: string; readonly on: "calls" | "all" } | undefined;
};

/** "Models like `reader` can read what models like `of` thought", within one provider. */
export type ThinkingReader = { readonly reader: RegExp; readonly of: RegExp };

/** In which order the two sides may speak. */
export type OrderRule = {
  /** The first step must be the user's. */
  readonly userFirst: boolean;
  /** The last step must be the user's, or results. */
  readonly userLast: boolean;
  /** Messages of one side in a row go as one message. */
  readonly alternate: boolean;
  /** No user step may follow results directly. */
  readonly bridgeAfterResults: boolean;
};

/** What to do where the target leaves a choice. */
export type RenderPolicy = {
  /** `own`: keep what the target can read. `text`: also show foreign thinking as words. `none`: leave all of it out. */
  readonly thinking: "own" | "text" | "none";
  /** Whether media the target cannot take becomes a text that names it, or an error. */
  readonly unsupportedMedia: "stub" | "error";
  /** How a result is laid out where an API takes an object (Gemini); `output` if not given. */
  readonly toolResponse?: ToolResponseLayout | undefined;
};

/** `output`: `{output}` or `{error}`. `status`: `{status, text_result, structured_result}`. */
export type ToolResponseLayout = "output" | "status";

/** The library's defaults: nothing is stubbed without being asked for. */
export const defaultRenderPolicy: RenderPolicy = { thinking: "own", unsupportedMedia: "error" };
