import type { Call, CallId } from "../conversation/parts.ts";
import type { ApprovalDecision, ApprovalRequest, CallStatus } from "../scheduler/events.ts";
import type { Agent } from "./agent.ts";
import type { AgentEvent } from "./events.ts";
import type { ApprovalQuestion, ApproveCall } from "./options.ts";

/**
 * Creates a listener that answers approvals with a function. An answer counts only for the question it was given to: if
 * the call asks something else meanwhile, that is a new question.
 */
export const answerApprovals = (
  approve: ApproveCall,
  agent: Promise<Agent>,
  signal: AbortSignal,
): ((event: AgentEvent) => void) => {
  const calls = new Map<string, Call>();
  const pending = new Map<string, AbortController>();

  const answer = async (question: ApprovalQuestion, abort: AbortController): Promise<void> => {
    const decision = await decide(approve, question, AbortSignal.any([abort.signal, signal]));
    if (abort.signal.aborted || signal.aborted) return;
    const waiting = await agent;
    if (waiting.pendingApprovals().some(({ approval }) => approval === question.approval))
      waiting.decide(question.call.id, decision, question.agent);
  };

  const onStatus = (id: CallId, status: CallStatus, name: string | undefined): void => {
    const key = JSON.stringify([name, id]);
    pending.get(key)?.abort();
    pending.delete(key);
    if (status.state === "validating") calls.set(key, status.call);
    if (status.state !== "awaiting_approval") return;
    const call = calls.get(key);
    if (call === undefined) throw new Error(`${id} asks for approval before it was validated.`);
    const abort = new AbortController();
    pending.set(key, abort);
    void answer(toQuestion(call, status.approval, name), abort);
  };

  const listen = (event: AgentEvent, name?: string): void => {
    if (event.type === "agent") return listen(event.event, event.agent);
    if (event.type === "call-updated") return onStatus(event.call, event.status, name);
    if (event.type !== "call-completed") return;
    const key = JSON.stringify([name, event.finished.call.id]);
    pending.get(key)?.abort();
    pending.delete(key);
    calls.delete(key);
  };
  return listen;
};

const toQuestion = (call: Call, approval: ApprovalRequest, agent: string | undefined): ApprovalQuestion =>
  agent === undefined ? { call, approval } : { call, approval, agent };

/** The decision of the program. An error refuses the call, and the model learns why. */
const decide = async (
  approve: ApproveCall,
  question: ApprovalQuestion,
  signal: AbortSignal,
): Promise<ApprovalDecision> => {
  try {
    return await approve(question, signal);
  } catch (error) {
    return { type: "refuse", reason: error instanceof Error ? error.message : String(error) };
  }
};
