import { blocksOf, lastTurn, turnsOf } from "./body.ts";
import { claudeModel } from "./models.ts";
import { type Check, asArray, asObject, asString, isBlank, isObject, join, looksBase64 } from "../walk.ts";

/** A thinking block keeps the signature it was issued with. An empty `thinking` is legal as long as it is signed. */
export const checkThinkingBlock: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    if (block.type !== "thinking" || typeof block.value["thinking"] !== "string") continue;
    const signature = block.value["signature"];
    if (signature === undefined) report(block.pointer, `${block.path}.thinking.signature: Field required`);
    else if (typeof signature !== "string" || !looksBase64(signature))
      report(join(block.pointer, "signature"), `${block.path}: Invalid \`signature\` in \`thinking\` block`);
  }
};

/** A redacted thinking block carries `data`. */
export const checkRedactedBlock: Check = (body, report) => {
  for (const block of blocksOf(body)) {
    if (
      block.type !== "redacted_thinking" ||
      block.value["data"] === undefined ||
      typeof block.value["data"] !== "string"
    )
      continue;
    if (isBlank(block.value["data"]))
      report(join(block.pointer, "data"), `${block.path}: Invalid \`data\` in \`redacted_thinking\` block`);
  }
};

/** In a tool loop with a thinking budget, older models want the assistant turn to begin with its thinking. */
export const checkThinkingFirst: Check = (body, report) => {
  if (thinkingType(body) !== "enabled") return;
  let assistant: ReturnType<typeof lastTurn>;
  let last: ReturnType<typeof lastTurn>;
  for (const turn of turnsOf(body)) {
    if (turn.role === "assistant") assistant = turn;
    last = turn;
  }
  const first = assistant?.blocks[0];
  const open = last?.role === "user" && last.blocks[0]?.type === "tool_result";
  if (!open || first === undefined || first.type === "thinking" || first.type === "redacted_thinking") return;
  report(
    first.pointer,
    `${first.path}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
  );
};

/** A prefilled assistant message contains no thinking block while thinking is off. */
export const checkThinkingOff: Check = (body, report, target) => {
  const last = lastTurn(body);
  if (last?.role !== "assistant" || !claudeModel(body, target).prefill) return;
  const type = thinkingType(body);
  const block = last.blocks.find(({ type: kind }) => kind === "thinking" || kind === "redacted_thinking");
  if (block === undefined || type === "enabled" || type === "adaptive") return;
  report(
    block.pointer,
    "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`",
  );
};

const thinkingType = (body: unknown): string | undefined => asString(asObject(asObject(body)["thinking"])["type"]);

