import type { PermissionGate, PermissionVerdict } from "../../policy/gate/create.ts";
import type { GateRequest } from "../../policy/gate/request.ts";
import type { ApprovedEdit, Capabilities } from "../../tools/capabilities.ts";
import { ToolFailure, type EditProposal } from "../../tools/tool.ts";
import { describeApproval, type ApprovalContext } from "../approval/describe.ts";
import type { CreateCapabilities } from "../capabilities.ts";
import type { SchedulerClock } from "../clock.ts";
import { CallRefusedError, resultFromError, type CallCompletion } from "../result/call-result.ts";
import { execute } from "./execute.ts";
import type { ApprovalAnswer, ActiveCall } from "./active-call.ts";
import { restrictCapabilities } from "./restrict-capabilities.ts";
import { mustWaitFor } from "./order.ts";
import type { ToolRegistry } from "../registry.ts";
import { resolveResources, type ResolvedResources } from "./resolve-resources.ts";
import type { Slots } from "./slots.ts";
import { CallStoppedError, untilAborted, withTimeout } from "./stop.ts";
import { validateCall, validateInput, type ValidCall } from "./validate.ts";

/** What calls live on. */
export type CallContext = {
  readonly tools: ToolRegistry;
  readonly gate: PermissionGate;
  readonly capabilities: CreateCapabilities;
  readonly clock: SchedulerClock;
  readonly toolTimeLimit: number;
  readonly slots: Slots;
  /** The calls that came before this one and have not ended. */
  readonly earlierCalls: (one: ActiveCall) => readonly ActiveCall[];
  /** Something was answered for always: other questions may be answered by it. */
  readonly onRuleAdded: () => void;
  readonly onOutput: (one: ActiveCall, output: string) => void;
};

/** Takes a call from request to end, whatever happens on the way. */
export const runCall = async (one: ActiveCall, around: CallContext): Promise<CallCompletion> => {
  try {
    one.setStatus({ state: "validating", call: one.call });
    const permitted = await decidePermission(one, around, await prepareCall(one, around));
    one.setStatus({ state: "scheduled", title: permitted.valid.title });
    return await executeCall(one, around, await decidePermissionAgain(one, around, permitted));
  } catch (error) {
    return resultFromError(error);
  }
};

type PreparedCall = { readonly valid: ValidCall; readonly resolved: ResolvedResources };

/** Understands a call. One that writes waits here for those before it, so that what is asked about is what will be. */
const prepareCall = async (one: ActiveCall, around: CallContext): Promise<PreparedCall> => {
  const valid = await limitStep(one, around, validateCall(one.call, around.tools));
  one.server = valid.server;
  // It takes the disk a while; a failure is heard of when the call is about to run.
  if (!isReadOnly(valid)) one.recordRequest().catch(() => undefined);
  const resolved = await resolveCall(one, around, valid);
  one.setResources(resolved);
  if (resolved.writes.length === 0 || !(await waitForPredecessors(one, around))) return { valid, resolved };
  return { valid, resolved: await resolveCall(one, around, valid) };
};

const isReadOnly = ({ tool }: ValidCall): boolean => tool.isReadOnly === true;

const resolveCall = (one: ActiveCall, around: CallContext, valid: ValidCall): Promise<ResolvedResources> =>
  limitStep(one, around, resolveResources(valid, readOnlyCapabilities(one, around).files));

/** Waits for the calls this one must follow, and tells whether there were any. */
const waitForPredecessors = async (one: ActiveCall, around: CallContext): Promise<boolean> => {
  const earlier = around.earlierCalls(one);
  await untilAborted(one.signal, Promise.all(earlier.map(({ resourcesKnown: touched }) => touched)));
  const { resources: resolved } = one;
  const before = earlier.filter((other) => resolved && other.resources && mustWaitFor(resolved, other.resources));
  await untilAborted(one.signal, Promise.all(before.map(({ ended }) => ended)));
  return before.length > 0;
};

type PermittedCall = PreparedCall & { readonly approved?: ApprovedEdit };

/** Has a call judged, and asks where the gate leaves it to the person. */
const decidePermission = async (one: ActiveCall, around: CallContext, ready: PreparedCall): Promise<PermittedCall> => {
  const { tool, server, identity, input } = ready.valid;
  const request: GateRequest = { tool: tool.name, access: tool.access, server, identity, touches: ready.resolved };
  const verdict = await limitStep(one, around, around.gate.judge(request));
  if (verdict.decision === "deny") throw denyCall(one, verdict);
  if (verdict.decision === "allow") {
    one.decision = "auto_accept";
    return ready;
  }
  const root = readOnlyCapabilities(one, around).files.roots[0] ?? "/";
  const proposal =
    tool.propose && (await limitStep(one, around, tool.propose(input, readOnlyCapabilities(one, around))));
  return askForApproval(one, around, request, { ...ready, verdict, root, proposal, firstProposal: proposal });
};

/** Has a command judged anew that nobody was asked about and that waited for writes: they may have changed what it runs. */
const decidePermissionAgain = async (
  one: ActiveCall,
  around: CallContext,
  permitted: PermittedCall,
): Promise<PermittedCall> => {
  if (permitted.resolved.command === undefined || one.decision !== "auto_accept") return permitted;
  if (!(await waitForPredecessors(one, around))) return permitted;
  const again = await decidePermission(one, around, permitted);
  if (again !== permitted) one.setStatus({ state: "scheduled", title: again.valid.title });
  return again;
};

