import { blocksOf } from "./body.ts";
import { bedrockFamily, findBedrockClaude } from "./models.ts";
import { toolsOf } from "./tools.ts";
import { messagesOf } from "../turns.ts";
import { type Check, asArray, asObject, asString, isBlank, isObject, join } from "../walk.ts";

/** Some models do not accept a forced tool call. */
export const checkForcedTool: Check = (body, report, target) => {
  const [kind] = Object.keys(asObject(asObject(asObject(body)["toolConfig"])["toolChoice"]));
  const where = join("/toolConfig/toolChoice", kind ?? "");
  if (kind !== "any" && kind !== "tool") return;
  if (!bedrockFamily(target).toolChoice.includes(kind))
    report(
      where,
      `This model doesn't support the toolConfig.toolChoice.${kind} field. Remove toolConfig.toolChoice.${kind} and try again.`,
    );
  else if (findBedrockClaude(target)?.forcedTool === false)
    report(where, 'tool_choice: type "tool" and "any" are not supported for this model');
  else if (thinking(body)["type"] === "enabled" && bedrockFamily(target).id === "claude")
    report(where, "Thinking may not be enabled when tool_choice forces tool use.");
};

const extra = (body: unknown): Record<string, unknown> => asObject(asObject(body)["additionalModelRequestFields"]);
const thinking = (body: unknown): Record<string, unknown> => asObject(extra(body)["thinking"]);

