import { toPlainJson, type JsonObject } from "../../conversation/json.ts";
import type { AddedRules, PermissionGate, PermissionVerdict } from "../../policy/gate/create.ts";
import type { GateRequest } from "../../policy/gate/request.ts";
import type { ApprovedEdit, Capabilities } from "../../tools/capabilities.ts";
import { ToolFailure, type EditProposal } from "../../tools/tool.ts";
import { describeApproval, type ApprovalContext } from "../approval/describe.ts";
import type { CallHookDecision, CallHooks, HookedCall } from "../call-hooks.ts";
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
import { CallParkedError, CallStoppedError, untilAborted, withTimeout } from "./stop.ts";
import { validateCall, validateInput, type ValidCall } from "./validate.ts";

/** Everything a call needs to run. */
export type CallContext = {
  readonly tools: ToolRegistry;
  readonly gate: PermissionGate;
  readonly capabilities: CreateCapabilities;
  readonly clock: SchedulerClock;
  readonly hooks: CallHooks | undefined;
  readonly toolTimeLimit: number;
  readonly slots: Slots;
  /** The calls that came before this one and have not ended. */
  readonly earlierCalls: (call: ActiveCall) => readonly ActiveCall[];
  /** Called when an answer of "always" added permission rules: they may answer other pending approvals. */
  readonly onRulesAdded: (added: AddedRules) => void;
  readonly onOutput: (call: ActiveCall, output: string) => void;
};

/** Runs a call from validation to its end, and converts every error into a result. `parked` if it was set aside before it began. */
export const runCall = async (call: ActiveCall, context: CallContext): Promise<CallCompletion | "parked"> => {
  try {
    call.setStatus({ state: "validating", call: call.call });
    const permitted = await decidePermission(call, context, await prepareCall(call, context));
    call.setStatus({ state: "scheduled", title: permitted.valid.title });
    return await executeCall(call, context, await decidePermissionAgain(call, context, permitted));
  } catch (error) {
    return error instanceof CallParkedError ? "parked" : resultFromError(error);
  }
};

type PreparedCall = { readonly valid: ValidCall; readonly resolved: ResolvedResources };

/**
 * Validates a call and resolves its resources. A call that writes waits here for its predecessors, so that the approval
 * shows the edit that will really be made.
 */
const prepareCall = async (call: ActiveCall, context: CallContext): Promise<PreparedCall> => {
  const valid = await applyCallHooks(
    call,
    context,
    await limitStep(call, context, validateCall(call.call, context.tools)),
  );
  call.server = valid.server;
  // Recording takes the disk a while; an error is reported when the call is about to run.
  if (!isReadOnly(valid)) call.recorder.recordRequest().catch(() => undefined);
  const resolved = await resolveCall(call, context, valid);
  call.setResources(resolved);
  if (resolved.writes.length === 0 || !(await waitForPredecessors(call, context))) return { valid, resolved };
  return { valid, resolved: await resolveCall(call, context, valid) };
};

/** Runs the hooks before a call. Arguments they change are validated again; a refusal ends the call. */
const applyCallHooks = async (call: ActiveCall, context: CallContext, valid: ValidCall): Promise<ValidCall> => {
  const { hooks } = context;
  if (hooks === undefined) return valid;
  const decision = await untilAborted(call.signal, hooks.beforeCall(toHookedCall(call, valid), call.signal));
  return applyHookDecision(call, context, valid, decision);
};

const applyHookDecision = async (
  call: ActiveCall,
  context: CallContext,
  valid: ValidCall,
  { decision, reason, input }: CallHookDecision,
): Promise<ValidCall> => {
  if (decision === "deny") throw denyByHook(call, reason);
  if (decision !== undefined) call.hook = { decision, reason };
  if (input === undefined) return valid;
  const changed = await limitStep(call, context, validateInput(valid.tool, input, valid));
  call.changedInput = input;
  return changed;
};

const denyByHook = (call: ActiveCall, reason: string): ToolFailure => {
  call.decision = "reject";
  call.denial = { reason, allowedBy: [] };
  return new ToolFailure("policy_violation", `A hook denied this call: ${reason}`);
};

const toHookedCall = ({ call: { id, tool } }: ActiveCall, { input, server }: ValidCall): HookedCall => ({
  id,
  tool,
  input: toPlainJson(input).value as JsonObject,
  server,
});

const isReadOnly = ({ tool }: ValidCall): boolean => tool.isReadOnly === true;

const resolveCall = (call: ActiveCall, context: CallContext, valid: ValidCall): Promise<ResolvedResources> =>
  limitStep(call, context, resolveResources(valid, readOnlyCapabilities(call, context).files));