/** The thinking setting is well formed. */
export const checkThinkingConfig: Check = (body, report) => {
  const { thinking, max_tokens: limit, tools } = asObject(body);
  if (thinking === undefined || thinking === null) return;
  const type = thinkingType(body);
  if (type === undefined || !thinkingTypes.includes(type)) {
    report(
      "/thinking",
      `thinking: Input tag '${type ?? ""}' found using 'type' does not match any of the expected tags: ${thinkingTypes.map((name) => `'${name}'`).join(", ")}`,
    );
    return;
  }
  if (type !== "enabled") return;
  const budget = asObject(thinking)["budget_tokens"];
  if (typeof budget !== "number") report("/thinking", "thinking.enabled.budget_tokens: Field required");
  else if (budget < 1024)
    report("/thinking/budget_tokens", "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
  // With tools, interleaved thinking may spend more than one answer's tokens.
  else if (typeof limit === "number" && budget >= limit && asArray(tools).length === 0)
    report("/max_tokens", "`max_tokens` must be greater than `thinking.budget_tokens`");
};

const thinkingTypes = ["adaptive", "between_tools", "disabled", "enabled"];

/** The model supports the requested kind of thinking. */
export const checkThinkingSupport: Check = (body, report, target) => {
  const type = thinkingType(body);
  const { thinking } = claudeModel(body, target);
  if (type === undefined || !thinkingTypes.includes(type) || thinking.includes(type)) return;
  if (type === "adaptive") report("/thinking/type", "adaptive thinking is not supported on this model");
  else if (!thinking.includes("adaptive")) report("/thinking/type", "This model does not support thinking.");
  else
    report(
      "/thinking/type",
      `"thinking.type.${type}" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`,
    );
};

/** Some models require thinking at their highest efforts. */
export const checkEffortWithoutThinking: Check = (body, report, target) => {
  const effort = asString(asObject(asObject(body)["output_config"])["effort"]);
  const { thinking, effort: levels, effortUnthinking } = claudeModel(body, target);
  if (thinkingType(body) !== "disabled" || !thinking.includes("disabled") || effort === undefined) return;
  if (levels.includes(effort) && !effortUnthinking.includes(effort))
    report("/thinking/type", `"thinking.type.disabled" is not supported with effort '${effort}' on this model.`);
};

/** A thinking budget cannot be combined with a forced tool call. */
export const checkThinkingForced: Check = (body, report) => {
  const choice = asString(asObject(asObject(body)["tool_choice"])["type"]);
  if (thinkingType(body) === "enabled" && (choice === "any" || choice === "tool"))
    report("/tool_choice", "Thinking may not be enabled when tool_choice forces tool use.");
};

/** Sampling settings must be at their defaults while the model thinks. */
export const checkThinkingSampling: Check = (body, report, target) => {
  if (thinkingType(body) !== "enabled" || claudeModel(body, target).sampling === "none") return;
  const { temperature, top_p: topP, top_k: topK } = asObject(body);
  if (typeof temperature === "number" && temperature !== 1)
    report("/temperature", "`temperature` may only be set to 1 when thinking is enabled.");
  if (typeof topP === "number" && topP < 0.95)
    report("/top_p", "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.");
  if (typeof topK === "number") report("/top_k", "`top_k` must be unset when thinking is enabled.");
};

/** Sampling settings lie in their ranges. */
export const checkSamplingRange: Check = (body, report) => {
  for (const [name, high] of [
    ["temperature", 1],
    ["top_p", 1],
    ["top_k", 1_000_000_000],
  ] as const) {
    const value = asObject(body)[name];
    if (typeof value === "number" && (value < 0 || value > high)) report(join("", name), `${name}: range: 0..${high}`);
  }
};

/** Newer models accept only the default sampling settings. */
export const checkSamplingSupport: Check = (body, report, target) => {
  if (claudeModel(body, target).sampling !== "none") return;
  for (const name of samplingFields) {
    const value = asObject(body)[name];
    if (typeof value !== "number" || (name === "temperature" && value === 1) || (name === "top_p" && value >= 0.99))
      continue;
    report(join("", name), `\`${name}\` is deprecated for this model.`);
  }
};

/** From 4.5 on (Opus 4.1), temperature and top_p exclude each other. */
export const checkSamplingPair: Check = (body, report, target) => {
  const { temperature, top_p: topP } = asObject(body);
  if (claudeModel(body, target).sampling !== "one" || typeof temperature !== "number" || typeof topP !== "number")
    return;
  report("/top_p", "`temperature` and `top_p` cannot both be specified for this model. Please use only one.");
};

/** API version 2026-10-21 has no sampling settings at all. */
export const checkSamplingVersion: Check = (body, report, target) => {
  if (claudeModel(body, target).sampling === "none") return;
  for (const name of samplingFields) {
    if (asObject(body)[name] !== undefined)
      report(join("", name), `${name}: API version 2026-10-21 refuses it: Extra inputs are not permitted`);
  }
};

const samplingFields = ["temperature", "top_p", "top_k"] as const;

/** The model supports the requested effort level. */
export const checkEffort: Check = (body, report, target) => {
  const effort = asObject(asObject(body)["output_config"])["effort"];
  if (effort === undefined || effort === null) return;
  const { effort: levels } = claudeModel(body, target);
  if (levels.length === 0) report("/output_config/effort", "This model does not support the effort parameter.");
  else if (typeof effort !== "string" || !levels.includes(effort)) {
    report(
      "/output_config/effort",
      `This model does not support effort level '${typeof effort === "string" ? effort : typeof effort}'. Supported levels: ${levels.toSorted().join(", ")}.`,
    );
  }
};

/** At most four cache markers; automatic caching uses one of them. */
export const checkCacheCount: Check = (body, report) => {
  const markers = cacheMarkers(body);
  const fifth = markers[4];
  if (fifth !== undefined)
    report(fifth.pointer, `A maximum of 4 blocks with cache_control may be provided. Found ${markers.length}.`);
};

/** A cache marker is `ephemeral` with a lifetime of five minutes or one hour. */
export const checkCacheMarker: Check = (body, report) => {
  for (const { value, pointer } of cacheMarkers(body)) {
    const { type, ttl } = asObject(value);
    if (type !== "ephemeral")
      report(
        pointer,
        "cache_control: Input tag found using 'type' does not match any of the expected tags: 'ephemeral'",
      );
    else if (ttl !== undefined && ttl !== "5m" && ttl !== "1h")
      report(pointer, "cache_control.ephemeral.ttl: Input should be '5m' or '1h'");
  }
};

/** Markers with the longer lifetime precede those with the shorter one. */
export const checkCacheOrder: Check = (body, report) => {
  let short = false;
  for (const { value, pointer } of cacheMarkers(body)) {
    if (asObject(value)["ttl"] === "1h" && short) {
      report(
        pointer,
        "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
      );
      return;
    }
    short ||= asObject(value)["ttl"] !== "1h";
  }
};

type AnthropicCacheMarker = { readonly value: unknown; readonly pointer: string };

/** The markers in the order the API counts them: tools, system, messages with what tool results hold, the automatic one last. */
const cacheMarkers = (body: unknown): readonly AnthropicCacheMarker[] => {
  const { tools, system, cache_control: automatic } = asObject(body);
  const found: AnthropicCacheMarker[] = [];
  const collect = (value: unknown, pointer: string): void => {
    const marker = asObject(value)["cache_control"];
    if (isObject(marker)) found.push({ value: marker, pointer: join(pointer, "cache_control") });
  };
  asArray(tools).forEach((tool, index) => collect(tool, join("/tools", index)));
  asArray(system).forEach((block, index) => collect(block, join("/system", index)));
  for (const block of blocksOf(body)) {
    collect(block.value, block.pointer);
    asArray(block.value["content"]).forEach((inner, index) => collect(inner, join(block.pointer, "content", index)));
  }
  if (isObject(automatic)) found.push({ value: automatic, pointer: "/cache_control" });
  return found;
};
