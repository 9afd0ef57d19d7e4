import type { JsonObject } from "../../conversation/json.ts";
import type { HookEvent } from "../../settings/schema/hook-shape.ts";
import { matchesCondition } from "./condition.ts";
import { describeHookSource, type Hook } from "./hook.ts";
import { applyUpdate, readHookRun, type HookDecision, type HookResult, type HookRun } from "./hook-output.ts";
import { parseMatcher } from "./match-name.ts";
import { runHookCommand, type HookWorld } from "./run-command.ts";
import { describeFields } from "./describe-fields.ts";
import { namesOfTool, translateInput, type HookedTool } from "./hooked-call.ts";

/** Something that happened, for the hooks of its event. */
export type HookOccasion = {
  readonly event: HookEvent;
  /** The text matchers are tested against, where it is not a tool. Absent: matchers have no effect. */
  readonly subject?: string;
  /** The tool call the event is about. */
  readonly call?: HookedTool;
  /** The fields of the event, besides those of the tool call. */
  readonly fields: JsonObject;
};

/** The merged effect of all hooks of an event. */
export type HookOutcome = {
  /** The strictest decision: deny before ask before allow. */
  readonly decision?: HookDecision;
  /** The reasons of that decision. */
  readonly reason: string;
  /** The hooks that made it. */
  readonly decidedBy?: readonly Pick<HookActivity, "source" | "hook">[];
  /** The arguments to run the tool with, under our field names. Not validated. */
  readonly input?: JsonObject;
  /** Texts for the model. */
  readonly context: readonly string[];
  /** Set if a hook wants the turn to end. */
  readonly stop?: string;
};

/** One run of one hook, for the person. */
export type HookActivity = {
  readonly event: HookEvent;
  /** user, project, or plugin NAME. */
  readonly source: string;
  /** Its name, command or URL. */
  readonly hook: string;
  readonly tool?: string;
  readonly status: "done" | "blocked" | "failed" | "skipped";
  readonly durationMs: number;
  readonly decision?: HookDecision;
  /** The reason of the decision, a message of the hook, or why it failed. */
  readonly message?: string;
  /** Whether the hook changed the arguments of the call. */
  readonly changedInput?: true;
  /** Characters of text it added for the model. */
  readonly contextLength?: number;
};

/** Where hooks run, which fields every event has, and who hears of them. */
export type HookEngineOptions = HookWorld & {
  readonly hooks: readonly Hook[];
  /** Fields of every event, such as the session id. */
  readonly commonFields: () => JsonObject;
  /** Why a hook must not run: a permission rule denies its command or host. */
  readonly findDenial?: ((hook: Hook) => Promise<string | undefined>) | undefined;
  /** Called with each run, its result and the input of the hook. */
  readonly onActivity: (activity: HookActivity, result: HookResult, input: string) => void;
};