const denyCall = (one: ActiveCall, { reason, allowedBy = [] }: PermissionVerdict): ToolFailure => {
  one.decision = "reject";
  one.denial = { reason, allowedBy };
  return new ToolFailure("policy_violation", reason);
};

/** Asks until there is an answer that settles it. */
const askForApproval = async (
  one: ActiveCall,
  around: CallContext,
  request: GateRequest,
  question: ApprovalContext,
): Promise<PermittedCall> => {
  const approval = await limitStep(one, around, describeApproval(question));
  const answer = await one.ask(approval, request);
  if (answer.type === "edit")
    return askForApproval(one, around, request, await applyUserEdit(one, around, question, answer.text));
  if (answer.type === "once" || answer.type === "always")
    await limitStep(one, around, around.gate.recordApproval(request));
  applyDecision(one, around, question, answer);
  const { valid, resolved, proposal, firstProposal: first } = question;
  if (proposal === undefined) return { valid, resolved };
  const proposed = first === undefined || first === proposal ? {} : { proposed: first.after };
  return { valid, resolved, approved: { before: proposal.before, after: proposal.after, ...proposed } };
};

/** Takes note of an answer. Throws where it is a no. */
const applyDecision = (
  one: ActiveCall,
  around: CallContext,
  { verdict, proposal, firstProposal: first }: ApprovalContext,
  answer: Exclude<ApprovalAnswer, { type: "edit" }>,
): void => {
  switch (answer.type) {
    case "once":
      one.decision = proposal === first ? "accept" : "modify";
      return;
    case "always": {
      one.decision = proposal === first ? "accept" : "modify";
      const always = verdict.details.always.find(({ type }) => type === answer.scope);
      if (always === undefined) return;
      around.gate.remember(always);
      around.onRuleAdded();
      return;
    }
    case "judged":
      if (answer.verdict.decision !== "allow") throw denyCall(one, answer.verdict);
      one.decision = "auto_accept";
      return;
    case "refuse":
      one.decision = "reject";
      throw new CallRefusedError(
        answer.reason === undefined
          ? "The user refused this call. Do not repeat it; go on another way, or ask."
          : `The user refused this call: ${answer.reason}`,
      );
  }
};

/** The question anew, with the person's text in place of the proposed one; or with the reason why that cannot be. */
const applyUserEdit = async (
  one: ActiveCall,
  around: CallContext,
  question: ApprovalContext,
  text: string,
): Promise<ApprovalContext> => {
  const { valid, resolved, proposal } = question;
  const { tool } = valid;
  if (tool.amend === undefined || tool.propose === undefined || proposal === undefined)
    return { ...question, problem: `What ${tool.name} does cannot be edited.` };
  try {
    const changed = await limitStep(one, around, validateInput(tool, tool.amend(valid.input, proposal, text), valid));
    const touched = await resolveCall(one, around, changed);
    if (writtenPaths(touched) !== writtenPaths(resolved)) throw new Error("It would write to another place.");
    const renewed: EditProposal = await limitStep(
      one,
      around,
      tool.propose(changed.input, readOnlyCapabilities(one, around)),
    );
    return { ...question, valid: changed, resolved: touched, proposal: renewed, problem: undefined };
  } catch (error) {
    if (error instanceof CallStoppedError || !(error instanceof Error)) throw error;
    return { ...question, problem: error.message };
  }
};

const writtenPaths = ({ writes }: ResolvedResources): string => JSON.stringify(writes.map(({ path }) => path));

/** Runs a call that may run, once those before it have ended and there is a place for it. */
const executeCall = async (one: ActiveCall, around: CallContext, permitted: PermittedCall): Promise<CallCompletion> => {
  const { valid, resolved, approved } = permitted;
  const { tool, input, title, server } = valid;
  await waitForPredecessors(one, around);
  const leave = tool.access === "execute" && server === undefined ? await around.slots.acquire(one.signal) : undefined;
  try {
    one.signal.throwIfAborted();
    if (!isReadOnly(valid)) await untilAborted(one.signal, one.recordRequest());
    one.setStatus({ state: "executing", title });
    return await execute({
      run: (grant) => {
        const can = around.capabilities(approved === undefined ? grant : { ...grant, approved });
        return tool.run(input, restrictCapabilities(can, { tool: tool.name, resolved }));
      },
      isAtomic: tool.access === "write",
      clock: around.clock,
      timeLimit: tool.hasNoTimeout === true ? undefined : around.toolTimeLimit,
      signal: one.signal,
      onOutput: (output) => around.onOutput(one, output),
    });
  } finally {
    leave?.();
  }
};

/** Capabilities to look with, before anything is approved: nothing can be changed by them. */
const readOnlyCapabilities = (one: ActiveCall, { capabilities }: CallContext): Capabilities =>
  restrictCapabilities(capabilities({ signal: one.signal, report: () => undefined }), {
    tool: one.call.tool,
    resolved: { reads: [], writes: [], urls: [] },
  });

/** A step on the way, for no longer than a tool may take, and given up when the call is stopped. */
const limitStep = <Result>(
  one: ActiveCall,
  { clock, toolTimeLimit: toolTime }: CallContext,
  work: Promise<Result>,
): Promise<Result> => untilAborted(one.signal, withTimeout(clock, toolTime, work));
