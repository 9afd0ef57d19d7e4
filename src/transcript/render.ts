import type { Conversation } from "../conversation/entry.ts";
import { Rendering, type Report } from "./rendering.ts";
import type { Step, Transcript } from "./step.ts";
import { defaultPolicy, type Policy, type Target } from "./target.ts";

/**
 * What one target may be shown of a conversation, and why it looks that way.
 *
 * Pure: no clock, no chance, and the conversation is left as it is. Throws
 * only `UnsupportedMediaError`, and only under the policy that asks for it.
 */
export const render = (
  conversation: Conversation,
  target: Target,
  policy: Partial<Policy> = {},
): { readonly transcript: Transcript; readonly report: Report } => {
  const rendering = new Rendering<Step>({
    target,
    policy: { ...defaultPolicy, ...policy },
    blobs: conversation.blobs,
    tools: (conversation.tools ?? []).map((tool) => tool.name),
    encode: (step) => [step],
  });
  rendering.add(conversation.entries);
  return { transcript: rendering.messages(), report: rendering.report() };
};