/** Waits for the calls this one must follow, and is set aside with them. Returns whether there were any. */
const waitForPredecessors = async (call: ActiveCall, context: CallContext): Promise<boolean> => {
  const earlier = context.earlierCalls(call);
  await untilAborted(call.signal, Promise.all(earlier.map(({ resourcesKnown }) => resourcesKnown)));
  const { resources } = call;
  const before = earlier.filter((other) => resources && other.resources && mustWaitFor(resources, other.resources));
  const ends = await untilAborted(call.signal, Promise.all(before.map(({ ended }) => ended)));
  if (ends.includes("parked")) {
    await untilAborted(call.signal, call.recorder.recordQuestion(call.call.id));
    throw new CallParkedError();
  }
  return before.length > 0;
};

type PermittedCall = PreparedCall & { readonly approved?: ApprovedEdit };

/** Asks the permission gate, and the user where the gate says so. */
const decidePermission = async (
  call: ActiveCall,
  context: CallContext,
  ready: PreparedCall,
): Promise<PermittedCall> => {
  const { tool, server, identity, input } = ready.valid;
  const touches = ready.resolved;
  const agent = tool.remoteAgent?.(input);
  const request: GateRequest = {
    tool: tool.name,
    access: tool.access,
    server,
    identity,
    agent,
    hook: call.hook,
    touches,
  };
  const verdict = await limitStep(call, context, context.gate.judge(request));
  if (isQuestion(verdict)) {
    const answered = await askApprovalHooks(call, context, ready, verdict.reason);
    if (answered !== undefined) return decidePermission(call, context, answered);
  }
  if (verdict.decision === "deny") throw denyCall(call, verdict);
  if (verdict.decision === "allow") {
    call.decision = "auto_accept";
    return ready;
  }
  const root = readOnlyCapabilities(call, context).files.roots[0] ?? "/";
  const proposal =
    tool.propose && (await limitStep(call, context, tool.propose(input, readOnlyCapabilities(call, context))));
  return askForApproval(call, context, request, { ...ready, verdict, root, proposal, firstProposal: proposal });
};

/** Whether a person would be asked, if one were there. */
const isQuestion = ({ decision, allowedBy }: PermissionVerdict): boolean =>
  decision === "ask" || (decision === "deny" && allowedBy !== undefined);

/** Asks the hooks for approvals, once per call. Returns the call to judge again, if they allow it. */
const askApprovalHooks = async (
  call: ActiveCall,
  context: CallContext,
  ready: PreparedCall,
  reason: string,
): Promise<PreparedCall | undefined> => {
  const { hooks } = context;
  if (hooks === undefined || call.hasAskedHooks) return undefined;
  call.hasAskedHooks = true;
  await untilAborted(call.signal, call.recorder.recordRequest());
  const asked = hooks.beforeApproval(toHookedCall(call, ready.valid), reason, call.signal);
  const decision = await untilAborted(call.signal, asked);
  if (decision.decision === "ask" || (decision.decision === undefined && decision.input === undefined))
    return undefined;
  const valid = await applyHookDecision(call, context, ready.valid, decision);
  return valid === ready.valid ? ready : { valid, resolved: await resolveCall(call, context, valid) };
};

/** Asks the gate again about an auto-approved command that waited for writes: they may have changed what it runs. */
const decidePermissionAgain = async (
  call: ActiveCall,
  context: CallContext,
  permitted: PermittedCall,
): Promise<PermittedCall> => {
  if (permitted.resolved.command === undefined || call.decision !== "auto_accept") return permitted;
  if (!(await waitForPredecessors(call, context))) return permitted;
  const again = await decidePermission(call, context, permitted);
  if (again !== permitted) call.setStatus({ state: "scheduled", title: again.valid.title });
  return again;
};

const denyCall = (call: ActiveCall, { reason, allowedBy = [] }: PermissionVerdict): ToolFailure => {
  call.decision = "reject";
  call.denial = { reason, allowedBy };
  return new ToolFailure("policy_violation", reason);
};

/** Asks the user until an answer decides. */
const askForApproval = async (
  call: ActiveCall,
  context: CallContext,
  request: GateRequest,
  question: ApprovalContext,
): Promise<PermittedCall> => {
  const approval = await limitStep(call, context, describeApproval(question));
  const askedAt = context.clock.elapsed();
  context.hooks?.approvalRequested(toHookedCall(call, question.valid), approval.title);
  const answer = await call.ask(approval, request).finally(() => {
    call.approvalWaitMs += context.clock.elapsed() - askedAt;
  });
  if (answer.type === "edit")
    return askForApproval(call, context, request, await applyUserEdit(call, context, question, answer.text));
  if (answer.type === "once" || answer.type === "always")
    await limitStep(call, context, context.gate.recordApproval(request));
  await applyDecision(call, context, question, answer);
  const { valid, resolved, proposal, firstProposal } = question;
  if (proposal === undefined) return { valid, resolved };
  const proposed = firstProposal === undefined || firstProposal === proposal ? {} : { proposed: firstProposal.after };
  return { valid, resolved, approved: { before: proposal.before, after: proposal.after, ...proposed } };
};