/** On Claude, the model supports the kind of thinking and its budget. */
export const checkThinking: Check = (body, report, target) => {
  const claude = findBedrockClaude(target);
  const { type, budget_tokens: budget } = thinking(body);
  const where = "/additionalModelRequestFields/thinking";
  if (claude === undefined || typeof type !== "string") return;
  if (!claude.thinking.includes(type))
    report(
      where,
      type === "adaptive"
        ? "adaptive thinking is not supported on this model"
        : `"thinking.type.${type}" is not supported for this model.`,
    );
  else if (type === "enabled" && typeof budget === "number" && budget < 1024)
    report(
      join(where, "budget_tokens"),
      "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    );
};

/** On Claude, the model supports the effort level. */
export const checkEffort: Check = (body, report, target) => {
  const claude = findBedrockClaude(target);
  const effort = asObject(extra(body)["output_config"])["effort"];
  if (claude === undefined || effort === undefined || effort === null) return;
  const where = "/additionalModelRequestFields/output_config/effort";
  if (claude.effort.length === 0) report(where, "This model does not support the effort parameter.");
  else if (typeof effort !== "string" || !claude.effort.includes(effort))
    report(
      where,
      `This model does not support effort level '${typeof effort === "string" ? effort : typeof effort}'. Supported levels: ${claude.effort.toSorted().join(", ")}.`,
    );
};

/** Inference settings lie in their ranges. */
export const checkInferenceRange: Check = (body, report) => {
  const config = asObject(asObject(body)["inferenceConfig"]);
  for (const [name, low, high] of [
    ["temperature", 0, 1],
    ["topP", 0, 1],
    ["maxTokens", 1, Number.MAX_SAFE_INTEGER],
  ] as const) {
    const value = config[name];
    if (typeof value !== "number" || (value >= low && value <= high)) continue;
    const rule = value < low ? `greater than or equal to ${low}` : `less than or equal to ${high}`;
    report(
      join("/inferenceConfig", name),
      `1 validation error detected: Value '${value}' at 'inferenceConfig.${name}' failed to satisfy constraint: Member must have value ${rule}`,
    );
  }
  asArray(config["stopSequences"]).forEach((sequence, index) => {
    if (sequence === "")
      report(
        join("/inferenceConfig/stopSequences", index),
        `1 validation error detected: Value '' at 'inferenceConfig.stopSequences.${index}' failed to satisfy constraint: Member must have length greater than or equal to 1`,
      );
  });
};

/** Newer Claude models accept no sampling settings; older ones accept one of the two. */
export const checkSampling: Check = (body, report, target) => {
  const claude = findBedrockClaude(target);
  const { temperature, topP } = asObject(asObject(body)["inferenceConfig"]);
  if (claude?.sampling === "none" && typeof temperature === "number" && temperature !== 1)
    report(
      "/inferenceConfig/temperature",
      "The model returned the following errors: `temperature` is deprecated for this model.",
    );
  if (claude?.sampling === "none" && typeof topP === "number" && topP < 0.99)
    report("/inferenceConfig/topP", "The model returned the following errors: `top_p` is deprecated for this model.");
  if (claude?.sampling === "one" && typeof temperature === "number" && typeof topP === "number")
    report(
      "/inferenceConfig/topP",
      "The model returned the following errors: `temperature` and `top_p` cannot both be specified for this model. Please use only one.",
    );
};

type BedrockCacheMarker = { readonly value: unknown; readonly pointer: string };

/** The cache points in the order the API counts them: tools, system, messages. */
const cachePoints = (body: unknown): readonly BedrockCacheMarker[] => {
  const found: BedrockCacheMarker[] = [];
  for (const { value, pointer } of toolsOf(body))
    if (isObject(value["cachePoint"])) found.push({ value: value["cachePoint"], pointer: join(pointer, "cachePoint") });
  asArray(asObject(body)["system"]).forEach((block, index) => {
    const point = asObject(block)["cachePoint"];
    if (isObject(point)) found.push({ value: point, pointer: join("/system", index, "cachePoint") });
  });
  for (const block of blocksOf(body))
    if (block.kind === "cachePoint") found.push({ value: block.data, pointer: join(block.pointer, "cachePoint") });
  return found;
};

/** At most four cache points. */
export const checkCacheCount: Check = (body, report) => {
  const points = cachePoints(body);
  const fifth = points[4];
  if (fifth !== undefined)
    report(fifth.pointer, `A maximum of 4 blocks with cache_control may be provided. Found ${points.length}.`);
};

/** A cache point is of type `default` with a lifetime of five minutes or one hour. */
export const checkCachePoint: Check = (body, report) => {
  for (const { value, pointer } of cachePoints(body)) {
    const { type, ttl } = asObject(value);
    if (type !== "default")
      report(
        pointer,
        "1 validation error detected: Value at 'cachePoint.type' failed to satisfy constraint: Member must satisfy enum value set: [default]",
      );
    else if (ttl !== undefined && ttl !== null && ttl !== "5m" && ttl !== "1h")
      report(
        pointer,
        "1 validation error detected: Value at 'cachePoint.ttl' failed to satisfy constraint: Member must satisfy enum value set: [5m, 1h]",
      );
  }
};

/** A cache point does not follow a document or a video directly. */
export const checkCacheAfterMedia: Check = (body, report) => {
  for (const { value, pointer, index } of messagesOf(body)) {
    const content = asArray(value["content"]);
    content.forEach((block, at) => {
      const before = asObject(content[at - 1]);
      if (!isObject(asObject(block)["cachePoint"]) || !(isObject(before["document"]) || isObject(before["video"])))
        return;
      report(
        join(pointer, "content", at),
        `messages.${index}.content.${at}: cachePoint cannot be placed directly after a document or video block.`,
      );
    });
  }
};

/** A search result names its source and title, and has text. */
export const checkSearchResult: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    if (block.kind !== "searchResult") continue;
    const { source, title, content } = asObject(block.data);
    const fits =
      typeof source === "string" &&
      typeof title === "string" &&
      asArray(content).length > 0 &&
      asArray(content).every((inner) => !isBlank(asString(asObject(inner)["text"]) ?? ""));
    if (!fits)
      report(
        block.pointer,
        `The SearchResultBlock object at ${block.path}.searchResult needs a source, a title and text content.`,
      );
  }
};