/** Runs the hooks of a session. */
export class HookEngine {
  readonly #options: HookEngineOptions;
  /** Runs that nothing waits for. */
  readonly #background = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  constructor(options: HookEngineOptions) {
    this.#options = options;
  }

  /** Whether any hook runs at an event. */
  has(event: HookEvent): boolean {
    return this.#options.hooks.some((hook) => hook.event === event);
  }

  /** Runs all hooks that match, in parallel, and merges their results. Never rejects. */
  async run(occasion: HookOccasion, signal: AbortSignal): Promise<HookOutcome> {
    const matching = findMatching(this.#options.hooks, occasion);
    const awaited = matching.filter(({ hook }) => !hook.isAsync);
    for (const each of matching.filter(({ hook }) => hook.isAsync))
      this.#leaveBehind(this.#runOne(each, occasion, { signal: this.#closing.signal, onDetached: () => undefined }));
    const results = await Promise.all(awaited.map((each) => this.#runUntilDetached(each, occasion, signal)));
    return mergeResults(results, occasion);
  }

  /** Waits for the hooks in the background, and stops those that take longer than five seconds. */
  async close(): Promise<void> {
    const running = [...this.#background];
    if (running.length === 0) return;
    const timeout = new AbortController();
    const all = Promise.all(running);
    await Promise.race([all, this.#options.world.clock.sleep(closeTimeMs, timeout.signal).catch(() => undefined)]);
    timeout.abort();
    this.#closing.abort();
    await all;
  }

  #leaveBehind(run: Promise<unknown>): void {
    const running = run.finally(() => this.#background.delete(running));
    this.#background.add(running);
  }

  /** Runs a hook until it ends, or says that it goes on in the background; then it decides nothing, and only `close` stops it. */
  #runUntilDetached(match: MatchedHook, occasion: HookOccasion, signal: AbortSignal): Promise<NamedResult> {
    const stop = new AbortController();
    const abort = (): void => stop.abort();
    // A signal of its own: Node warns of more than ten listeners of one.
    const own = AbortSignal.any([signal]);
    if (own.aborted) abort();
    own.addEventListener("abort", abort, { once: true });
    const ignoreSignal = (): void => own.removeEventListener("abort", abort);
    return new Promise((resolve, reject) => {
      let isDetached = false;
      const onDetached = (): void => {
        isDetached = true;
        ignoreSignal();
        this.#leaveBehind(running);
        resolve({ ...match, result: {} });
      };
      const running = this.#runOne(match, occasion, { signal: stop.signal, onDetached }).finally(ignoreSignal);
      running.then(resolve, (error: unknown) => (isDetached ? undefined : reject(error as Error)));
    });
  }

  async #runOne(match: MatchedHook, occasion: HookOccasion, control: RunControl): Promise<NamedResult> {
    const { hook, name } = match;
    const { world, onActivity } = this.#options;
    const describedFor = { hook, name, folder: this.#options.folder, now: world.clock.now() };
    const input = JSON.stringify(describeFields(describedFor, occasion, this.#options.commonFields()));
    const startedAt = world.clock.elapsed();
    const refusal = await this.#findRefusal(hook).catch((error: unknown) => String(error));
    const result: HookResult =
      refusal === undefined ? readHookRun(hook, await this.#execute(match, input, control)) : { failure: refusal };
    const durationMs = Math.round(world.clock.elapsed() - startedAt);
    onActivity(describeActivity(match, { result, durationMs, isSkipped: refusal !== undefined }), result, input);
    // A hook that nothing waited for comes too late to decide.
    return { hook, name, result: hook.isAsync ? {} : result };
  }

  async #findRefusal(hook: Hook): Promise<string | undefined> {
    if (hook.set.isUnchanged !== undefined && !(await hook.set.isUnchanged(hook.event)))
      return "It was not run: it, or a file it names, changed since you allowed it. See parley hooks list.";
    return this.#options.findDenial?.(hook);
  }

  async #execute({ hook }: MatchedHook, input: string, { onDetached, ...control }: RunControl): Promise<HookRun> {
    const { handler } = hook;
    const signal = AbortSignal.any([control.signal, this.#closing.signal]);
    try {
      if (handler.type !== "http")
        return await runHookCommand(hook, handler, { ...this.#options, input, signal, onDetached });
      const { runHttpHook } = await import("./run-http.ts");
      return await runHttpHook(hook, handler, { world: this.#options.world, input, signal });
    } catch (error) {
      return { type: "failure", why: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** Milliseconds that hooks in the background have when the session ends. */
const closeTimeMs = 5000;

/** Stops a run; `onDetached` is called when it continues in the background. */
type RunControl = { readonly signal: AbortSignal; readonly onDetached: () => void };

/** A hook that matches, and the name of the tool it matched. */
type MatchedHook = { readonly hook: Hook; readonly name: string };

type NamedResult = MatchedHook & { readonly result: HookResult };

/** Finds the hooks of an event. The same command of the same source runs once. */
const findMatching = (
  hooks: readonly Hook[],
  { event, subject, call, fields }: HookOccasion,
): readonly MatchedHook[] => {
  const matching = hooks.flatMap((hook): readonly MatchedHook[] => {
    if (hook.event !== event && !hearsOfFailure(hook, event, fields)) return [];
    if (call !== undefined && hook.condition !== undefined && !matchesCondition(hook.condition, call)) return [];
    const names = call === undefined ? [subject ?? ""] : namesOfTool(call);
    const ordered = hook.format === "gemini" ? names.toReversed() : names;
    const isMatch = call === undefined && subject === undefined ? () => true : parseMatcher(hook.matcher, hook.format);
    const name = ordered.find((each) => isMatch?.(each));
    return name === undefined ? [] : [{ hook, name }];
  });
  const keyOf = ({ hook }: MatchedHook): string => JSON.stringify([hook.handler, hook.set.source, hook.format]);
  return [...new Map(matching.toReversed().map((each) => [keyOf(each), each])).values()].toReversed();
};

/**
 * Codex and Gemini CLI have one event for the end of a tool: Codex runs it for a command with any exit code, Gemini CLI
 * for every failure.
 */
const hearsOfFailure = (hook: Hook, event: HookEvent, fields: JsonObject): boolean =>
  event === "PostToolUseFailure" &&
  hook.event === "PostToolUse" &&
  (hook.format === "gemini" || (hook.format === "codex" && fields["tool_response"] !== undefined));

const severities: readonly HookDecision[] = ["deny", "ask", "allow"];

/** Merges results: the strictest decision counts, and the first changed input of one that does not deny. */
const mergeResults = (results: readonly NamedResult[], { call }: HookOccasion): HookOutcome => {
  const decision = severities.find((each) => results.some(({ result }) => result.decision === each));
  const deciding = decision === undefined ? [] : results.filter(({ result }) => result.decision === decision);
  const reasons = deciding.flatMap(({ result }) => (result.reason === undefined ? [] : [result.reason]));
  const input = call === undefined ? undefined : mergeInputs(results, call);
  const stop = results.find(({ result }) => result.stop !== undefined)?.result.stop;
  return {
    ...(decision === undefined ? {} : { decision }),
    reason: [...new Set(reasons)].join(" "),
    ...(decision === undefined ? {} : { decidedBy: deciding.map(nameHook) }),
    ...(input === undefined ? {} : { input }),
    context: results.flatMap(({ result }) => (result.context === undefined ? [] : [result.context])),
    ...(stop === undefined ? {} : { stop }),
  };
};

const nameHook = ({ hook }: MatchedHook): Pick<HookActivity, "source" | "hook"> => ({
  source: describeHookSource(hook.set.source),
  hook: hook.label,
});

const mergeInputs = (results: readonly NamedResult[], { tool, input }: HookedTool): JsonObject | undefined => {
  for (const { result, name } of results) {
    const updated = result.updatedInput === undefined ? undefined : translateInput(tool, name, result.updatedInput);
    if (updated !== undefined) return applyUpdate(input, updated, result.mergesInput === true);
  }
  return undefined;
};

const describeActivity = (
  { hook, name }: MatchedHook,
  {
    result,
    durationMs,
    isSkipped,
  }: { readonly result: HookResult; readonly durationMs: number; readonly isSkipped: boolean },
): HookActivity => {
  const { decision, failure, message, reason, stop, context, updatedInput } = result;
  const isBlocked = decision === "deny" || stop !== undefined;
  const text = failure ?? (decision === undefined ? undefined : reason) ?? stop ?? message;
  return {
    event: hook.event,
    source: describeHookSource(hook.set.source),
    hook: hook.label,
    ...(isToolEvent(hook.event) ? { tool: name } : {}),
    status: isSkipped ? "skipped" : failure !== undefined ? "failed" : isBlocked ? "blocked" : "done",
    durationMs,
    ...(decision === undefined ? {} : { decision }),
    ...(text === undefined ? {} : { message: text }),
    ...(updatedInput === undefined ? {} : { changedInput: true }),
    ...(context === undefined ? {} : { contextLength: context.length }),
  };
};

const isToolEvent = (event: HookEvent): boolean =>
  event === "PreToolUse" || event === "PermissionRequest" || event === "PostToolUse" || event === "PostToolUseFailure";
