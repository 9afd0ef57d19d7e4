import { text as textPart } from "../conversation/builders.ts";
import type { Conversation } from "../conversation/entry.ts";
import type { UserPart } from "../conversation/parts.ts";
import { readDecision } from "../scheduler/approval/read-decision.ts";
import type { Agent, SwitchResult } from "./agent.ts";
import { ContextWindow } from "./context-window/window.ts";
import { AgentEventStream } from "./event-stream.ts";
import { LazyScheduler } from "./lazy-scheduler.ts";
import { ModelInputCheck } from "./models/input.ts";
import type { TurnHooks } from "./hooks/turn-hooks.ts";
import { modelName, type ModelRef } from "./models/name.ts";
import { ModelRouter, recordModelChange, type ModelChange, type ModelPool } from "./models/router.ts";
import { SpendingTracker } from "./models/spending.ts";
import type { SwitchCheck } from "./models/switch-check.ts";
import type { AgentOptions } from "./options.ts";
import { RequestBuilder, type RequestPrefix } from "./requests/builder.ts";
import { MediaFetcher } from "./requests/fetch-media.ts";
import { runSideQuery } from "./requests/side-query.ts";
import type { Journal } from "./session/journal.ts";
import type { TurnContext } from "./turn/context.ts";
import { TurnRunner } from "./turn/runner.ts";
import { Turn } from "./turn/turn.ts";
import type { RequestSettings } from "../wire/wire.ts";

/** Creates an agent. Nothing is sent before the first `send`. */
export const createAgent = (options: AgentOptions): Agent => {
  const core = createCore(options);
  const turns = new TurnRunner(core.events);
  return {
    ...turnMethods(core, turns, createTurnContext(core, turns)),
    ...approvalMethods(core, turns),
    ...modelMethods(core),
    ...stateMethods(core),
  };
};

/** The parts of an agent that its methods share. */
type AgentCore = {
  readonly options: AgentOptions;
  readonly router: ModelRouter;
  /** The settings of the next request. */
  readonly requestSettings: { current: RequestSettings };
  readonly spending: SpendingTracker;
  readonly builder: RequestBuilder;
  readonly window: ContextWindow;
  readonly inputCheck: ModelInputCheck | undefined;
  readonly scheduler: LazyScheduler;
  readonly events: AgentEventStream;
};

const defaultCompactAt = 0.7;

const createCore = (options: AgentOptions): AgentCore => {
  const { clock, transport, journal, modelSettings, modelInputs, compactAt = defaultCompactAt } = options;
  const events = new AgentEventStream(options.onEvent);
  const router = new ModelRouter(options.pool, clock);
  const spending = options.spending ?? new SpendingTracker({ priceOf: (model) => modelSettings?.(model)?.price });
  const builder = new RequestBuilder(journal, options.prefix, options.policy ?? {});
  return {
    options,
    router,
    requestSettings: {
      current: { ...options.settings, ...(options.output === undefined ? {} : { output: options.output.format }) },
    },
    spending,
    builder,
    window: new ContextWindow({
      transport,
      journal,
      builder,
      router,
      spending,
      compactAt,
      ...(modelSettings === undefined ? {} : { contextOf: (model) => modelSettings(model)?.context }),
      ...(options.compactionNotice === undefined ? {} : { compactionNotice: options.compactionNotice }),
      hooks: options.hooks,
      emit: events.emit,
    }),
    inputCheck: modelInputs === undefined ? undefined : new ModelInputCheck(journal, modelInputs),
    scheduler: new LazyScheduler(options.openScheduler, options.warmUpTools, clock),
    events,
  };
};

