import { text as textPart } from "../conversation/builders.ts";
import type { Conversation } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { CallId, UserPart } from "../conversation/parts.ts";
import { readDecision } from "../scheduler/approval/read-decision.ts";
import type { ApprovalRequest, ApprovalDecision } from "../scheduler/events.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { RenderReport } from "../transcript/incremental-renderer.ts";
import type { RenderPolicy } from "../transcript/target.ts";
import type { Transport } from "../transport/transport.ts";
import type { Destination } from "../wire/bind.ts";
import type { RequestSettings } from "../wire/wire.ts";
import type { Clock } from "../world/world.ts";
import { runSideQuery, type SideQueryResult } from "./requests/side-query.ts";
import { leaving, type ConfirmContinue } from "./requests/model-request.ts";
import { RequestBuilder, type RequestPrefix } from "./requests/builder.ts";
import type { AgentEvent, UsageTotals } from "./events.ts";
import { MediaFetcher, type FetchFile } from "./requests/fetch-media.ts";
import type { Journal } from "./session/journal.ts";
import { ModelInputCheck, type ModelInputRegistry } from "./models/input.ts";
import { modelName, type ModelRef } from "./models/name.ts";
import { EventQueue } from "./event-queue.ts";
import { ModelRouter, type ModelPool } from "./models/router.ts";
import { SpendingTracker } from "./models/spending.ts";
import type { SwitchCheck } from "./models/switch-check.ts";
import { Turn, type TurnLimits, type TurnContext } from "./turn/turn.ts";
import { ContextWindow } from "./context-window/window.ts";

/** What an agent is made of. */
export type AgentOptions = {
  readonly clock: Pick<Clock, "elapsed" | "after" | "sleep">;
  readonly transport: Transport;
  /** The conversation, new or continued. */
  readonly journal: Journal;
  readonly prefix: RequestPrefix;
  readonly pool: ModelPool;
  /** Opens the scheduler, when the first calls come. */
  readonly openScheduler?: () => Promise<Scheduler>;
  readonly settings?: RequestSettings;
  readonly policy?: Partial<RenderPolicy>;
  readonly limits?: Partial<TurnLimits>;
  /** Where what it uses is added up, where that is a part of something. */
  readonly spending?: SpendingTracker;
  /** The share of a model's context that may be full before room is made; 0 for never. */
  readonly compactAt?: number;
  /** How many tokens a model can read, where it is known better than here. */
  readonly contextOf?: (model: ModelRef) => number | undefined;
  /** Which kinds of files models take, where settings or a server may know better than the provider's data. */
  readonly modelInputs?: ModelInputRegistry | undefined;
  /** Called between requests. Answers another head where the list of tools has changed. */
  readonly beforeRequest?: () => Promise<RequestPrefix | undefined>;
  /** Called with calls before they are scheduled, where something has to be waited for. */
  readonly beforeCalls?: TurnContext["beforeCalls"];
  /** The id of the session, for APIs that want to know which requests belong together. */
  readonly sessionId?: string;
  /** Fetches files that are named by address, for models that take only bytes. Without it they are named to these. */
  readonly fetchFile?: FetchFile;
  /** The agents that work for this one right now, by name. */
  readonly subagents?: ReadonlyMap<string, Agent>;
  /** Asks the person instead of stopping a model that repeats itself. */
  readonly confirm?: ConfirmContinue;
  /** Hears every event of every turn, before whoever reads the turn. */
  readonly onEvent?: (event: AgentEvent) => void;
};

/** A question a call waits with. `agent` is set where a subagent's call waits. */
export type PendingApproval = { readonly call: CallId; readonly approval: ApprovalRequest; readonly agent?: string };

