/** What tokens can stand for. */
export type Modality = "text" | "image" | "document" | "audio" | "video";

/** Tokens by modality. */
export type Tokens = { readonly [modality in Modality]?: number };

/** A request as the model behind a server hears it, whatever API it came through. */
export type Heard = {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly HeardTool[];
  readonly turns: readonly HeardTurn[];
  /** Tools the server itself runs. */
  readonly serverTools: readonly ServerTool[];
  /** Most tokens the caller lets the answer have. Longer answers are cut and end with `length`. */
  readonly maxOutput?: number;
  /** False when the request leaves no room to think: thoughts of the script are then left out. */
  readonly thinks?: boolean;
};

export type ServerTool = "search" | "url";

export type HeardTool = { readonly name: string; readonly description: string; readonly parameters: unknown };

/** What one side said before the other had the word. A batch of results is a turn of its own. */
export type HeardTurn =
  | { readonly by: "user"; readonly text: string; readonly files: readonly HeardFile[] }
  | { readonly by: "model"; readonly text: string; readonly calls: readonly HeardCall[] }
  | { readonly by: "tools"; readonly results: readonly HeardResult[] };

/** A file that really reached the model. What an API loses in silence is not heard. */
export type HeardFile = {
  readonly kind: Exclude<Modality, "text">;
  readonly mimeType: string;
  /** 0 for a file given by address. */
  readonly bytes: number;
  readonly width?: number;
  readonly height?: number;
};

export type HeardCall = { readonly id: string; readonly tool: string; readonly input: unknown };

export type HeardResult = {
  readonly id: string;
  readonly tool: string;
  readonly text: string;
  readonly isError: boolean;
  readonly files: readonly HeardFile[];
};

/** What the model does in one answer, in order. */
export type Said = {
  readonly parts: readonly SaidPart[];
  /** Without one: it waits for its calls if it made any, and has said all otherwise. */
  readonly finish?: SaidFinish;
};

export type SaidFinish = "stop" | "length" | "filtered" | "refused" | "paused" | "malformed" | "context";

export type SaidPart =
  /** A redacted thought only ever shows its seal, where the API has such a thing. */
  | { readonly type: "think"; readonly text: string; readonly redacted?: true }
  | { readonly type: "say"; readonly text: string }
  | { readonly type: "call"; readonly tool: string; readonly input: unknown }
  | { readonly type: "file"; readonly mimeType: string; readonly data: string }
  /** Words with where they come from. */
  | { readonly type: "cite"; readonly text: string; readonly query?: string; readonly sources: readonly Source[] };

export type Source = { readonly title: string; readonly uri: string };
