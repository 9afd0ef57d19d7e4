import type { JsonObject } from "../conversation/index.ts";

/** What servers may ask of a person. Where nobody is there to answer, or nobody asked us to listen, they are told so. */
export type Asking = {
  /** Has a model answer for a server. Never automatic: whoever gives this asks the person first. */
  readonly sample?: (request: SamplingRequest, signal: AbortSignal) => Promise<SamplingAnswer | "refused">;
  /** Asks the person a server's question. */
  readonly elicit?: (request: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;
  /** The folders a server may know of, as absolute paths: the workspace, and nothing else. */
  readonly roots?: () => readonly string[];
};

/** A server that wants a model's words, and what it would send. */
export type SamplingRequest = {
  readonly server: string;
  readonly system?: string;
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: unknown }[];
  readonly maxTokens: number;
  /** All of the request as it came. */
  readonly raw: JsonObject;
};

export type SamplingAnswer = { readonly model: string; readonly text: string };

/** A server's question: a form to fill in, or an address to open. */
export type Elicitation =
  | {
      readonly type: "form";
      readonly server: string;
      readonly message: string;
      readonly schema: JsonObject;
      /** Set where it seems to ask for a password, a key or the like. */
      readonly seemsSecret: boolean;
    }
  | { readonly type: "url"; readonly server: string; readonly message: string; readonly url: string };

export type ElicitationAnswer =
  | {
      readonly action: "accept";
      readonly content: { readonly [name: string]: string | number | boolean | readonly string[] };
    }
  | { readonly action: "decline" | "cancel" };
