import type { RuleTarget } from "./rule.ts";

/** A Gemini target by model name. */
export const to = (model: string, provider = "google"): RuleTarget => ({ wire: "gemini", provider, model });
export const newest: RuleTarget = to("gemini-3.8-flash");
export const strict: RuleTarget = to("gemini-3.6-flash");
export const three: RuleTarget = to("gemini-3-flash-preview");
export const two: RuleTarget = to("gemini-2.5-flash");

/** A piece of a body. */
export type Json = Record<string, unknown>;

export const text = (words: string): Json => ({ text: words });
export const user = (...parts: unknown[]): Json => ({ role: "user", parts });
export const model = (...parts: unknown[]): Json => ({ role: "model", parts });
export const signed = (part: Json): Json => ({ ...part, thoughtSignature: "c2lnbmF0dXJl" });
export const bare = (id: string, name = "look"): Json => ({ functionCall: { id, name, args: {} } });
export const call = (id: string, name = "look"): Json => signed(bare(id, name));
export const answer = (id: string, more: Json = {}, name = "look"): Json => ({
  functionResponse: { id, name, response: { output: "a cat" }, ...more },
});
export const png: { readonly inlineData: Json } = { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } };
export const blob = (mimeType: string): Json => ({ inlineData: { mimeType, data: "AAAA" } });
export const file: Json = {
  fileData: { mimeType: "image/png", fileUri: "https://generativelanguage.googleapis.com/v1beta/files/abc" },
};

export const ask: Json = user(text("What is this?"));
export const body = (...contents: unknown[]): Json => ({ contents });
/** One finished exchange whose answer holds the given parts. */
export const exchange = (...answers: unknown[]): Json => body(ask, model(call("a")), user(...answers));
export const declared = (declaration: Json, more: Json = {}): Json => ({
  contents: [ask],
  tools: [{ functionDeclarations: [declaration] }],
  ...more,
});
export const look: Json = {
  name: "look",
  description: "Look.",
  parametersJsonSchema: { type: "object", properties: {} },
};
export const withParameters = (parameters: unknown): Json => declared({ name: "look", parameters });
export const withJsonSchema = (parametersJsonSchema: unknown): Json => declared({ name: "look", parametersJsonSchema });
export const configured = (generationConfig: Json, more: Json = {}): Json => ({
  contents: [ask],
  generationConfig,
  ...more,
});
export const calling = (functionCallingConfig: Json): Json => declared(look, { toolConfig: { functionCallingConfig } });

export const fine: Json = exchange(answer("a"));
export const plain: Json = body(ask);
