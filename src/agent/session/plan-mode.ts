import type { Entry } from "../../conversation/entry.ts";
import type { ApprovalMode } from "../../policy/gate/approval-mode.ts";
import type { AskUser, PlanReview, ReviewPlan, UserQuestion } from "../../tools/capabilities.ts";
import { planModeEndNotice, planModeNotice } from "../prompts.ts";

/** The notice that tells the model of plan mode, or of its end, if the conversation does not say so yet. */
export const planModeNotices = (entries: readonly Entry[], mode: ApprovalMode): readonly string[] => {
  const last = entries.findLast(
    (entry) => entry.type === "notice" && (entry.text === planModeNotice || entry.text === planModeEndNotice),
  );
  const isOn = last?.type === "notice" && last.text === planModeNotice;
  if (mode === "plan") return isOn ? [] : [planModeNotice];
  return isOn ? [planModeEndNotice] : [];
};

/** The answers that approve a plan, and the approval mode each begins. */
const approvals = [
  { label: "Yes, and ask before each edit", mode: "default" },
  { label: "Yes, and edit without asking", mode: "auto_edit" },
] as const;

/** The question about a plan. Any other answer than an option, yes or no refuses it, with the answer as the reason. */
export const planQuestion = (text: string, more: UserQuestion["options"] = []): UserQuestion => ({
  question: text,
  header: "Plan",
  options: [...approvals.map(({ label, mode }) => ({ label, description: `approval mode ${mode}` })), ...more],
  textHint: "Type what should change",
  allowsSeveral: false,
});

/**
 * Reads the answer to the question about a plan. No answer is a refusal. A typed yes does not say which one, so it
 * begins the mode that asks most.
 */
export const readPlanAnswer = (answer: string | undefined, plan: string): PlanReview => {
  const words = answer?.trim() ?? "";
  const approved =
    approvals.find(({ label }) => label === answer) ?? (/^y(?:es)?$/i.test(words) ? approvals[0] : undefined);
  if (approved !== undefined) return { type: "approved", mode: approved.mode, plan };
  return /^(?:no?)?$/i.test(words) ? { type: "refused" } : { type: "refused", reason: words };
};

/** Has the user review plans by a question that contains the plan. */
export const reviewByQuestion =
  (askUser: AskUser): ReviewPlan =>
  async (plan, signal) => {
    const answers = await askUser([planQuestion(`${plan}\n\nApprove this plan?`)], signal);
    return readPlanAnswer(answers?.[0]?.[0], plan);
  };
