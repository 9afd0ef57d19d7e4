import { z } from "zod";
import type { Agent } from "../../src/agent/agent.ts";
import { createAgent } from "../../src/agent/create-agent.ts";
import { singleModelPool } from "../../src/agent/models/choose.ts";
import type { AgentEvent } from "../../src/agent/events.ts";
import { Journal } from "../../src/agent/session/journal.ts";
import { parseModel } from "../../src/agent/models/parse.ts";
import type { JsonObject } from "../../src/conversation/json.ts";
import { lint } from "../../src/rules/lint.ts";
import type { RuleWire } from "../../src/rules/rule.ts";
import { defineTool, type AnyTool } from "../../src/tools/tool.ts";
import { ProviderError } from "../../src/transport/failure.ts";
import type { TransportEvent } from "../../src/transport/events.ts";
import type { Transport } from "../../src/transport/transport.ts";
import type { Destination } from "../../src/wire/bind.ts";
import { simulatedWorld } from "../../src/world/simulated/world.ts";
import { LogInMemory } from "./log-in-memory.ts";
import { createTestScheduler } from "./agent-tools.ts";
import { Random } from "./random.ts";

/** How a long session is simulated. */
export type LongSessionOptions = {
  readonly seed: number;
  readonly steps: number;
  /** The contexts of the models that take turns, in tokens. */
  readonly windows: readonly number[];
  /** Called with the number of every request that reaches the model. */
  readonly onRequest?: (request: number) => void;
};

/** The result of a long session. */
export type LongSession = {
  readonly requests: number;
  readonly compactions: number;
  readonly resumes: number;
  readonly switches: number;
  /** The fullest request right after a compaction, as a share of its model's context. */
  readonly fullestAfter: number;
  /** Promises that were not kept. */
  readonly broken: readonly string[];
};

/**
 * A session of thousands of steps in memory: an agent, a model that calls a tool again and again, results of every
 * size, changes of the model, and restarts. Requests are counted by the simulated provider, not by the agent.
 */
export const playLongSession = async (options: LongSessionOptions): Promise<LongSession> => {
  const session = new Simulation(options);
  await session.run();
  return session.facts();
};

const providers = ["anthropic", "openai", "openai-chat", "google"];

class Simulation {
  readonly #random: Random;
  readonly #options: LongSessionOptions;
  readonly #log = new LogInMemory();
  readonly #destinations = new Map<string, Destination>();
  readonly #sizes = new WeakMap<object, number>();
  readonly #broken: string[] = [];
  #agent: Agent;
  #model: string;
  #requests = 0;
  #compactions = 0;
  #resumes = 0;
  #switches = 0;
  #fullestAfter = 0;
  #isCompacted = false;
  #last: { readonly to: string; readonly messages: readonly unknown[] } | undefined;
  #mayRestart = true;
  /** Whether the person said something that no model of this size can read. */
  #isTooLong = false;
  /** Whether the last summary asked for was refused or empty: then a request that may just fit is sent as it is. */
  #hasFailed = false;

  constructor(options: LongSessionOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#model = this.#nameOf(options.windows[0] ?? 8000);
    this.#agent = this.#open();
  }

  async run(): Promise<void> {
    for (let turn = 0; this.#requests < this.#options.steps && this.#broken.length === 0; turn++) {
      await this.#between(turn);
      const size = this.#random.chance(0.02) ? this.#window : 5 + this.#random.below(this.#window / 20);
      this.#isTooLong = size > this.#window / 2;
      let end: AgentEvent | undefined;
      for await (const event of this.#agent.send(`Message ${turn}: ${textOf(size, this.#random)}`)) {
        end = event;
      }
      const isFine = end?.type === "finished" && end.reason === "stop";
      if (!isFine && !this.#isTooLong) this.#break(`turn ${turn} ended as ${JSON.stringify(end)}`);
    }
  }

  facts(): LongSession {
    return {
      requests: this.#requests,
      compactions: this.#compactions,
      resumes: this.#resumes,
      switches: this.#switches,
      fullestAfter: this.#fullestAfter,
      broken: this.#broken,
    };
  }

  /** Actions between two prompts: change the model, restart, compact. */
  async #between(turn: number): Promise<void> {
    if (turn > 0 && this.#random.chance(0.15)) {
      this.#model = this.#nameOf(this.#random.pick(this.#options.windows));
      void this.#agent.switchModel(singleModelPool(parseModel(this.#model)));
      this.#switches += 1;
      this.#mayRestart = true;
    }
    if (turn > 0 && this.#random.chance(0.1)) {
      this.#agent = this.#open();
      this.#resumes += 1;
      this.#mayRestart = true;
    }
    if (this.#random.chance(0.03)) {
      await this.#agent.compact();
      this.#mayRestart = true;
    }
  }

