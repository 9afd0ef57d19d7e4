import { object, string } from "../schema.ts";
import type { PlanReview } from "../capabilities.ts";
import { defineTool, type AnyTool } from "../tool.ts";

export const presentPlan: AnyTool = defineTool({
  name: "present_plan",
  description: "In plan mode: asks the user to approve your plan, and ends plan mode if they do.",
  access: "read",
  hasNoTimeout: true,
  input: object({ plan: string({ description: "The whole plan, as Markdown." }) }),
  touches: () => ({}),
  title: () => "Plan",
  run: async ({ plan }, { planMode, signal }) => {
    if (planMode?.isOn() !== true)
      return toResult("Plan mode is off, so the plan needs no approval. Carry it out.", "Plan mode is off");
    if (planMode.review === undefined)
      return toResult(
        "No person can approve the plan here. Write the whole plan as your final answer, and end your turn.",
        "No person can approve it",
      );
    const review = await planMode.review(plan, signal);
    return review.type === "approved" ? approvedResult(review, plan) : refusedResult(review);
  },
});

const approvedResult = (
  { mode, plan }: Extract<PlanReview, { type: "approved" }>,
  presented: string,
): ReturnType<typeof toResult> => {
  const change = plan.trim() === presented.trim() ? "" : ` They changed it first. This is the plan now:\n\n${plan}`;
  return toResult(
    `The user approved the plan. Plan mode is off and the approval mode is ${mode}: carry out the plan now.${change}`,
    `Approved; approval mode: ${mode}`,
  );
};

const refusedResult = ({ reason }: Extract<PlanReview, { type: "refused" }>): ReturnType<typeof toResult> =>
  reason === undefined
    ? toResult(
        "The user did not approve the plan, and plan mode stays on. End your turn and ask what to change.",
        "Not approved",
      )
    : toResult(
        `The user did not approve the plan, and plan mode stays on. They say: ${reason}`,
        `Not approved: ${reason}`,
      );

const toResult = (
  text: string,
  display: string,
): {
  readonly content: readonly [{ readonly type: "text"; readonly text: string }];
  readonly display: { readonly type: "text"; readonly text: string };
} => ({ content: [{ type: "text", text }], display: { type: "text", text: display } });