const createTurnContext = (core: AgentCore, turns: TurnRunner): TurnContext => {
  const { options, router, spending, builder, window, inputCheck, scheduler, events } = core;
  const { clock, transport, journal, limits, fetchFile, beforeRequest, output } = options;
  const { emit } = events;
  let requests = 0;
  return {
    transport,
    journal,
    builder,
    router,
    spending,
    window,
    get settings() {
      return core.requestSettings.current;
    },
    ...(options.modelSettings === undefined ? {} : { modelSettings: options.modelSettings }),
    inputCheck,
    clock,
    limits: { turns: limits?.turns ?? Number.POSITIVE_INFINITY, spend: limits?.spend ?? Number.POSITIVE_INFINITY },
    scheduler,
    output,
    nextRequestNumber: () => (requests += 1),
    takeQueuedMessages: () => turns.takeQueuedMessages(),
    hooks: options.hooks,
    ...(options.hooks?.watchesSwitches === true ? { afterModelChange: createSwitchReport(core) } : {}),
    takeNotices: () => [
      ...(options.hooks?.takeContext() ?? []),
      ...(options.takeNotices?.() ?? []),
      ...turns.takeNotices(),
    ],
    emit,
    ...(fetchFile === undefined
      ? {}
      : { mediaFetcher: new MediaFetcher({ journal, fetch: fetchFile, inputs: options.modelInputs, emit }) }),
    sessionId: options.sessionId,
    ...(options.beforeCalls === undefined ? {} : { beforeCalls: options.beforeCalls }),
    ...(options.confirm === undefined ? {} : { confirm: options.confirm }),
    ...(beforeRequest === undefined
      ? {}
      : {
          beforeRequest: async () => {
            const prefix = await beforeRequest();
            if (prefix !== undefined) builder.replacePrefix(prefix);
          },
        }),
  };
};

const turnMethods = (
  { inputCheck, router, window, scheduler, options }: AgentCore,
  turns: TurnRunner,
  context: TurnContext,
): Pick<
  Agent,
  | "send"
  | "continue"
  | "park"
  | "parkedCalls"
  | "queueMessage"
  | "withdrawQueuedMessages"
  | "addNotice"
  | "cancel"
  | "compact"
> => ({
  send: (input, signal) => turns.send((abort) => new Turn(context, abort).run(toUserParts(input)), signal),
  continue: (signal) => turns.send((abort) => new Turn(context, abort).continue(), signal),
  park: async () => {
    if ((scheduler.loaded?.pendingApprovals() ?? []).length === 0) return;
    await scheduler.loaded?.park();
    await turns.ended();
  },
  parkedCalls: () => (turns.isRunning ? [] : options.journal.waitingCalls),
  queueMessage: (input) => turns.queueMessage(toUserParts(input)),
  withdrawQueuedMessages: () => turns.takeQueuedMessages(),
  addNotice: (text) => turns.addNotice(text),
  cancel: async () => {
    const stopped = scheduler.loaded?.cancel();
    turns.abort();
    await stopped;
    await turns.ended();
  },
  compact: (focus, signal) =>
    turns.runExclusive(async (abort) => {
      await inputCheck?.prepare(router.current, abort);
      return window.compact(abort, { focus });
    }, signal),
});

const approvalMethods = (
  { options, scheduler }: AgentCore,
  turns: TurnRunner,
): Pick<Agent, "pendingApprovals" | "decide" | "reevaluateApprovals"> => {
  const subagents = options.subagents ?? new Map<string, Agent>();
  return {
    pendingApprovals: () => [
      ...(scheduler.loaded?.pendingApprovals() ?? []),
      ...[...subagents].flatMap(([name, agent]) => agent.pendingApprovals().map((each) => ({ ...each, agent: name }))),
    ],
    decide: (call, answer, name) => {
      const decision = readDecision(answer);
      if (name !== undefined) return subagents.get(name)?.decide(call, decision) ?? false;
      const isDecided = scheduler.loaded?.decide(call, decision) ?? false;
      if (isDecided && decision.type === "cancel") turns.abort();
      return isDecided;
    },
    reevaluateApprovals: async () => {
      await Promise.all([
        scheduler.loaded?.reconsider(),
        ...[...subagents.values()].map((each) => each.reevaluateApprovals()),
      ]);
    },
  };
};

/** Computes the effects of switching to a model. */
const checkModelSwitch = async (
  { options: { journal, modelInputs, modelSettings }, builder, window, inputCheck }: AgentCore,
  model: ModelRef,
): Promise<SwitchCheck> => {
  const { checkSwitch } = await import("./models/switch-check.ts");
  await inputCheck?.prepare(model, new AbortController().signal);
  const { price } = modelSettings?.(model) ?? {};
  return checkSwitch({ journal, prefix: builder.prefix, window, input: modelInputs?.get(model), price }, model);
};

