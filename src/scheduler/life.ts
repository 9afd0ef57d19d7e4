import type { Gate, Verdict } from "../policy/gate.ts";
import type { GateRequest } from "../policy/gate-request.ts";
import type { Approved, Capabilities } from "../tools/capabilities.ts";
import { ToolFailure, type Proposal } from "../tools/tool.ts";
import { approvalOf, type Question } from "./approval.ts";
import type { CapabilitiesFor } from "./capabilities.ts";
import type { SchedulerClock } from "./clock.ts";
import { Refused, thrown, type Ending } from "./ending.ts";
import { execute } from "./execute.ts";
import type { Answer, LiveCall } from "./live-call.ts";
import { narrow } from "./narrow.ts";
import { mustFollow } from "./order.ts";
import type { ToolRegistry } from "./registry.ts";
import { resolveTouches, type Resolved } from "./resolve.ts";
import type { Slots } from "./slots.ts";
import { Stopped, until, within } from "./stop.ts";
import { validate, validInput, type ValidCall } from "./validate.ts";

/** What calls live on. */
export type Surroundings = {
  readonly tools: ToolRegistry;
  readonly gate: Gate;
  readonly capabilities: CapabilitiesFor;
  readonly clock: SchedulerClock;
  readonly toolTime: number;
  readonly slots: Slots;
  /** The calls that came before this one and have not ended. */
  readonly earlier: (one: LiveCall) => readonly LiveCall[];
  /** Something was answered for always: other questions may be answered by it. */
  readonly remembered: () => void;
  readonly tell: (one: LiveCall, output: string) => void;
};

/** Takes a call from request to end, whatever happens on the way. */
export const live = async (one: LiveCall, around: Surroundings): Promise<Ending> => {
  try {
    one.changed({ state: "validating", call: one.call });
    const permitted = await permit(one, around, await prepare(one, around));
    one.changed({ state: "scheduled", title: permitted.valid.title });
    return await carryOut(one, around, await permitAgain(one, around, permitted));
  } catch (error) {
    return thrown(error);
  }
};

type Ready = { readonly valid: ValidCall; readonly resolved: Resolved };

/** Understands a call. One that writes waits here for those before it, so that what is asked about is what will be. */
const prepare = async (one: LiveCall, around: Surroundings): Promise<Ready> => {
  const valid = await step(one, around, validate(one.call, around.tools));
  one.server = valid.server;
  // It takes the disk a while; a failure is heard of when the call is about to run.
  if (!leavesNoTrace(valid)) one.record().catch(() => undefined);
  const resolved = await resolve(one, around, valid);
  one.touches(resolved);
  if (resolved.writes.length === 0 || !(await predecessors(one, around))) return { valid, resolved };
  return { valid, resolved: await resolve(one, around, valid) };
};

const leavesNoTrace = ({ tool }: ValidCall): boolean => tool.leavesNoTrace === true;

const resolve = (one: LiveCall, around: Surroundings, valid: ValidCall): Promise<Resolved> =>
  step(one, around, resolveTouches(valid, looking(one, around).files));

/** Waits for the calls this one must follow, and tells whether there were any. */
const predecessors = async (one: LiveCall, around: Surroundings): Promise<boolean> => {
  const earlier = around.earlier(one);
  await until(one.signal, Promise.all(earlier.map(({ touched }) => touched)));
  const { resolved } = one;
  const before = earlier.filter((other) => resolved && other.resolved && mustFollow(resolved, other.resolved));
  await until(one.signal, Promise.all(before.map(({ ended }) => ended)));
  return before.length > 0;
};

type Permitted = Ready & { readonly approved?: Approved };

/** Has a call judged, and asks where the gate leaves it to the person. */
const permit = async (one: LiveCall, around: Surroundings, ready: Ready): Promise<Permitted> => {
  const { tool, server, identity, input } = ready.valid;
  const request: GateRequest = { tool: tool.name, access: tool.access, server, identity, touches: ready.resolved };
  const verdict = await step(one, around, around.gate.judge(request));
  if (verdict.decision === "deny") throw denied(one, verdict);
  if (verdict.decision === "allow") {
    one.decision = "auto_accept";
    return ready;
  }
  const root = looking(one, around).files.roots[0] ?? "/";
  const proposal = tool.propose && (await step(one, around, tool.propose(input, looking(one, around))));
  return asked(one, around, request, { ...ready, verdict, root, proposal, first: proposal });
};

