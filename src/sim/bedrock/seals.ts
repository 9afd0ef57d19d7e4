import { type BedrockBlock, fieldOf } from "../../rules/bedrock/body.ts";
import type { ApiRefusal, SealUse, SealVerdict } from "../family.ts";
import { type BedrockSimRequest, claudeVersion, familyOf, baseModelName } from "./providers.ts";
import { splitPrompt } from "./prompt.ts";
import { messageBlocks, thinkingConfig } from "./request.ts";
import { asObject, asText } from "../json.ts";
import { openSeal } from "../seal.ts";

/** Finds the seals of Claude's reasoning. Other vendors' reasoning has none. */
export const findSeals = (request: BedrockSimRequest): readonly SealUse[] => {
  if (claudeVersion(request.model) === undefined) return [];
  const { unitsBeforeMessage } = splitPrompt(request);
  return messageBlocks(request).flatMap((blocks, message) => {
    const after = unitsBeforeMessage[message] ?? 0;
    const shown = blocks.filter(({ kind }) => kind !== "cachePoint");
    return shown.flatMap((block, index) => sealUsesIn(block, after, after + index));
  });
};

const sealUsesIn = (block: BedrockBlock, after: number, unit: number): readonly SealUse[] => {
  if (block.kind !== "reasoningContent") return [];
  const redacted = fieldOf(block, "redactedContent");
  if (typeof redacted === "string") return [{ pointer: block.pointer, value: redacted, unitsBefore: after, unit }];
  const { text, signature } = asObject(fieldOf(block, "reasoningText"));
  // Reasoning without its text is identified by its seal alone.
  const bound = asText(text) === "" ? {} : { text: asText(text) };
  return [{ pointer: block.pointer, value: asText(signature), ...bound, unitsBefore: after, unit }];
};

/**
 * Decides what Claude does with a seal. From 5.1 on it is bound to the whole prompt before it, and reasoning of another
 * model is ignored.
 */
export const judgeSeal = (
  use: SealUse,
  verdict: Exclude<SealVerdict, "genuine">,
  request: BedrockSimRequest,
): ApiRefusal | "accepted" | undefined => {
  const isBound = (claudeVersion(request.model) ?? 0) >= 501;
  switch (verdict) {
    case "forged":
    case "other-text":
      return sealRefusal(use, "Invalid `signature` in `thinking` block");
    case "other-model":
      return isBound && baseModelName(openSeal(use.value)?.model ?? "") !== baseModelName(request.model)
        ? undefined
        : "accepted";
    case "prefix":
      if (!isBound) return "accepted";
      return asObject(thinkingConfig(request)["block_binding"])["prefix_mismatch_behavior"] === "drop_block"
        ? undefined
        : sealRefusal(use, prefixMismatch);
  }
};

const prefixMismatch =
  'Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';

/** Wraps Claude's own message in the service's message. */
const sealRefusal = ({ pointer }: SealUse, message: string): ApiRefusal => ({
  status: 400,
  kind: "bad-request",
  message: modelErrorMessage(`${pointer.slice(1).replaceAll("/", ".")}: ${message}`),
  pointer,
});

const modelErrorMessage = (message: string): string => `The model returned the following errors: ${message}`;

/** Checks what the rules for the body alone cannot. */
export const checkRequest = (request: BedrockSimRequest): ApiRefusal | undefined =>
  checkCounting(request) ?? checkCaching(request) ?? checkThoughtInLoop(request);

const checkCounting = ({ model, route }: BedrockSimRequest): ApiRefusal | undefined =>
  route.kind === "count" && claudeVersion(model) === undefined
    ? { status: 400, kind: "bad-request", message: "The provided model doesn't support counting tokens." }
    : undefined;

/** Only Claude and Nova support prompt caching. */
const checkCaching = (request: BedrockSimRequest): ApiRefusal | undefined => {
  const { id } = familyOf(request);
  if (id === "claude" || id === "nova" || !splitPrompt(request).units.some(({ isCachePoint }) => isCachePoint))
    return undefined;
  return {
    status: 403,
    kind: "no-permission",
    message:
      "You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.",
  };
};

/** With a thinking budget, a tool loop must start with the reasoning that led to its calls. */
const checkThoughtInLoop = (request: BedrockSimRequest): ApiRefusal | undefined => {
  if (thinkingConfig(request)["type"] !== "enabled" || claudeVersion(request.model) === undefined) return undefined;
  const messages = messageBlocks(request);
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
