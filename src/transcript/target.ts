import type { MediaKind } from "../conversation/parts.ts";

/** Everything the passes may know about the receiving model. Data, filled in by providers/. */
export type Target = {
  readonly provider: string;
  readonly model: string;
  /** Hash of the account, where thinking is bound to one. */
  readonly account?: string;
  readonly ids: IdFormat;
  /** Tool names that are legal unchanged. */
  readonly toolName: RegExp;
  readonly media: MediaRows;
  /** Set where it is not known which media a model accepts: requests read from a body then show it. */
  readonly mediaUnknown?: true;
  readonly thinking: ThinkingRule;
  readonly order: OrderRule;
  /** Set where a call with an empty argument key is refused. */
  readonly namedKeys?: true;
  /** Set where nothing may follow a tool call in its message. */
  readonly callsLast?: true;
  /** Set where documents get neutral names, because the model reads the name (prompt injection). */
  readonly neutralNames?: true;
  /** Set for models without tool support: calls and their results are shown as text. */
  readonly callsAsText?: true;
};

/** The tool-call id format of a target. */
export type IdFormat = {
  readonly name: string;
  readonly legal: RegExp;
  /** Makes an id from a call's ordinal and the target's tool name: unique per ordinal, and another one for every attempt. */
  readonly project: (ordinal: number, tool: string, attempt: number) => string;
};

/** The media a target accepts, by place. A kind that is absent is not accepted there at all. */
export type MediaRows = {
  /** Inside a tool result. */
  readonly result: MediaRow;
  /** Inside the result of a failed call; several APIs accept only text there. */
  readonly errorResult: MediaRow;
  /** In a user message. */
  readonly user: MediaRow;
  /** In the user message right after results, for files that a result cannot hold; defaults to `user`. */
  readonly after?: MediaRow;
  /** In a model message. */
  readonly model: MediaRow;
};

/** The media one place accepts, by kind. */
export type MediaRow = { readonly [kind in MediaKind]?: MediaCell };

/** The files of one kind that a place accepts. */
export type MediaCell = {
  /** MIME types, or prefixes that end in `/`. */
  readonly types: readonly string[];
  /** False where bytes cannot be sent. */
  readonly data?: false;
  /** URL schemes that the API fetches, such as `https:` or `gs:`. */
  readonly uri?: readonly string[];
  /** A pattern such URLs must match as well. */
  readonly uriPattern?: RegExp;
  readonly maxBytes?: number;
  /** Maximum per request. */
  readonly perRequest?: number;
  /** Maximum per message. */
  readonly perMessage?: number;
};

/** How a target treats thinking of earlier messages. */
export type ThinkingRule = {
  /**
   * `none`: it accepts no thinking. `signed`: only sealed thinking. `plain`: its own thinking as plain text.
   * `seal`: thinking is left out, its seals on calls and text are sent back.
   */
  readonly form: "none" | "signed" | "plain" | "seal";
  /** Other models whose thinking this one can read; its own it always can. */
  readonly readers: readonly ThinkingReader[];
  /** Whether a seal becomes invalid once anything before it has changed. */
  readonly bound: boolean;
  /** Set where seals are no longer accepted, not even its own. */
  readonly unsealed?: true;
  /** Signature for the first call of a step that has none. */
  readonly filler?: string | undefined;
  /** Thinking added where the API requires some and there is none. */
  readonly backfill?: { readonly text: string; readonly on: "calls" | "all" } | undefined;
};

/** Models matching `reader` can read thinking of models matching `of`, within one provider. */
export type ThinkingReader = { readonly reader: RegExp; readonly of: RegExp };

/** The order of roles a target accepts. */
export type OrderRule = {
  /** The first step must be the user's. */
  readonly userFirst: boolean;
  /** The last step must be the user's, or results. */
  readonly userLast: boolean;
  /** Consecutive messages of one role are merged. */
  readonly alternate: boolean;
  /** No user step may follow results directly. */
  readonly bridgeAfterResults: boolean;
};

/** The caller's choices where the target leaves one. */
export type RenderPolicy = {
  /** `own`: keep thinking the target can read. `text`: also show other models' thinking as text. `none`: leave all of it out. */
  readonly thinking: "own" | "text" | "none";
  /** Whether media the target does not accept becomes a text stub or an error. */
  readonly unsupportedMedia: "stub" | "error";
  /** Layout of tool results where an API takes an object (Gemini); default: `output`. */
  readonly toolResponse?: ToolResponseLayout | undefined;
};

/** `output`: `{output}` or `{error}`. `status`: `{status, text_result, structured_result}`. */
export type ToolResponseLayout = "output" | "status";

/** The library's defaults: stubs only on request. */
export const defaultRenderPolicy: RenderPolicy = { thinking: "own", unsupportedMedia: "error" };