/** Has a command judged anew that nobody was asked about and that waited for writes: they may have changed what it runs. */
const permitAgain = async (one: LiveCall, around: Surroundings, permitted: Permitted): Promise<Permitted> => {
  if (permitted.resolved.command === undefined || one.decision !== "auto_accept") return permitted;
  if (!(await predecessors(one, around))) return permitted;
  const again = await permit(one, around, permitted);
  if (again !== permitted) one.changed({ state: "scheduled", title: again.valid.title });
  return again;
};

const denied = (one: LiveCall, { reason, allowedBy = [] }: Verdict): ToolFailure => {
  one.decision = "reject";
  one.denial = { reason, allowedBy };
  return new ToolFailure("policy_violation", reason);
};

/** Asks until there is an answer that settles it. */
const asked = async (
  one: LiveCall,
  around: Surroundings,
  request: GateRequest,
  question: Question,
): Promise<Permitted> => {
  const approval = await step(one, around, approvalOf(question));
  const answer = await one.ask(approval, request);
  if (answer.type === "edit") return asked(one, around, request, await amended(one, around, question, answer.text));
  if (answer.type === "once" || answer.type === "always") await step(one, around, around.gate.approved(request));
  settle(one, around, question, answer);
  const { valid, resolved, proposal, first } = question;
  if (proposal === undefined) return { valid, resolved };
  const proposed = first === undefined || first === proposal ? {} : { proposed: first.after };
  return { valid, resolved, approved: { before: proposal.before, after: proposal.after, ...proposed } };
};

/** Takes note of an answer. Throws where it is a no. */
const settle = (
  one: LiveCall,
  around: Surroundings,
  { verdict, proposal, first }: Question,
  answer: Exclude<Answer, { type: "edit" }>,
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
      around.remembered();
      return;
    }
    case "judged":
      if (answer.verdict.decision !== "allow") throw denied(one, answer.verdict);
      one.decision = "auto_accept";
      return;
    case "refuse":
      one.decision = "reject";
      throw new Refused(
        answer.reason === undefined
          ? "The user refused this call. Do not repeat it; go on another way, or ask."
          : `The user refused this call: ${answer.reason}`,
      );
  }
};

/** The question anew, with the person's text in place of the proposed one; or with the reason why that cannot be. */
const amended = async (one: LiveCall, around: Surroundings, question: Question, text: string): Promise<Question> => {
  const { valid, resolved, proposal } = question;
  const { tool } = valid;
  if (tool.amend === undefined || tool.propose === undefined || proposal === undefined)
    return { ...question, problem: `What ${tool.name} does cannot be edited.` };
  try {
    const changed = await step(one, around, validInput(tool, tool.amend(valid.input, proposal, text), valid));
    const touched = await resolve(one, around, changed);
    if (pathsOf(touched) !== pathsOf(resolved)) throw new Error("It would write to another place.");
    const renewed: Proposal = await step(one, around, tool.propose(changed.input, looking(one, around)));
    return { ...question, valid: changed, resolved: touched, proposal: renewed, problem: undefined };
  } catch (error) {
    if (error instanceof Stopped || !(error instanceof Error)) throw error;
    return { ...question, problem: error.message };
  }
};

const pathsOf = ({ writes }: Resolved): string => JSON.stringify(writes.map(({ path }) => path));

/** Runs a call that may run, once those before it have ended and there is a place for it. */
const carryOut = async (one: LiveCall, around: Surroundings, permitted: Permitted): Promise<Ending> => {
  const { valid, resolved, approved } = permitted;
  const { tool, input, title, server } = valid;
  await predecessors(one, around);
  const leave = tool.access === "execute" && server === undefined ? await around.slots.take(one.signal) : undefined;
  try {
    one.signal.throwIfAborted();
    if (!leavesNoTrace(valid)) await until(one.signal, one.record());
    one.changed({ state: "executing", title });
    return await execute({
      run: (grant) => {
        const can = around.capabilities(approved === undefined ? grant : { ...grant, approved });
        return tool.run(input, narrow(can, { tool: tool.name, resolved }));
      },
      atomic: tool.access === "write",
      clock: around.clock,
      most: tool.isPatient === true ? undefined : around.toolTime,
      signal: one.signal,
      tell: (output) => around.tell(one, output),
    });
  } finally {
    leave?.();
  }
};

/** Capabilities to look with, before anything is approved: nothing can be changed by them. */
const looking = (one: LiveCall, { capabilities }: Surroundings): Capabilities =>
  narrow(capabilities({ signal: one.signal, report: () => undefined }), {
    tool: one.call.tool,
    resolved: { reads: [], writes: [], urls: [] },
  });

/** A step on the way, for no longer than a tool may take, and given up when the call is stopped. */
const step = <Result>(one: LiveCall, { clock, toolTime }: Surroundings, work: Promise<Result>): Promise<Result> =>
  until(one.signal, within(clock, toolTime, work));
