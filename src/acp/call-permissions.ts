import type { RequestPermissionRequest } from "@agentclientprotocol/sdk";
import type { AgentEvent } from "../agent/events.ts";
import type { Call } from "../conversation/parts.ts";
import type { RuleScope } from "../policy/gate/listed-rules.ts";
import type { PermissionRule } from "../policy/gate/permission-rules.ts";
import type { ApprovalRequest, CallStatus } from "../scheduler/events.ts";
import type { SessionClient } from "./client.ts";
import { permissionRequest, readPermissionAnswer } from "./permission.ts";
import type { OpenedSession } from "./session.ts";
import { toolCallId } from "./updates.ts";

/** The session whose calls are asked about. */
export type PermissionHost = {
  readonly client: Pick<SessionClient, "request">;
  readonly session: () => OpenedSession;
  /** Removes secrets from a call that is shown. */
  readonly redact: (call: RequestPermissionRequest["toolCall"]) => RequestPermissionRequest["toolCall"];
  readonly notice: (text: string) => void;
  readonly cancel: () => void;
};

/** Asks the client about calls that need approval, and withdraws a question once its call has moved on. */
export class CallPermissions {
  readonly #host: PermissionHost;
  readonly #calls = new Map<string, Call>();
  /** The permission questions that wait, by call. */
  readonly #questions = new Map<string, AbortController>();

  constructor(host: PermissionHost) {
    this.#host = host;
  }

  /** Follows the events of the agent, or of a subagent. */
  watch(event: AgentEvent, agent?: string): void {
    switch (event.type) {
      case "agent":
        return this.watch(event.event, event.agent);
      case "call-requested":
        return void this.#calls.set(toolCallId(event.call.id, agent), event.call);
      case "call-updated":
        return this.#watchStatus(toolCallId(event.call, agent), event.call, event.status, agent);
      default:
    }
  }

  /** Ignores all answers that are still to come: the turn is cancelled. */
  dropQuestions(): void {
    this.#questions.clear();
  }

  /** Forgets the calls of a turn that has ended. */
  endTurn(): void {
    this.dropQuestions();
    this.#calls.clear();
  }

  #watchStatus(id: string, callId: Call["id"], status: CallStatus, agent: string | undefined): void {
    this.#questions.get(id)?.abort();
    this.#questions.delete(id);
    if (status.state === "awaiting_approval") void this.#ask(id, callId, status.approval, agent);
  }

  /** Asks about one call. A late answer, to a question that was withdrawn or of an old turn, changes nothing. */
  async #ask(id: string, callId: Call["id"], approval: ApprovalRequest, agent: string | undefined): Promise<void> {
    const { client, session, redact, cancel } = this.#host;
    const { opened, folder } = session();
    const call = this.#calls.get(id) ?? unknownCall(callId);
    const question = new AbortController();
    this.#questions.set(id, question);
    const { toolCall, options } = permissionRequest({ id, call, approval, folder });
    const answer = await client
      .request("session/request_permission", { toolCall: redact(toolCall), options }, question.signal)
      .catch(() => undefined);
    if (this.#questions.get(id) !== question) return;
    this.#questions.delete(id);
    const decision = readPermissionAnswer(answer, approval);
    // Closing the question is cancelling the turn, as in the protocol.
    if (decision.type === "cancel") return cancel();
    if (decision.type !== "never") return void opened.agent.decide(callId, decision, agent);
    await this.#deny(decision.rule, decision.scope);
    opened.agent.decide(callId, { type: "refuse" }, agent);
  }

  /** Adds a rule that denies calls from now on. One that cannot be stored holds for the session, and that is said. */
  async #deny(rule: PermissionRule, scope: RuleScope): Promise<void> {
    const { agent, services } = this.#host.session().opened;
    const { gate } = await services();
    await gate.addRule(rule, { list: "deny", scope }).catch(async (error: unknown) => {
      this.#host.notice(error instanceof Error ? error.message : String(error));
      await gate.addRule(rule, { list: "deny", scope: "session" });
    });
    await agent.reevaluateApprovals();
  }
}

const unknownCall = (id: Call["id"]): Call => ({ type: "call", id, tool: "", input: { type: "parsed", value: {} } });
