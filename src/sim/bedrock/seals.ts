import { type BedrockBlock, fieldOf } from "../../rules/bedrock/body.ts";
import type { ApiRefusal, SealUse, SealVerdict } from "../family.ts";
import { type BedrockSimRequest, claudeVersion, familyOf, baseModelName } from "./providers.ts";
import { splitPrompt } from "./prompt.ts";
import { messageBlocks, thinkingConfig } from "./request.ts";
import { asObject, asText } from "../json.ts";
import { openSeal } from "../seal.ts";

/** The seals on Claude's thoughts. Thoughts of other makers carry none. */
export const findSeals = (ask: BedrockSimRequest): readonly SealUse[] => {
  if (claudeVersion(ask.model) === undefined) return [];
  const { unitsBeforeMessage: before } = splitPrompt(ask);
  return messageBlocks(ask).flatMap((blocks, message) => {
    const after = before[message] ?? 0;
    const shown = blocks.filter(({ kind }) => kind !== "cachePoint");
    return shown.flatMap((block, index) => sealUsesIn(block, after, after + index));
  });
};

const sealUsesIn = (block: BedrockBlock, after: number, unit: number): readonly SealUse[] => {
  if (block.kind !== "reasoningContent") return [];
  const redacted = fieldOf(block, "redactedContent");
  if (typeof redacted === "string") return [{ pointer: block.pointer, value: redacted, unitsBefore: after, unit }];
  const { text, signature } = asObject(fieldOf(block, "reasoningText"));
  // A thought whose text was left out is known by its seal alone.
  const bound = asText(text) === "" ? {} : { text: asText(text) };
  return [{ pointer: block.pointer, value: asText(signature), ...bound, unitsBefore: after, unit }];
};

/**
 * What Claude does about a seal. From 5.1 on it is bound to all that stood
 * before it, and thoughts another model made are passed over.
 */
export const judgeSeal = (
  use: SealUse,
  verdict: Exclude<SealVerdict, "genuine">,
  ask: BedrockSimRequest,
): ApiRefusal | "accepted" | undefined => {
  const isBound = (claudeVersion(ask.model) ?? 0) >= 501;
  switch (verdict) {
    case "forged":
    case "other-text":
      return sealRefusal(use, "Invalid `signature` in `thinking` block");
    case "other-model":
      return isBound && baseModelName(openSeal(use.value)?.model ?? "") !== baseModelName(ask.model)
        ? undefined
        : "accepted";
    case "prefix":
      if (!isBound) return "accepted";
      return asObject(thinkingConfig(ask)["block_binding"])["prefix_mismatch_behavior"] === "drop_block"
        ? undefined
        : sealRefusal(use, prefixMismatch);
  }
};

const prefixMismatch =
  'Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';

/** What Claude itself says comes wrapped in a sentence of the service. */
const sealRefusal = ({ pointer }: SealUse, message: string): ApiRefusal => ({
  status: 400,
  kind: "bad-request",
  message: modelErrorMessage(`${pointer.slice(1).replaceAll("/", ".")}: ${message}`),
  pointer,
});

const modelErrorMessage = (message: string): string => `The model returned the following errors: ${message}`;

/** What Bedrock refuses that no rule of a body alone can tell. */
export const checkRequest = (ask: BedrockSimRequest): ApiRefusal | undefined =>
  checkCounting(ask) ?? checkCaching(ask) ?? checkThoughtInLoop(ask);

const checkCounting = ({ model, route }: BedrockSimRequest): ApiRefusal | undefined =>
  route.kind === "count" && claudeVersion(model) === undefined
    ? { status: 400, kind: "bad-request", message: "The provided model doesn't support counting tokens." }
    : undefined;

/** Only Claude and Nova cache. */
const checkCaching = (ask: BedrockSimRequest): ApiRefusal | undefined => {
  const { id } = familyOf(ask);
  if (id === "claude" || id === "nova" || !splitPrompt(ask).units.some(({ isCachePoint: marked }) => marked))
    return undefined;
  return {
    status: 403,
    kind: "no-permission",
    message:
      "You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.",
  };
};

/** Models that think by a budget want to see, while they wait for results, the thought that led to the calls. */
const checkThoughtInLoop = (ask: BedrockSimRequest): ApiRefusal | undefined => {
  if (thinkingConfig(ask)["type"] !== "enabled" || claudeVersion(ask.model) === undefined) return undefined;
  const messages = messageBlocks(ask);
  const answers = (blocks: readonly BedrockBlock[]): boolean => blocks.some(({ kind }) => kind === "toolResult");
  if (!answers(messages.at(-1) ?? [])) return undefined;
  const asked = messages.findLastIndex((blocks) => blocks[0]?.role === "user" && !answers(blocks));
  const first = messages[asked + 1]?.[0];
  if (first === undefined || first.kind === "reasoningContent") return undefined;
  const found = first.kind === "toolUse" ? "tool_use" : first.kind;
  return {
    status: 400,
    kind: "bad-request",
    message: modelErrorMessage(
      `${first.path}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). To avoid this requirement, disable \`thinking\`.`,
    ),
    pointer: first.pointer,
  };
};
