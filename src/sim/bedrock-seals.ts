import { type Block, inside } from "../rules/bedrock-body.ts";
import type { Refusal, SealUse, SealVerdict } from "./family.ts";
import { type BedrockAsk, claudeVersion, familyOf, plainName } from "./bedrock-providers.ts";
import { promptOf } from "./bedrock-prompt.ts";
import { messageBlocks, thinkingOf } from "./bedrock-request.ts";
import { asObject, asText } from "./json.ts";
import { openSeal } from "./seal.ts";

/** The seals on Claude's thoughts. Thoughts of other makers carry none. */
export const sealsOf = (ask: BedrockAsk): readonly SealUse[] => {
  if (claudeVersion(ask.model) === undefined) return [];
  const { before } = promptOf(ask);
  return messageBlocks(ask).flatMap((blocks, message) => {
    const after = before[message] ?? 0;
    const shown = blocks.filter(({ kind }) => kind !== "cachePoint");
    return shown.flatMap((block, index) => useOf(block, after, after + index));
  });
};

const useOf = (block: Block, after: number, unit: number): readonly SealUse[] => {
  if (block.kind !== "reasoningContent") return [];
  const redacted = inside(block, "redactedContent");
  if (typeof redacted === "string") return [{ pointer: block.pointer, value: redacted, after, unit }];
  const { text, signature } = asObject(inside(block, "reasoningText"));
  // A thought whose text was left out is known by its seal alone.
  const bound = asText(text) === "" ? {} : { text: asText(text) };
  return [{ pointer: block.pointer, value: asText(signature), ...bound, after, unit }];
};

/**
 * What Claude does about a seal. From 5.1 on it is bound to all that stood
 * before it, and thoughts another model made are passed over.
 */
export const judgeSeal = (
  use: SealUse,
  verdict: Exclude<SealVerdict, "genuine">,
  ask: BedrockAsk,
): Refusal | "accepted" | undefined => {
  const isBound = (claudeVersion(ask.model) ?? 0) >= 501;
  switch (verdict) {
    case "forged":
    case "other-text":
      return refused(use, "Invalid `signature` in `thinking` block");
    case "other-model":
      return isBound && plainName(openSeal(use.value)?.model ?? "") !== plainName(ask.model) ? undefined : "accepted";
    case "prefix":
      if (!isBound) return "accepted";
      return asObject(thinkingOf(ask)["block_binding"])["prefix_mismatch_behavior"] === "drop_block"
        ? undefined
        : refused(use, boundElsewhere);
  }
};

const boundElsewhere =
  'Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';

/** What Claude itself says comes wrapped in a sentence of the service. */
const refused = ({ pointer }: SealUse, message: string): Refusal => ({
  status: 400,
  kind: "bad-request",
  message: fromModel(`${pointer.slice(1).replaceAll("/", ".")}: ${message}`),
  pointer,
});

const fromModel = (message: string): string => `The model returned the following errors: ${message}`;

/** What Bedrock refuses that no rule of a body alone can tell. */
export const checkBedrock = (ask: BedrockAsk): Refusal | undefined =>
  checkCounting(ask) ?? checkCaching(ask) ?? checkThoughtInLoop(ask);

const checkCounting = ({ model, route }: BedrockAsk): Refusal | undefined =>
  route.kind === "count" && claudeVersion(model) === undefined
    ? { status: 400, kind: "bad-request", message: "The provided model doesn't support counting tokens." }
    : undefined;

/** Only Claude and Nova cache. */
const checkCaching = (ask: BedrockAsk): Refusal | undefined => {
  const { id } = familyOf(ask);
  if (id === "claude" || id === "nova" || !promptOf(ask).units.some(({ marked }) => marked)) return undefined;
  return {
    status: 403,
    kind: "no-permission",
    message:
      "You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.",
  };
};

/** Models that think by a budget want to see, while they wait for results, the thought that led to the calls. */
const checkThoughtInLoop = (ask: BedrockAsk): Refusal | undefined => {
  if (thinkingOf(ask)["type"] !== "enabled" || claudeVersion(ask.model) === undefined) return undefined;
  const messages = messageBlocks(ask);
  const answers = (blocks: readonly Block[]): boolean => blocks.some(({ kind }) => kind === "toolResult");
  if (!answers(messages.at(-1) ?? [])) return undefined;
  const asked = messages.findLastIndex((blocks) => blocks[0]?.role === "user" && !answers(blocks));
  const first = messages[asked + 1]?.[0];
  if (first === undefined || first.kind === "reasoningContent") return undefined;
  const found = first.kind === "toolUse" ? "tool_use" : first.kind;
  return {
    status: 400,
    kind: "bad-request",
    message: fromModel(
      `${first.path}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). To avoid this requirement, disable \`thinking\`.`,
    ),
    pointer: first.pointer,
  };
};