/** Applies an answer. Throws where it is a refusal. */
const applyDecision = async (
  call: ActiveCall,
  context: CallContext,
  { verdict, proposal, firstProposal }: ApprovalContext,
  answer: Exclude<ApprovalAnswer, { type: "edit" }>,
): Promise<void> => {
  switch (answer.type) {
    case "once":
      call.decision = proposal === firstProposal ? "accept" : "modify";
      return;
    case "always": {
      call.decision = proposal === firstProposal ? "accept" : "modify";
      const always = verdict.details.always.find(({ type }) => type === answer.rule);
      if (always === undefined) return;
      context.onRulesAdded(await limitStep(call, context, context.gate.remember(always, answer.scope)));
      return;
    }
    case "judged":
      if (answer.verdict.decision !== "allow") throw denyCall(call, answer.verdict);
      call.decision = "auto_accept";
      return;
    case "refuse":
      call.decision = "reject";
      throw new CallRefusedError(
        answer.reason === undefined
          ? "The user refused this call. Do not repeat it; continue another way, or ask."
          : `The user refused this call: ${answer.reason}`,
      );
  }
};

/** The approval with the user's text in place of the proposed one, or with the reason why that text cannot be used. */
const applyUserEdit = async (
  call: ActiveCall,
  context: CallContext,
  question: ApprovalContext,
  text: string,
): Promise<ApprovalContext> => {
  const { valid, resolved, proposal } = question;
  const { tool } = valid;
  if (tool.amend === undefined || tool.propose === undefined || proposal === undefined)
    return { ...question, problem: `What ${tool.name} does cannot be edited.` };
  try {
    const changed = await limitStep(call, context, validateInput(tool, tool.amend(valid.input, proposal, text), valid));
    const resources = await resolveCall(call, context, changed);
    if (writtenPaths(resources) !== writtenPaths(resolved)) throw new Error("It would write to another file.");
    const renewed: EditProposal = await limitStep(
      call,
      context,
      tool.propose(changed.input, readOnlyCapabilities(call, context)),
    );
    return { ...question, valid: changed, resolved: resources, proposal: renewed, problem: undefined };
  } catch (error) {
    if (error instanceof CallStoppedError || !(error instanceof Error)) throw error;
    return { ...question, problem: error.message };
  }
};

const writtenPaths = ({ writes }: ResolvedResources): string => JSON.stringify(writes.map(({ path }) => path));

/** Runs a permitted call once its predecessors have ended and a process slot is free. */
const executeCall = async (
  call: ActiveCall,
  context: CallContext,
  permitted: PermittedCall,
): Promise<CallCompletion> => {
  const { valid, resolved, approved } = permitted;
  const { tool, input, title, server } = valid;
  await waitForPredecessors(call, context);
  const releaseSlot =
    tool.access === "execute" && server === undefined ? await context.slots.acquire(call.signal) : undefined;
  try {
    call.signal.throwIfAborted();
    if (!isReadOnly(valid)) await untilAborted(call.signal, call.recorder.recordRequest());
    call.setStatus({ state: "executing", title });
    if (context.hooks !== undefined) call.ranAs = toHookedCall(call, valid);
    return await execute({
      run: (grant) => {
        const capabilities = context.capabilities(approved === undefined ? grant : { ...grant, approved });
        return tool.run(input, restrictCapabilities(capabilities, { tool: tool.name, resolved }));
      },
      isAtomic: tool.access === "write",
      clock: context.clock,
      timeLimit: tool.hasNoTimeout === true ? undefined : context.toolTimeLimit,
      signal: call.signal,
      onOutput: (output) => context.onOutput(call, output),
    });
  } finally {
    releaseSlot?.();
  }
};

/** Capabilities for use before approval: nothing can be changed with them. */
const readOnlyCapabilities = (call: ActiveCall, { capabilities }: CallContext): Capabilities =>
  restrictCapabilities(capabilities({ signal: call.signal, report: () => undefined }), {
    tool: call.call.tool,
    resolved: { reads: [], writes: [], urls: [] },
  });

/** Limits one step to the time limit of a tool, and ends it when the call is stopped. */
const limitStep = <Result>(
  call: ActiveCall,
  { clock, toolTimeLimit }: CallContext,
  work: Promise<Result>,
): Promise<Result> => untilAborted(call.signal, withTimeout(clock, toolTimeLimit, work));
