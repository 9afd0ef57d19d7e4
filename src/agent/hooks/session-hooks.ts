import type { JsonObject } from "../../conversation/json.ts";
import type { UserPart } from "../../conversation/parts.ts";
import type { HookEngine, HookOccasion, HookOutcome } from "../../extensions/hooks/hook-engine.ts";
import { findShellFailure } from "../../extensions/hooks/hooked-call.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { HookedCall } from "../../scheduler/call-hooks.ts";
import type { ToolContent } from "../../tools/tool.ts";
import { changedInputNotice, hookContextNotice, hookStopNotice } from "../prompts.ts";
import type { ModelSwitch, SwitchDecision, TurnHooks } from "./turn-hooks.ts";

/** The hooks of one agent: of a session, or of a subagent in it. */
export type SessionHooksOptions = {
  readonly engine: HookEngine;
  /** Set for a subagent. */
  readonly agent?: { readonly id: string; readonly type: string };
};

/** Connects the points of a turn with the hooks of a session. */
export class SessionHooks implements TurnHooks {
  readonly #engine: HookEngine;
  readonly #options: SessionHooksOptions;
  readonly #context: string[] = [];
  readonly #notifications = new Set<Promise<unknown>>();
  #stop: string | undefined;
  #turnId: string | undefined;
  #begin: (() => void) | undefined;
  #start: Promise<unknown> | undefined;

  constructor(options: SessionHooksOptions) {
    this.#options = options;
    this.#engine = options.engine;
  }

  get watchesSwitches(): boolean {
    return this.#engine.has("PreModelSwitch") || this.#engine.has("PostModelSwitch");
  }

