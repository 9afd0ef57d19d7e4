import type { SceneServer } from "./server.ts";

/** One response as a vendor's client returns it after collecting the stream. */
export type ClientTurn = {
  readonly thought: string;
  readonly text: string;
  readonly calls: readonly { readonly tool: string; readonly input: unknown }[];
  /** In the vendor's own terms. */
  readonly finish: unknown;
  readonly usage: { readonly input: unknown; readonly output: unknown };
};

/** A vendor's own client, connected to our server. It never retries. */
export type VendorClient = {
  /**
   * Runs the scene with streams: sends the prompt, runs both tools, sends their results and reads the final response.
   */
  readonly loop: () => Promise<readonly ClientTurn[]>;
  /** Sends a body of this API, as far as the client allows it, and waits for the response. */
  readonly send: (body: ClientBody) => Promise<unknown>;
};

/** A request body as its API defines it, and the model for APIs that have it in the path. */
export type ClientBody = { readonly model: string; readonly body: { readonly [key: string]: unknown } };

/** Opens a client for a model at a server. */
export type OpenClient = (server: Pick<SceneServer, "origin" | "base">, model: string) => VendorClient;
