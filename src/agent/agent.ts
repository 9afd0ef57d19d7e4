import { text as textPart } from "../conversation/builders.ts";
import type { Conversation } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { CallId, UserPart } from "../conversation/parts.ts";
import { readDecision } from "../scheduler/decision.ts";
import type { Approval, Decision } from "../scheduler/events.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { Report } from "../transcript/rendering.ts";
import type { Policy } from "../transcript/target.ts";
import type { Transport } from "../transport/transport.ts";
import type { Destination } from "../wire/bind.ts";
import type { Settings } from "../wire/wire.ts";
import type { Clock } from "../world/world.ts";
import { askAside, type Aside } from "./aside.ts";
import { leaving, type Confirm } from "./asking.ts";
import { Compositions, type Head } from "./compositions.ts";
import type { AgentEvent, Spent } from "./events.ts";
import { MediaFetcher, type FetchFile } from "./fetch-media.ts";
import type { Journal } from "./journal.ts";
import { InputCheck, type ModelInputs } from "./model-input.ts";
import { modelName, type ModelRef } from "./model-name.ts";
import { Queue } from "./queue.ts";
import { Route, type Pool } from "./route.ts";
import { Spending } from "./spending.ts";
import type { SwitchCheck } from "./switch-check.ts";
import { Turn, type Limits, type Surroundings } from "./turn.ts";
import { Window } from "./window.ts";

/** What an agent is made of. */
export type AgentOptions = {
  readonly clock: Pick<Clock, "elapsed" | "after" | "sleep">;
  readonly transport: Transport;
  /** The conversation, new or continued. */
  readonly journal: Journal;
  readonly head: Head;
  readonly pool: Pool;
  /** Opens the scheduler, when the first calls come. */
  readonly tools?: () => Promise<Scheduler>;
  readonly settings?: Settings;
  readonly policy?: Partial<Policy>;
  readonly limits?: Partial<Limits>;
  /** Where what it uses is added up, where that is a part of something. */
  readonly spending?: Spending;
  /** The share of a model's context that may be full before room is made; 0 for never. */
  readonly compactAt?: number;
  /** How many tokens a model can read, where it is known better than here. */
  readonly contextOf?: (model: ModelRef) => number | undefined;
  /** Which kinds of files models take, where settings or a server may know better than the provider's data. */
  readonly inputs?: ModelInputs | undefined;
  /** Called between requests. Answers another head where the list of tools has changed. */
  readonly between?: () => Promise<Head | undefined>;
  /** Called with calls before they are scheduled, where something has to be waited for. */
  readonly prepare?: Surroundings["prepare"];
  /** The id of the session, for APIs that want to know which requests belong together. */
  readonly session?: string;
  /** Fetches files that are named by address, for models that take only bytes. Without it they are named to these. */
  readonly fetchFile?: FetchFile;
  /** The agents that work for this one right now, by name. */
  readonly subagents?: ReadonlyMap<string, Agent>;
  /** Asks the person instead of stopping a model that repeats itself. */
  readonly confirm?: Confirm;
  /** Hears every event of every turn, before whoever reads the turn. */
  readonly listen?: (event: AgentEvent) => void;
};

/** A question a call waits with. `agent` is set where a subagent's call waits. */
export type Question = { readonly call: CallId; readonly approval: Approval; readonly agent?: string };

/** One conversation with models that use tools. Every front end holds one of these and nothing else. */
export type Agent = {
  /**
   * Takes what the person says and works until the model stops. Ends with
   * `finished`, `failed` or `cancelled`; leaving the loop before cancels. While a
   * turn runs, `steer` is the way to say more.
   */
  readonly send: (input: string | readonly UserPart[], signal?: AbortSignal) => AsyncGenerator<AgentEvent, void>;
  /** Says something while a turn runs; the model hears it after the calls under way. False where none runs. */
  readonly steer: (input: string | readonly UserPart[]) => boolean;
  /** The person stops the turn. Settles when nothing runs any more. */
  readonly cancel: () => Promise<void>;
  /** The questions that wait for the person, in call order. */
  readonly waiting: () => readonly Question[];
  /** Answers one of them; `agent` names the subagent whose call waits. An answer that is not a known decision refuses the call. False where nothing waits there. */
  readonly decide: (call: CallId, decision: Decision, agent?: string) => boolean;
  /** Puts waiting questions to policy again, after the approval mode changed. */
  readonly reconsider: () => Promise<void>;
  readonly model: () => ModelRef;
  readonly pool: () => Pool;
  /** Another pool, or another model of it, from the next request on. */
  readonly use: (pool: Pool, model?: ModelRef) => void;
  /** What moving to a model would cost and lose. */
  readonly check: (model: ModelRef) => Promise<SwitchCheck>;
  /** Makes room in the context now, while no turn runs. False where there is nothing to gain. */
  readonly compact: (signal?: AbortSignal) => Promise<boolean>;
  /** Asks the model something that is not part of the conversation; what that uses counts as spent. */
  readonly aside: (write: (destination: Destination) => JsonObject, signal: AbortSignal) => Promise<Aside>;
  /** The conversation as models see it: after a compaction, its summary and what follows. The session log keeps the rest. */
  readonly conversation: () => Conversation;
  /** How many entries the conversation has, those that are no longer held included. */
  readonly entryCount: () => number;
  /** Whether the person has said something, or the model has answered. */
  readonly isUsed: () => boolean;
  readonly spent: () => Spent;
  /** About how many tokens the next request has, and how many the model can read. */
  readonly context: () => Promise<{ readonly used: number; readonly size: number }>;
  /** The report on the last request, if there was one. */
  readonly report: () => Report | undefined;
  /** Says something to whoever reads the turn that runs, such as what a subagent says. */
  readonly tell: (event: AgentEvent) => void;
};

