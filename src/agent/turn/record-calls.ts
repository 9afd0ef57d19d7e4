import { createHash } from "node:crypto";
import { toPlainJson, type JsonObject } from "../../conversation/json.ts";
import type { ApprovalAnswer } from "../../scheduler/call/active-call.ts";
import type { CallRecorder } from "../../scheduler/call/recorder.ts";
import type { ApprovalRequest } from "../../scheduler/events.ts";
import type { Journal } from "../session/journal.ts";
import type { DurableEventQueue } from "./durable-event-queue.ts";

/** Records questions about calls, and the answers to them, in the session log. */
export const createCallRecorder = (
  journal: Journal,
  events: DurableEventQueue,
  recordRequest: () => Promise<void>,
): CallRecorder => ({
  recordRequest,
  recordQuestion: (call, approval) => {
    journal.appendMetadata({ kind: "asked", call, ...(approval && describeQuestion(approval)) });
    return events.commitInBackground();
  },
  recordAnswer: (call, answer) => {
    journal.appendMetadata({ kind: "decided", call, decision: toDecision(answer) });
    return events.commitInBackground();
  },
});

/** A question as it is logged, with the digest of all of it. The texts of an edited file are left out: the patch shows the change. */
export const describeQuestion = (
  approval: ApprovalRequest,
): { readonly approval: JsonObject; readonly digest: string } => {
  const { subject } = approval;
  const { before: _, after: __, ...shown } = subject.type === "edit" ? subject : { ...subject, before: "", after: "" };
  return {
    approval: toJsonObject({ ...approval, subject: shown }),
    digest: createHash("sha256").update(JSON.stringify(approval)).digest("hex"),
  };
};

/** An answer as it is logged. A verdict of the gate that denies the call is a refusal. */
const toDecision = (answer: ApprovalAnswer): JsonObject => {
  if (answer.type !== "judged") return toJsonObject(answer);
  const { decision, reason } = answer.verdict;
  return decision === "allow" ? { type: "judged" } : { type: "refuse", reason };
};

const toJsonObject = (value: object): JsonObject => toPlainJson(value).value as JsonObject;
