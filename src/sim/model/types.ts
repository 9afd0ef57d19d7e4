/** What tokens can stand for. */
export type SimModality = "text" | "image" | "document" | "audio" | "video";

/** Tokens by modality. */
export type TokensByModality = { readonly [modality in SimModality]?: number };

/** A request as the model behind a server hears it, whatever API it came through. */
export type SimModelRequest = {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly RequestTool[];
  readonly turns: readonly RequestTurn[];
  /** Tools the server itself runs. */
  readonly serverTools: readonly SimServerTool[];
  /** Most tokens the caller lets the answer have. Longer answers are cut and end with `length`. */
  readonly maxOutput?: number;
  /** False when the request leaves no room to think: thoughts of the script are then left out. */
  readonly mayThink?: boolean;
};

export type SimServerTool = "search" | "url";

export type RequestTool = { readonly name: string; readonly description: string; readonly parameters: unknown };

/** What one side said before the other had the word. A batch of results is a turn of its own. */
export type RequestTurn =
  | { readonly by: "user"; readonly text: string; readonly files: readonly RequestFile[] }
  | { readonly by: "model"; readonly text: string; readonly calls: readonly RequestCall[] }
  | { readonly by: "tools"; readonly results: readonly RequestResult[] };

/** A file that really reached the model. What an API loses in silence is not heard. */
export type RequestFile = {
  readonly kind: Exclude<SimModality, "text">;
  readonly mimeType: string;
  /** 0 for a file given by address. */
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

/** What the model does in one answer, in order. */
export type ModelReply = {
  readonly parts: readonly ReplyPart[];
  /** Without one: it waits for its calls if it made any, and has said all otherwise. */
  readonly finish?: ReplyFinish;
};

export type ReplyFinish = "stop" | "length" | "filtered" | "refused" | "paused" | "malformed" | "context";

export type ReplyPart =
  /** A redacted thought only ever shows its seal, where the API has such a thing. */
  | { readonly type: "think"; readonly text: string; readonly redacted?: true }
  | { readonly type: "say"; readonly text: string }
  | { readonly type: "call"; readonly tool: string; readonly input: unknown }
  | { readonly type: "file"; readonly mimeType: string; readonly data: string }
  /** Words with where they come from. */
  | { readonly type: "cite"; readonly text: string; readonly query?: string; readonly sources: readonly CitedSource[] };

export type CitedSource = { readonly title: string; readonly uri: string };