  /** Runs the hooks of the session's start: now, or with the first turn. The first request waits for them. */
  begin(
    source: "startup" | "resume",
    { signal, isEager }: { readonly signal: AbortSignal; readonly isEager: boolean },
  ): void {
    this.#begin = () => {
      this.#begin = undefined;
      this.#start = this.#run({ event: "SessionStart", subject: source, fields: { source } }, signal);
    };
    if (isEager) this.#begin();
  }

  /** Runs the hooks of a subagent's start. */
  async beginSubagent(signal: AbortSignal): Promise<void> {
    await this.#run({ event: "SubagentStart", subject: this.#options.agent?.type ?? "", fields: {} }, signal);
  }

  /** Runs the hooks of a session's end, and waits for those in the background. */
  async end(reason: string): Promise<void> {
    // A session that never began does not end.
    if (this.#start === undefined) return;
    await this.#start;
    await this.#run({ event: "SessionEnd", subject: reason, fields: { reason } }, new AbortController().signal);
    await Promise.all([...this.#notifications, this.#engine.close()]);
  }

  async startTurn(promptId: string | undefined): Promise<void> {
    this.#turnId = promptId;
    this.#begin?.();
    await this.#start;
  }

  async beforePrompt(
    parts: readonly UserPart[],
    signal: AbortSignal,
  ): Promise<{ readonly refusal?: string; readonly context: readonly string[] }> {
    // The task of a subagent is no prompt of the person.
    if (this.#options.agent !== undefined) return { context: [] };
    const prompt = parts.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
    const outcome = await this.#engine.run(this.#inTurn({ event: "UserPromptSubmit", fields: { prompt } }), signal);
    const refusal = outcome.decision === "deny" ? outcome.reason : outcome.stop;
    return {
      ...(refusal === undefined ? {} : { refusal }),
      context: outcome.context.map((text) => hookContextNotice("UserPromptSubmit", text)),
    };
  }

  async beforeStop(
    { text, isRepeated }: { readonly text: string; readonly isRepeated: boolean },
    signal: AbortSignal,
  ): Promise<{ readonly continueWith?: string }> {
    const { agent } = this.#options;
    const fields = { stop_hook_active: isRepeated, last_assistant_message: text };
    const outcome = await this.#engine.run(
      this.#inTurn(
        agent === undefined
          ? { event: "Stop", fields }
          : { event: "SubagentStop", subject: agent.type, fields: { ...fields, agent_transcript_path: null } },
      ),
      signal,
    );
    if (outcome.stop !== undefined || outcome.decision !== "deny") {
      this.#context.push(...outcome.context.map((each) => hookContextNotice("Stop", each)));
      return {};
    }
    return { continueWith: [hookStopNotice(outcome.reason), ...outcome.context].join("\n") };
  }

  async beforeCompaction(
    { trigger, focus }: { readonly trigger: "manual" | "auto"; readonly focus: string | undefined },
    signal: AbortSignal,
  ): Promise<{ readonly refusal?: string }> {
    const fields = { trigger, custom_instructions: focus ?? "" };
    const outcome = await this.#run({ event: "PreCompact", subject: trigger, fields }, signal);
    return outcome.decision === "deny" ? { refusal: outcome.reason } : {};
  }

  async afterCompaction(
    { trigger, info }: Parameters<TurnHooks["afterCompaction"]>[0],
    signal: AbortSignal,
  ): Promise<void> {
    const fields = { trigger, tokens_before: Math.ceil(info.before), tokens_after: info.after };
    await this.#run({ event: "PostCompact", subject: trigger, fields }, signal);
    if (this.#options.agent === undefined)
      await this.#run({ event: "SessionStart", subject: "compact", fields: { source: "compact" } }, signal);
  }

  async beforeSwitch(change: Parameters<TurnHooks["beforeSwitch"]>[0]): Promise<SwitchDecision> {
    const outcome = await this.#run(
      { event: "PreModelSwitch", subject: change.to, fields: describeSwitch(change) },
      new AbortController().signal,
    );
    const { decision, reason } = outcome;
    const decidedBy = (outcome.decidedBy ?? [])
      .map(({ hook, source }) => `${sanitizeForTerminal(hook.slice(0, 100), "line")} (${source})`)
      .join(", ");
    return { ...(decision === "ask" || decision === "deny" ? { decision } : {}), reason, decidedBy };
  }

  async afterSwitch(change: Parameters<TurnHooks["afterSwitch"]>[0]): Promise<void> {
    await this.#run(
      { event: "PostModelSwitch", subject: change.to, fields: describeSwitch(change) },
      new AbortController().signal,
    );
  }

  takeContext(): readonly string[] {
    return this.#context.splice(0);
  }

  takeStop(): string | undefined {
    const stop = this.#stop;
    this.#stop = undefined;
    return stop;
  }

  readonly calls: TurnHooks["calls"] = {
    beforeCall: async (call, signal) => {
      const outcome = await this.#run({ event: "PreToolUse", call, fields: { tool_use_id: call.id } }, signal);
      return this.#decide(call, outcome);
    },
    beforeApproval: async (call, reason, signal) => {
      const fields = { tool_use_id: call.id, reason };
      return this.#decide(call, await this.#run({ event: "PermissionRequest", call, fields }, signal));
    },
    approvalRequested: (call, title) => {
      const message = `Approval needed: ${title}`;
      const fields = { message, title: "Parley", notification_type: "permission_prompt" };
      const { signal } = new AbortController();
      const running = this.#run({ event: "Notification", subject: "permission_prompt", fields }, signal);
      this.#notifications.add(running);
      void running.finally(() => this.#notifications.delete(running));
    },
    afterCall: async (call, { state, content, error, durationMs }, signal) => {
      const common = { tool_use_id: call.id, duration_ms: Math.round(durationMs) };
      const response = { tool_response: describeContent(content) };
      const shellError = state === "success" ? findShellFailure(response.tool_response, call) : undefined;
      if (state === "success" && shellError === undefined) {
        await this.#run({ event: "PostToolUse", call, fields: { ...common, ...response } }, signal);
        return;
      }
      const failure = { error: shellError ?? error ?? state, is_interrupt: state === "cancelled" };
      const ran = shellError === undefined ? {} : response;
      await this.#run({ event: "PostToolUseFailure", call, fields: { ...common, ...failure, ...ran } }, signal);
    },
  };

  #decide(
    call: HookedCall,
    { decision, reason, input }: HookOutcome,
  ): Awaited<ReturnType<TurnHooks["calls"]["beforeCall"]>> {
    if (input !== undefined && decision !== "deny") this.#context.push(changedInputNotice(call.id, call.tool, input));
    return { ...(decision === undefined ? {} : { decision }), reason, ...(input === undefined ? {} : { input }) };
  }

  /** Runs hooks; their texts for the model wait for the next request. */
  async #run(occasion: HookOccasion, signal: AbortSignal): Promise<HookOutcome> {
    const outcome = await this.#engine.run(this.#inTurn(occasion), signal);
    this.#context.push(...outcome.context.map((text) => hookContextNotice(occasion.event, text)));
    this.#stop ??= outcome.stop;
    return outcome;
  }

  /** Adds the fields that name the turn and the subagent. */
  #inTurn(occasion: HookOccasion): HookOccasion {
    const { agent } = this.#options;
    const turn = { turn_id: agent?.id ?? this.#turnId ?? "0" };
    const fields = agent === undefined ? turn : { ...turn, agent_id: agent.id, agent_type: agent.type };
    return { ...occasion, fields: { ...occasion.fields, ...fields } };
  }
}

const describeSwitch = ({
  from,
  to,
  source,
  check,
}: ModelSwitch & Parameters<TurnHooks["beforeSwitch"]>[0]): JsonObject => ({
  from_model: from,
  to_model: to,
  requested_model: to,
  source,
  context_tokens: Math.ceil(check.tokens),
  context_window: check.context,
  fits: check.fits,
  prompt_cache_warm: check.uncached === 0,
  uncached_tokens: Math.ceil(check.uncached),
  estimated_cache_write_usd: check.cost ?? null,
  media_replaced: check.stubbed.length,
  thinking_lost: check.thinking.length,
});

/** A result as text, with a marker for each file. */
const describeContent = (content: readonly ToolContent[]): string => {
  const text = content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
  return text.length <= maxResponseLength ? text : `${text.slice(0, maxResponseLength).toWellFormed()}\n[cut]`;
};

/** Characters of a result that hooks get. */
const maxResponseLength = 100_000;