/** One conversation with models that use tools. Every front end holds one of these and nothing else. */
export type Agent = {
  /**
   * Takes what the person says and works until the model stops. Ends with
   * `finished`, `failed` or `cancelled`; leaving the loop before cancels. While a
   * turn runs, `steer` is the way to say more.
   */
  readonly send: (input: string | readonly UserPart[], signal?: AbortSignal) => AsyncGenerator<AgentEvent, void>;
  /** Says something while a turn runs; the model hears it after the calls under way. False where none runs. */
  readonly queueMessage: (input: string | readonly UserPart[]) => boolean;
  /** The person stops the turn. Settles when nothing runs any more. */
  readonly cancel: () => Promise<void>;
  /** The questions that wait for the person, in call order. */
  readonly pendingApprovals: () => readonly PendingApproval[];
  /** Answers one of them; `agent` names the subagent whose call waits. An answer that is not a known decision refuses the call. False where nothing waits there. */
  readonly decide: (call: CallId, decision: ApprovalDecision, agent?: string) => boolean;
  /** Puts waiting questions to policy again, after the approval mode changed. */
  readonly reevaluateApprovals: () => Promise<void>;
  readonly model: () => ModelRef;
  readonly pool: () => ModelPool;
  /** Another pool, or another model of it, from the next request on. */
  readonly switchModel: (pool: ModelPool, model?: ModelRef) => void;
  /** What moving to a model would cost and lose. */
  readonly checkSwitch: (model: ModelRef) => Promise<SwitchCheck>;
  /** Makes room in the context now, while no turn runs. False where there is nothing to gain. */
  readonly compact: (signal?: AbortSignal) => Promise<boolean>;
  /** Asks the model something that is not part of the conversation; what that uses counts as spent. */
  readonly runSideQuery: (
    write: (destination: Destination) => JsonObject,
    signal: AbortSignal,
  ) => Promise<SideQueryResult>;
  /** The conversation as models see it: after a compaction, its summary and what follows. The session log keeps the rest. */
  readonly conversation: () => Conversation;
  /** How many entries the conversation has, those that are no longer held included. */
  readonly entryCount: () => number;
  /** Whether the person has said something, or the model has answered. */
  readonly hasMessages: () => boolean;
  readonly usageTotals: () => UsageTotals;
  /** About how many tokens the next request has, and how many the model can read. */
  readonly contextUsage: () => Promise<{ readonly used: number; readonly size: number }>;
  /** The report on the last request, if there was one. */
  readonly lastReport: () => RenderReport | undefined;
  /** Says something to whoever reads the turn that runs, such as what a subagent says. */
  readonly emit: (event: AgentEvent) => void;
};

