import type { SceneServer } from "./server.ts";

/** One answer as a vendor's client tells it, once it has put the stream together. */
export type ClientTurn = {
  readonly thought: string;
  readonly text: string;
  readonly calls: readonly { readonly tool: string; readonly input: unknown }[];
  /** In the vendor's own word. */
  readonly finish: unknown;
  readonly usage: { readonly input: unknown; readonly output: unknown };
};

/** A vendor's own client, pointed at a server of ours. It never tries again. */
export type VendorClient = {
  /** Goes through the scene: asks, runs both tools, sends what they gave, and hears the end. Everything streams. */
  readonly loop: () => Promise<readonly ClientTurn[]>;
  /** Sends a body of this API, as far as the client lets it, and waits for the answer. */
  readonly send: (body: ClientBody) => Promise<unknown>;
};

/** A request body as its API defines it, and the model for APIs that have it in the path. */
export type ClientBody = { readonly model: string; readonly body: { readonly [key: string]: unknown } };

/** Opens a client for a model at a server. */
export type OpenClient = (server: Pick<SceneServer, "origin" | "base">, model: string) => VendorClient;