/** Opens an agent. Nothing is sent before the first `send`. */
export const createAgent = (options: AgentOptions): Agent => {
  const {
    clock,
    transport,
    journal,
    limits,
    settings = {},
    tools,
    between,
    subagents = new Map<string, Agent>(),
  } = options;
  const route = new Route(options.pool, clock);
  const spending = options.spending ?? new Spending();
  const compositions = new Compositions(journal, options.head, options.policy ?? {});
  const steered: (readonly UserPart[])[] = [];
  let events: Queue<AgentEvent> | undefined;
  let running: AbortController | undefined;
  let work: Promise<unknown> | undefined;
  let hearing = false;
  let scheduler: Promise<Scheduler> | undefined;
  let opened: Scheduler | undefined;
  let requests = 0;
  let report: Report | undefined;
  const tell = (event: AgentEvent): void => {
    if (event.type === "request") report = event.report;
    options.listen?.(event);
    events?.push(event);
  };
  const window = new Window({
    transport,
    journal,
    compositions,
    route,
    spending,
    share: options.compactAt ?? 0.7,
    ...(options.contextOf === undefined ? {} : { contextOf: options.contextOf }),
    tell,
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
  const inputs = options.inputs === undefined ? undefined : new InputCheck(journal, options.inputs);
  const around: Surroundings = {
    transport,
    journal,
    compositions,
    route,
    spending,
    window,
    settings,
    inputs,
    clock,
    limits: { turns: limits?.turns ?? Number.POSITIVE_INFINITY, spend: limits?.spend ?? Number.POSITIVE_INFINITY },
    tools: { open, soon: () => void soon().catch(() => undefined) },
    count: () => (requests += 1),
    steering: () => steered.splice(0),
    tell,
    ...(options.fetchFile === undefined
      ? {}
      : { files: new MediaFetcher({ journal, fetch: options.fetchFile, inputs: options.inputs, tell }) }),
    session: options.session,
    ...(options.prepare === undefined ? {} : { prepare: options.prepare }),
    ...(options.confirm === undefined ? {} : { confirm: options.confirm }),
    ...(between === undefined
      ? {}
      : {
          between: async () => {
            const head = await between();
            if (head !== undefined) compositions.change(head);
          },
        }),
  };
  const cancel = async (): Promise<void> => {
    const stopped = opened?.cancel();
    running?.abort();
    await stopped;
    await work?.catch(() => undefined);
  };
  const run = async (input: readonly UserPart[], signal: AbortSignal, queue: Queue<AgentEvent>): Promise<void> => {
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
    const queue = new Queue<AgentEvent>();
    events = queue;
    const turn = run(partsOf(input), controller.signal, queue);
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
      return window.shrink(controller.signal);
    };
    const shrinking = shrink();
    work = shrinking;
    return shrinking.finally(free);
  };
  return {
    send,
    cancel,
    steer: (input) => {
      if (!hearing || running?.signal.aborted !== false) return false;
      steered.push(partsOf(input));
      return true;
    },
    waiting: () => [
      ...(opened?.waiting() ?? []),
      ...[...subagents].flatMap(([name, agent]) => agent.waiting().map((each) => ({ ...each, agent: name }))),
    ],
    decide: (call, answer, name) => {
      const decision = readDecision(answer);
      if (name !== undefined) return subagents.get(name)?.decide(call, decision) ?? false;
      const decided = opened?.decide(call, decision) ?? false;
      if (decided && decision.type === "cancel") running?.abort();
      return decided;
    },
    reconsider: async () => {
      await Promise.all([opened?.reconsider(), ...[...subagents.values()].map((each) => each.reconsider())]);
    },
    model: () => route.current,
    pool: () => route.pool,
    use: (pool, model) => {
      const change = route.use(pool, model);
      if (change === undefined) return;
      const { from, to, reason } = change;
      journal.remark({ kind: "model", provider: to.provider.id, model: to.model, reason: reason.type });
      tell({ type: "model-changed", from: modelName(from), to: modelName(to), reason });
    },
    check: async (model) => {
      const { switchCheck } = await import("./switch-check.ts");
      await inputs?.prepare(model, new AbortController().signal);
      return switchCheck({ journal, head: compositions.head, window, input: options.inputs?.of(model) }, model);
    },
    compact,
    aside: async (write, signal) => {
      const model = route.current;
      const answer = await askAside(transport, model, write, signal);
      if (answer.usage !== undefined) await spending.add(model, answer.usage);
      return answer;
    },
    conversation: () => conversationOf(journal, compositions.head),
    entryCount: () => journal.count,
    isUsed: () => journal.ledger.entries.some(({ type }) => type !== "notice"),
    spent: () => spending.spent,
    context: async () => ({ used: window.tokens, size: await window.context() }),
    report: () => report,
    tell,
  };
};

const partsOf = (input: string | readonly UserPart[]): readonly UserPart[] =>
  typeof input === "string" ? [textPart(input)] : input;

const conversationOf = (journal: Journal, { system, tools }: Head): Conversation => ({
  version: 1,
  ...(system === undefined ? {} : { system }),
  tools,
  entries: journal.ledger.entries,
  blobs: journal.blobs,
});
