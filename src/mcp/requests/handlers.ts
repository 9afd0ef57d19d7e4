import type { JsonObject } from "../../conversation/json.ts";
import type { FieldValue } from "./form-check.ts";

/** What servers may ask of a person. Where nobody is there to answer, or nobody asked us to listen, they are told so. */
export type McpRequestHandlers = {
  /** Has a model answer for a server. Never automatic: whoever gives this asks the person first. */
  readonly sample?: SamplingHandler;
  /** The same for servers of which the person wrote in their own settings that they need not be asked. */
  readonly sampleWithoutAsking?: SamplingHandler;
  /** Asks the person a server's question. */
  readonly elicit?: (request: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;
  /** The folders a server may know of, as absolute paths: the workspace, and nothing else. */
  readonly roots?: () => readonly string[];
  /** Hears that a server asked what nobody here answers. */
  readonly onUnsupported?: (server: string, what: "sampling" | "elicitation") => void;
};

type SamplingHandler = (request: SamplingRequest, signal: AbortSignal) => Promise<SamplingAnswer | "refused">;

/** Whether a server may have a model answer it: after asking the person, without, or not at all. */
export type SamplingPolicy = "ask" | "allow" | "refuse";

/** Whom one server may ask, by what the person said of it. */
export const handlersFor = (
  { sample, sampleWithoutAsking: sampleUnasked, ...asking }: McpRequestHandlers,
  policy: SamplingPolicy = "ask",
): McpRequestHandlers => {
  const chosen = policy === "allow" ? (sampleUnasked ?? sample) : policy === "ask" ? sample : undefined;
  return { ...asking, ...(chosen === undefined ? {} : { sample: chosen }) };
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

/** The words of a model. `isCut` where they reached their limit. */
export type SamplingAnswer = { readonly model: string; readonly text: string; readonly isTruncated?: boolean };

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

/** `content` is what was filled in; an address that was opened has none. */
export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content?: FormContent }
  | { readonly action: "decline" | "cancel" };

/** What a person filled in, by the names of the fields. */
export type FormContent = { readonly [name: string]: FieldValue };
