import type { JsonObject } from "../conversation/json.ts";
import type { Provider } from "../providers/define.ts";
import type { World } from "../world/world.ts";
import { countCodeAssist } from "./code-assist.ts";
import { fieldIn } from "./credentials-http.ts";
import { resolveEndpoint } from "./endpoint.ts";
import { ProviderError } from "./failure.ts";
import { Asker, unreadable } from "./question.ts";

/**
 * How many tokens a request body has, as its provider counts them; undefined
 * where none does. Settings of the answer are left out of the question, since
 * most counters refuse them. Throws a `ProviderError`.
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
  const question = JSON.stringify(questionFor(provider, model, body));
  const answer = await new Asker(provider, world, signal).ask({ method: "POST", url: resolved.url, body: question });
  const count = countIn(answer);
  if (count === undefined) throw unreadable(provider, "It holds no number of tokens");
  return count;
};

/** What a counter takes of a body. */
const questionFor = ({ wire, auth }: Provider, model: string, body: JsonObject): JsonObject => {
  switch (wire) {
    case "gemini":
      if (auth.type === "code-assist") return countCodeAssist(body);
      if (auth.type === "google") return only(body, ["contents", "systemInstruction", "tools", "generationConfig"]);
      return { generateContentRequest: { model: resourceOf(model), ...body } };
    case "anthropic":
      return only(body, ["model", "messages", "system", "tools", "tool_choice", "thinking", "output_config"]);
    case "bedrock":
      return {
        input: { converse: only(body, ["messages", "system", "toolConfig", "additionalModelRequestFields"]) },
      };
    case "openai-responses":
      return only(body, ["model", "input", "instructions", "tools", "tool_choice", "reasoning"]);
    case "openai-chat":
      return only(body, ["model", "messages"]);
  }
};

const only = (body: JsonObject, fields: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => fields.includes(name)));

const resourceOf = (model: string): string => (/^(models|tunedModels)\//.test(model) ? model : `models/${model}`);

const countIn = (answer: unknown): number | undefined =>
  [
    fieldIn(answer, "totalTokens"),
    fieldIn(answer, "input_tokens"),
    fieldIn(answer, "inputTokens"),
    fieldIn(fieldIn(answer, "data"), "total_tokens"),
  ].find((value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0) as number | undefined;
