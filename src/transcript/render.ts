import type { Conversation } from "../conversation/entry.ts";
import { IncrementalRenderer, type RenderReport } from "./incremental-renderer.ts";
import type { Step, Transcript } from "./step.ts";
import { defaultRenderPolicy, type RenderPolicy, type Target } from "./target.ts";

/**
 * Renders a whole conversation for one target: the transcript, and a report of every decision.
 *
 * Pure: no clock, no random numbers, and the conversation is not modified. Throws only `UnsupportedMediaError`, and only
 * under the policy `unsupportedMedia: "error"`.
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
