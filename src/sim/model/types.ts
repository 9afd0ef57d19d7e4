/** The kinds of content tokens are counted by. */
export type SimModality = "text" | "image" | "document" | "audio" | "video";

/** Tokens by modality. */
export type TokensByModality = { readonly [modality in SimModality]?: number };

/** A request as the model receives it, independent of the API. */
export type SimModelRequest = {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly RequestTool[];
  readonly turns: readonly RequestTurn[];
  /** Tools the server runs itself. */
  readonly serverTools: readonly SimServerTool[];
  /** The caller's output limit in tokens. Longer replies are truncated and end with `length`. */
  readonly maxOutput?: number;
  /** False when the request disables thinking: `think` parts of the reply are then dropped. */
  readonly mayThink?: boolean;
};

export type SimServerTool = "search" | "url";

export type RequestTool = { readonly name: string; readonly description: string; readonly parameters: unknown };

/** Consecutive content of one side. A batch of tool results is a separate turn. */
export type RequestTurn =
  | { readonly by: "user"; readonly text: string; readonly files: readonly RequestFile[] }
  | { readonly by: "model"; readonly text: string; readonly calls: readonly RequestCall[] }
  | { readonly by: "tools"; readonly results: readonly RequestResult[] };

/** A file that reaches the model. Files an API silently loses are not included. */
export type RequestFile = {
  readonly kind: Exclude<SimModality, "text">;
  readonly mimeType: string;
  /** 0 for a file given by URL. */
  readonly bytes: number;
  readonly width?: number;
  readonly height?: number;
};

export type RequestCall = { readonly id: string; readonly tool: string; readonly input: unknown };

export type RequestResult = {
  readonly id: string;
  readonly tool: string;
  readonly text: string;
  readonly isError: boolean;
  readonly files: readonly RequestFile[];
};

/** The output of the model in one response, in order. */
export type ModelReply = {
  readonly parts: readonly ReplyPart[];
  /** Default: `calls` if the reply contains any, else `stop`. */
  readonly finish?: ReplyFinish;
};

export type ReplyFinish = "stop" | "length" | "filtered" | "refused" | "paused" | "malformed" | "context";

export type ReplyPart =
  /** Redacted thinking is sent as its seal only, where the API supports that. */
  | { readonly type: "think"; readonly text: string; readonly redacted?: true }
  | { readonly type: "say"; readonly text: string }
  | { readonly type: "call"; readonly tool: string; readonly input: unknown }
  | { readonly type: "file"; readonly mimeType: string; readonly data: string }
  /** Text with its sources. */
  | { readonly type: "cite"; readonly text: string; readonly query?: string; readonly sources: readonly CitedSource[] };

export type CitedSource = { readonly title: string; readonly uri: string };
