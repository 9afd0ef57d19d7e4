import type { JsonObject } from "../../conversation/json.ts";
import type { Provider } from "../../providers/define.ts";
import type { World } from "../../world/world.ts";
import { codeAssistCountRequest } from "../credentials/code-assist.ts";
import { getField } from "../credentials/http.ts";
import { resolveEndpoint } from "../endpoint.ts";
import { ProviderError } from "../failure.ts";
import { ProviderQuery, unreadableResponseError } from "./provider-query.ts";

/**
 * Asks the provider to count the tokens of a request body; undefined if it has no such endpoint. Settings of the response
 * are left out, since most counters refuse them. Throws a `ProviderError`.
 */
export const countTokens = async (
  provider: Provider,
  model: string,
  body: JsonObject,
  world: World,
  signal?: AbortSignal,
): Promise<number | undefined> => {
  const resolved = resolveEndpoint(provider, model, world.env, "count");
  if (!resolved.found) {
    if (resolved.reason === "not-offered") return undefined;
    const { id, label } = provider;
    throw new ProviderError({ provider: id, label, kind: "misconfigured", how: resolved.how });
  }
  const countRequest = JSON.stringify(countRequestFor(provider, model, body));
  const response = await new ProviderQuery(provider, world, signal).send({
    method: "POST",
    url: resolved.url,
    body: countRequest,
  });
  const count = countIn(response);
  if (count === undefined) throw unreadableResponseError(provider, "It holds no number of tokens");
  return count;
};

/** Builds the token-count request from a body. */
const countRequestFor = ({ wire, auth }: Provider, model: string, body: JsonObject): JsonObject => {
  switch (wire) {
    case "gemini":
      if (auth.type === "code-assist") return codeAssistCountRequest(body);
      if (auth.type === "google")
        return pickFields(body, ["contents", "systemInstruction", "tools", "generationConfig"]);
      return { generateContentRequest: { model: resourceOf(model), ...body } };
    case "anthropic":
      return pickFields(body, ["model", "messages", "system", "tools", "tool_choice", "thinking", "output_config"]);
    case "bedrock":
      return {
        input: { converse: pickFields(body, ["messages", "system", "toolConfig", "additionalModelRequestFields"]) },
      };
    case "openai-responses":
      return pickFields(body, ["model", "input", "instructions", "tools", "tool_choice", "reasoning"]);
    case "openai-chat":
      return pickFields(body, ["model", "messages"]);
  }
};

const pickFields = (body: JsonObject, fields: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => fields.includes(name)));

const resourceOf = (model: string): string => (/^(models|tunedModels)\//.test(model) ? model : `models/${model}`);

const countIn = (response: unknown): number | undefined =>
  [
    getField(response, "totalTokens"),
    getField(response, "input_tokens"),
    getField(response, "inputTokens"),
    getField(getField(response, "data"), "total_tokens"),
  ].find((value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0) as number | undefined;