/** Opens an agent. Nothing is sent before the first `send`. */
export const createAgent = (options: AgentOptions): Agent => {
  const {
    clock,
    transport,
    journal,
    limits,
    settings = {},
    openScheduler: tools,
    beforeRequest: between,
    subagents = new Map<string, Agent>(),
  } = options;
  const route = new ModelRouter(options.pool, clock);
  const spending = options.spending ?? new SpendingTracker();
  const compositions = new RequestBuilder(journal, options.prefix, options.policy ?? {});
  const steered: (readonly UserPart[])[] = [];
  let events: EventQueue<AgentEvent> | undefined;
  let running: AbortController | undefined;
  let work: Promise<unknown> | undefined;
  let hearing = false;
  let scheduler: Promise<Scheduler> | undefined;
  let opened: Scheduler | undefined;
  let requests = 0;
  let report: RenderReport | undefined;
  const tell = (event: AgentEvent): void => {
    if (event.type === "request") report = event.report;
    options.onEvent?.(event);
    events?.push(event);
  };
  const window = new ContextWindow({
    transport,
    journal,
    builder: compositions,
    router: route,
    spending,
    compactAt: options.compactAt ?? 0.7,
    ...(options.contextOf === undefined ? {} : { contextOf: options.contextOf }),
    emit: tell,
  });
  const open = async (): Promise<Scheduler> => {
    if (tools === undefined) throw new Error("This agent has no tools.");
    scheduler ??= tools();
    opened = await scheduler;
    return opened;
  };
  /** Gets the tools ready while an answer is on its way, but not before the request has left. */
  const soon = async (): Promise<void> => {
    if (tools === undefined || scheduler !== undefined) return;
    await clock.sleep(leaving);
    await open();
  };
  const inputs = options.modelInputs === undefined ? undefined : new ModelInputCheck(journal, options.modelInputs);
  const around: TurnContext = {
    transport,
    journal,
    builder: compositions,
    router: route,
    spending,
    window,
    settings,
    inputCheck: inputs,
    clock,
    limits: { turns: limits?.turns ?? Number.POSITIVE_INFINITY, spend: limits?.spend ?? Number.POSITIVE_INFINITY },
    tools: { open, soon: () => void soon().catch(() => undefined) },
    nextRequestNumber: () => (requests += 1),
    takeQueuedMessages: () => steered.splice(0),
    emit: tell,
    ...(options.fetchFile === undefined
      ? {}
      : {
          mediaFetcher: new MediaFetcher({
            journal,
            fetch: options.fetchFile,
            inputs: options.modelInputs,
            emit: tell,
          }),
        }),
    sessionId: options.sessionId,
    ...(options.beforeCalls === undefined ? {} : { beforeCalls: options.beforeCalls }),
    ...(options.confirm === undefined ? {} : { confirm: options.confirm }),
    ...(between === undefined
      ? {}
      : {
          beforeRequest: async () => {
            const head = await between();
            if (head !== undefined) compositions.replacePrefix(head);
          },
        }),
  };
  const cancel = async (): Promise<void> => {
    const stopped = opened?.cancel();
    running?.abort();
    await stopped;
    await work?.catch(() => undefined);
  };
  const run = async (input: readonly UserPart[], signal: AbortSignal, queue: EventQueue<AgentEvent>): Promise<void> => {
    try {
      hearing = true;
      const end = await new Turn(around, signal).run(input);
      hearing = false;
      tell(end);
    } finally {
      hearing = false;
      queue.close();
    }
  };
  /** Takes the agent for one piece of work, until `free`. */
  const occupy = (
    signal: AbortSignal | undefined,
  ): { readonly controller: AbortController; readonly free: () => void } => {
    if (running !== undefined) throw new Error("A turn is running already; steer it, or cancel it.");
    const controller = new AbortController();
    const stop = (): void => controller.abort(signal?.reason);
    running = controller;
    if (signal?.aborted === true) stop();
    signal?.addEventListener("abort", stop, { once: true });
    return {
      controller,
      free: () => {
        signal?.removeEventListener("abort", stop);
        running = events = work = undefined;
      },
    };
  };
  async function* send(input: string | readonly UserPart[], signal?: AbortSignal): AsyncGenerator<AgentEvent, void> {
    const { controller, free } = occupy(signal);
    const queue = new EventQueue<AgentEvent>();
    events = queue;
    const turn = run(toUserParts(input), controller.signal, queue);
    turn.catch(() => undefined);
    work = turn;
    try {
      yield* queue;
    } finally {
      // Left in the middle: the turn ends before another may begin. After its end this does nothing.
      controller.abort();
      await turn.finally(free);
    }
  }
  const compact = async (signal?: AbortSignal): Promise<boolean> => {
    const { controller, free } = occupy(signal);
    const shrink = async (): Promise<boolean> => {
      await inputs?.prepare(route.current, controller.signal);
      return window.compact(controller.signal);
    };
    const shrinking = shrink();
    work = shrinking;
    return shrinking.finally(free);
  };
  return {
    send,
    cancel,
    queueMessage: (input) => {
      if (!hearing || running?.signal.aborted !== false) return false;
      steered.push(toUserParts(input));
      return true;
    },
    pendingApprovals: () => [
      ...(opened?.pendingApprovals() ?? []),
      ...[...subagents].flatMap(([name, agent]) => agent.pendingApprovals().map((each) => ({ ...each, agent: name }))),
    ],
    decide: (call, answer, name) => {
      const decision = readDecision(answer);
      if (name !== undefined) return subagents.get(name)?.decide(call, decision) ?? false;
      const decided = opened?.decide(call, decision) ?? false;
      if (decided && decision.type === "cancel") running?.abort();
      return decided;
    },
    reevaluateApprovals: async () => {
      await Promise.all([opened?.reconsider(), ...[...subagents.values()].map((each) => each.reevaluateApprovals())]);
    },
    model: () => route.current,
    pool: () => route.pool,
    switchModel: (pool, model) => {
      const change = route.switchTo(pool, model);
      if (change === undefined) return;
      const { from, to, reason } = change;
      journal.appendMetadata({ kind: "model", provider: to.provider.id, model: to.model, reason: reason.type });
      tell({ type: "model-changed", from: modelName(from), to: modelName(to), reason });
    },
    checkSwitch: async (model) => {
      const { checkSwitch } = await import("./models/switch-check.ts");
      await inputs?.prepare(model, new AbortController().signal);
      return checkSwitch(
        { journal, prefix: compositions.prefix, window, input: options.modelInputs?.get(model) },
        model,
      );
    },
    compact,
    runSideQuery: async (write, signal) => {
      const model = route.current;
      const answer = await runSideQuery(transport, model, write, signal);
      if (answer.usage !== undefined) await spending.add(model, answer.usage);
      return answer;
    },
    conversation: () => toConversation(journal, compositions.prefix),
    entryCount: () => journal.entryCount,
    hasMessages: () => journal.ledger.entries.some(({ type }) => type !== "notice"),
    usageTotals: () => spending.totals,
    contextUsage: async () => ({ used: window.tokens, size: await window.limit() }),
    lastReport: () => report,
    emit: tell,
  };
};

const toUserParts = (input: string | readonly UserPart[]): readonly UserPart[] =>
  typeof input === "string" ? [textPart(input)] : input;

const toConversation = (journal: Journal, { system, tools }: RequestPrefix): Conversation => ({
  version: 1,
  ...(system === undefined ? {} : { system }),
  tools,
  entries: journal.ledger.entries,
  blobs: journal.blobs,
});
