import type { Conversation } from "../conversation/entry.ts";
import { IncrementalRenderer, type RenderReport } from "./incremental-renderer.ts";
import type { Step, Transcript } from "./step.ts";
import { defaultRenderPolicy, type RenderPolicy, type Target } from "./target.ts";

/**
 * What one target may be shown of a conversation, and why it looks that way.
 *
 * Pure: no clock, no chance, and the conversation is left as it is. Throws
 * only `UnsupportedMediaError`, and only under the policy that asks for it.
 */
export const render = (
  conversation: Conversation,
  target: Target,
  policy: Partial<RenderPolicy> = {},
): { readonly transcript: Transcript; readonly report: RenderReport } => {
  const rendering = new IncrementalRenderer<Step>({
    target,
    policy: { ...defaultRenderPolicy, ...policy },
    blobs: conversation.blobs,
    tools: (conversation.tools ?? []).map((tool) => tool.name),
    encode: (step) => [step],
  });
  rendering.add(conversation.entries);
  return { transcript: rendering.messages(), report: rendering.report() };
};
