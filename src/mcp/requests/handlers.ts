import type { JsonObject } from "../../conversation/json.ts";
import type { FieldValue } from "./form-check.ts";

/**
 * Handlers for requests of servers to the user. A request without a handler is not announced as supported, and is
 * rejected.
 */
export type McpRequestHandlers = {
  /** Has a model answer for a server (sampling). Never automatic: the handler asks the user first. */
  readonly sample?: SamplingHandler;
  /** The same for servers that the user's own settings allow without asking. */
  readonly sampleWithoutAsking?: SamplingHandler;
  /** Asks the user a server's question (elicitation). */
  readonly elicit?: (request: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;
  /** The folders a server may know of, as absolute paths: the workspace, and nothing else. */
  readonly roots?: () => readonly string[];
  /** Called when a server sends a request that has no handler. */
  readonly onUnsupported?: (server: string, what: "sampling" | "elicitation") => void;
};

type SamplingHandler = (request: SamplingRequest, signal: AbortSignal) => Promise<SamplingAnswer | "refused">;

/** Whether a server may have a model answer it: after asking the user, without asking, or not at all. */
export type SamplingPolicy = "ask" | "allow" | "refuse";

/** The handlers for one server, according to its sampling policy. */
export const handlersFor = (
  { sample, sampleWithoutAsking, ...handlers }: McpRequestHandlers,
  policy: SamplingPolicy = "ask",
): McpRequestHandlers => {
  const chosen = policy === "allow" ? (sampleWithoutAsking ?? sample) : policy === "ask" ? sample : undefined;
  return { ...handlers, ...(chosen === undefined ? {} : { sample: chosen }) };
};

/** A server's request for a model's answer. */
export type SamplingRequest = {
  readonly server: string;
  readonly system?: string;
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: unknown }[];
  readonly maxTokens: number;
  /** The whole request as received. */
  readonly raw: JsonObject;
};

/** A model's answer. `isTruncated` where it reached its token limit. */
export type SamplingAnswer = { readonly model: string; readonly text: string; readonly isTruncated?: boolean };

/** A server's question: a form to fill in, or a URL to open. */
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

/** `content` is the filled-in form; a URL that was opened has none. */
export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content?: FormContent }
  | { readonly action: "decline" | "cancel" };

/** The values of a form, by field name. */
export type FormContent = { readonly [name: string]: FieldValue };