/** Passes a change of the model on to hooks, with the figures of the switch check. */
const createSwitchReport =
  (core: AgentCore) =>
  async (change: ModelChange | undefined): Promise<void> => {
    if (change === undefined) return;
    const { from, to, reason } = change;
    const check = await checkModelSwitch(core, to);
    await core.options.hooks?.afterSwitch({ from: modelName(from), to: modelName(to), source: reason.type, check });
  };

/** Switches the model, if the hooks for it do not object. */
const switchWithHooks = async (
  core: AgentCore,
  hooks: TurnHooks,
  target: { readonly pool: ModelPool; readonly model: ModelRef | undefined },
): Promise<SwitchResult> => {
  const { options, router, events } = core;
  const from = router.current;
  const to = target.model ?? target.pool.models[0] ?? from;
  const change = { from: modelName(from), to: modelName(to), source: "requested" };
  const { decision, reason, decidedBy } = await hooks.beforeSwitch({
    ...change,
    check: await checkModelSwitch(core, to),
  });
  const isAllowed =
    decision === undefined ||
    (decision === "ask" &&
      (await options.confirm?.(
        `The hook ${decidedBy} asks whether to switch to ${change.to}: ${reason}`,
        new AbortController().signal,
      )) === true);
  if (!isAllowed)
    return { isSwitched: false, reason: `The hook ${decidedBy} refused the switch to ${change.to}: ${reason}` };
  const made = router.switchTo(target.pool, target.model);
  recordModelChange(made, { journal: options.journal, emit: events.emit });
  await createSwitchReport(core)(made);
  return { isSwitched: true };
};

const modelMethods = (
  core: AgentCore,
): Pick<Agent, "model" | "pool" | "switchModel" | "thinking" | "setThinking" | "checkSwitch" | "runSideQuery"> => {
  const { options, requestSettings, router, spending, events } = core;
  const { transport, journal, hooks } = options;
  return {
    model: () => router.current,
    pool: () => router.pool,
    switchModel: async (pool, model) => {
      const isChange = modelName(model ?? pool.models[0] ?? router.current) !== modelName(router.current);
      if (isChange && hooks?.watchesSwitches === true) return switchWithHooks(core, hooks, { pool, model });
      recordModelChange(router.switchTo(pool, model), { journal, emit: events.emit });
      return { isSwitched: true };
    },
    thinking: () => requestSettings.current.thinking?.effort,
    setThinking: (effort) => {
      const { thinking: _, ...others } = requestSettings.current;
      requestSettings.current = effort === undefined ? others : { ...others, thinking: { effort } };
    },
    checkSwitch: (model) => checkModelSwitch(core, model),
    runSideQuery: async (encode, signal) => {
      const model = router.current;
      const answer = await runSideQuery(transport, model, encode, signal);
      if (answer.usage !== undefined) await spending.add(model, answer.usage);
      return answer;
    },
  };
};

const stateMethods = ({
  options: { journal },
  spending,
  builder,
  window,
  events,
}: AgentCore): Omit<
  Agent,
  | keyof ReturnType<typeof turnMethods>
  | keyof ReturnType<typeof approvalMethods>
  | keyof ReturnType<typeof modelMethods>
> => ({
  conversation: () => toConversation(journal, builder.prefix),
  entryCount: () => journal.entryCount,
  hasMessages: () => journal.ledger.entries.some(({ type }) => type !== "notice"),
  usageTotals: () => spending.totals,
  contextUsage: async () => ({ used: window.tokens, size: await window.limit() }),
  lastReport: () => events.lastReport,
  emit: events.emit,
});

const toUserParts = (input: string | readonly UserPart[]): readonly UserPart[] =>
  typeof input === "string" ? [textPart(input)] : input;

const toConversation = (journal: Journal, { system, tools }: RequestPrefix): Conversation => ({
  version: 1,
  ...(system === undefined ? {} : { system }),
  tools,
  entries: journal.ledger.entries,
  blobs: journal.blobs,
});