  get #window(): number {
    return windowOf(this.#model);
  }

  #nameOf(window: number): string {
    return `${this.#random.pick(providers)}/window-${window}`;
  }

  #break(what: string): void {
    this.#broken.push(`seed ${this.#options.seed}, request ${this.#requests}: ${what}`);
  }

  #open(): Agent {
    const world = simulatedWorld({});
    const { scheduler, declarations } = createTestScheduler(world, [produce]);
    return createAgent({
      clock: { elapsed: () => 0, after: () => () => undefined, sleep: async () => undefined },
      transport: {
        destination: (address) => this.#destination(address),
        send: (outgoing) => this.#send(outgoing),
        sendInBatches: () => {
          throw new Error("An agent reads event by event.");
        },
      },
      journal: new Journal(this.#log, this.#log.reopen()),
      prefix: { system: "You are a model in a simulation. ".repeat(10), tools: declarations },
      pool: singleModelPool(parseModel(this.#model)),
      openScheduler: async () => scheduler,
      compactAt: 0.8,
      // Synchronously: the next request leaves before the reader of the turn gets the event.
      onEvent: ({ type }) => {
        if (type !== "compacted") return;
        this.#compactions += 1;
        this.#isCompacted = true;
      },
      modelSettings: ({ model }) => ({ context: windowOf(model) }),
    });
  }

  #destination({ provider, model }: Parameters<Transport["destination"]>[0]): Destination {
    const name = `${provider.id}/${model}`;
    const destination = this.#destinations.get(name) ?? provider.destination(model);
    this.#destinations.set(name, destination);
    return destination;
  }

  async *#send({
    provider,
    model,
    body,
    ready,
  }: Parameters<Transport["send"]>[0]): AsyncGenerator<TransportEvent, void> {
    const name = `${provider.id}/${model}`;
    const destination = this.#destination({ provider, model });
    await ready;
    const tokens = this.#count(body);
    const window = windowOf(model);
    const isSummary = /will be replaced by a summary/.test(lastWords(body));
    yield { type: "request", attempt: 1, url: "", bytes: 0 };
    if (tokens > window) {
      if (isSummary || !(this.#isTooLong || this.#hasFailed))
        this.#break(`${isSummary ? "a summary request" : "a request"} has ${tokens} tokens for a context of ${window}`);
      throw new ProviderError({ kind: "context-too-long", provider: provider.id, label: provider.label });
    }
    if (isSummary) return yield* this.#summarise(tokens, window);
    this.#requests += 1;
    this.#options.onRequest?.(this.#requests);
    this.#hasFailed = false;
    this.#check(name, destination, body, tokens / window);
    yield* this.#answer(tokens, window);
  }

  /** Some summaries are long, some are empty, and now and then there is none. */
  *#summarise(input: number, window: number): Generator<TransportEvent, void> {
    const chance = this.#random.next();
    this.#hasFailed = chance < 0.06;
    if (chance < 0.03) throw new ProviderError({ kind: "overloaded", provider: "simulated", label: "Simulated" });
    const size = chance < 0.06 ? 0 : chance < 0.12 ? window / 2 : 100 + this.#random.below(window / 10);
    yield* spoken(textOf(size, this.#random), input);
  }

  *#answer(input: number, window: number): Generator<TransportEvent, void> {
    if (this.#random.chance(0.02) || this.#isTooLong) return yield* spoken(textOf(20, this.#random), input);
    const count = this.#random.chance(0.1) ? 2 + this.#random.below(5) : 1;
    for (let index = 0; index < count; index++) {
      const value = {
        tokens: Math.floor(this.#resultSize(window)),
        seed: this.#random.below(1e9),
        ...(this.#random.chance(0.02) ? { content: textOf(this.#random.below(window / 6), this.#random) } : {}),
      };
      yield { type: "part-end", index, part: { type: "call", tool: "produce", input: { value } } };
    }
    if (this.#random.chance(0.8)) yield usage(input, 40 * count);
    yield { type: "finish", reason: "calls" };
  }

  /** Mostly small, sometimes a good part of the context, now and then larger than all of it. */
  #resultSize(window: number): number {
    const chance = this.#random.next();
    if (chance < 0.002) return window * (1 + 2 * this.#random.next());
    if (chance < 0.01) return window * 0.4 * this.#random.next();
    return Math.min(window / 8, 10_000) * this.#random.next() ** 3;
  }

  #check(name: string, destination: Destination, body: JsonObject, fill: number): void {
    if (this.#isCompacted) this.#fullestAfter = Math.max(this.#fullestAfter, fill);
    const messages = messagesOf(body);
    const before = this.#last;
    const continues = before?.to === name && !this.#isCompacted && !this.#mayRestart;
    if (continues && !before.messages.every((message, index) => isSame(message, messages[index])))
      this.#break("the request does not begin with the one before");
    this.#last = { to: name, messages: [...messages] };
    this.#isCompacted = this.#mayRestart = false;
    if (this.#requests % 100 !== 0) return;
    const { target, wire } = destination;
    const findings = lint(body, { wire: wire.id as RuleWire, provider: target.provider, model: target.model });
    const [refused] = findings.filter(({ level }) => level === "error");
    if (refused !== undefined) this.#break(JSON.stringify(refused));
  }

  /** A quarter of a token for every character, wherever it stands in the request. */
  #count(body: JsonObject): number {
    const count = (value: unknown): number => {
      if (typeof value === "string") return value.length / 4;
      if (typeof value !== "object" || value === null) return 1;
      const known = this.#sizes.get(value);
      if (known !== undefined) return known;
      let sum = 1;
      for (const each of Object.values(value)) sum += count(each);
      if (!Array.isArray(value)) this.#sizes.set(value, sum);
      return sum;
    };
    return Math.ceil(Object.values(body).reduce((sum: number, each) => sum + count(each), 0));
  }
}

/** Returns a text of about so many tokens. */
const produce: AnyTool = defineTool({
  name: "produce",
  description: "Produces text.",
  access: "read",
  input: z.object({ tokens: z.number(), seed: z.number(), content: z.string().optional() }),
  touches: () => ({}),
  title: () => "produce",
  run: async ({ tokens, seed }) => ({
    content: [{ type: "text", text: textOf(tokens, new Random(seed)) }],
    display: { type: "text", text: "" },
  }),
});

const windowOf = (model: string): number => Number(/\d+$/.exec(model)?.[0]);

const messagesOf = (body: JsonObject): readonly unknown[] => {
  const messages = body["messages"] ?? body["input"] ?? body["contents"];
  return Array.isArray(messages) ? messages : [];
};

const lastWords = (body: JsonObject): string => JSON.stringify(messagesOf(body).at(-1) ?? "").slice(0, 1000);

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

function* spoken(text: string, input: number): Generator<TransportEvent, void> {
  yield { type: "text-delta", index: 0, text };
  yield { type: "part-end", index: 0, part: { type: "text", text } };
  yield usage(input, text.length / 4);
  yield { type: "finish", reason: "stop" };
}

const usage = (input: number, output: number): TransportEvent => ({
  type: "usage",
  usage: { input, cachedRead: 0, cachedWrite: 0, output: Math.ceil(output), reasoning: 0 },
});

const words = "the quick brown fox jumps over a lazy dog while no one is looking at it from the other side ";
const kinds: readonly string[] = [
  words,
  "const total = items.reduce((sum, item) => sum + item.price * item.count, 0);\n",
  "2026-01-01 12:34:56.789 1024 4096 65535 0.0012 99.87%\n",
  "Zm9vYmFyYmF6cXV4Q29ycmVjdEhvcnNlQmF0dGVyeVN0YXBsZQ9x7",
].map((each) => each.repeat(Math.ceil(14_000_000 / each.length)));

/** About so many tokens of some kind of text. */
const textOf = (tokens: number, random: Random): string => {
  const start = random.below(1000);
  return random.pick(kinds).slice(start, start + Math.floor(tokens * 4));
};
