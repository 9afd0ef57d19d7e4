import type { RuleTarget } from "../rule.ts";

/** A Gemini target by model name. */
export const to = (model: string, provider = "google"): RuleTarget => ({ wire: "gemini", provider, model });
export const newest: RuleTarget = to("gemini-3.8-flash");
export const strict: RuleTarget = to("gemini-3.6-flash");
export const three: RuleTarget = to("gemini-3-flash-preview");
export const two: RuleTarget = to("gemini-2.5-flash");

/** A part of a request body. */
export type GeminiJson = Record<string, unknown>;

export const text = (words: string): GeminiJson => ({ text: words });
export const user = (...parts: unknown[]): GeminiJson => ({ role: "user", parts });
export const model = (...parts: unknown[]): GeminiJson => ({ role: "model", parts });
export const signed = (part: GeminiJson): GeminiJson => ({ ...part, thoughtSignature: "c2lnbmF0dXJl" });
export const bare = (id: string, name = "look"): GeminiJson => ({ functionCall: { id, name, args: {} } });
export const call = (id: string, name = "look"): GeminiJson => signed(bare(id, name));
export const answer = (id: string, more: GeminiJson = {}, name = "look"): GeminiJson => ({
  functionResponse: { id, name, response: { output: "a cat" }, ...more },
});
export const png: { readonly inlineData: GeminiJson } = { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } };
export const blob = (mimeType: string): GeminiJson => ({ inlineData: { mimeType, data: "AAAA" } });
export const file: GeminiJson = {
  fileData: { mimeType: "image/png", fileUri: "https://generativelanguage.googleapis.com/v1beta/files/abc" },
};

export const ask: GeminiJson = user(text("What is this?"));
export const body = (...contents: unknown[]): GeminiJson => ({ contents });
/** One complete exchange whose last content has the given parts. */
export const exchange = (...answers: unknown[]): GeminiJson => body(ask, model(call("a")), user(...answers));
export const declared = (declaration: GeminiJson, more: GeminiJson = {}): GeminiJson => ({
  contents: [ask],
  tools: [{ functionDeclarations: [declaration] }],
  ...more,
});
export const look: GeminiJson = {
  name: "look",
  description: "Look.",
  parametersJsonSchema: { type: "object", properties: {} },
};
export const withParameters = (parameters: unknown): GeminiJson => declared({ name: "look", parameters });
export const withJsonSchema = (parametersJsonSchema: unknown): GeminiJson =>
  declared({ name: "look", parametersJsonSchema });
export const configured = (generationConfig: GeminiJson, more: GeminiJson = {}): GeminiJson => ({
  contents: [ask],
  generationConfig,
  ...more,
});
export const calling = (functionCallingConfig: GeminiJson): GeminiJson =>
  declared(look, { toolConfig: { functionCallingConfig } });

export const fine: GeminiJson = exchange(answer("a"));
export const plain: GeminiJson = body(ask);
