import type { SimFault, FaultRule } from "../../src/sim/faults/fault.ts";
import type { SimModelRequest, ModelReply, ReplyPart } from "../../src/sim/model/types.ts";
import type { Random } from "./random.ts";

/** Prompts of the simulated person. The simulated model ignores their meaning. */
export const userPrompts: readonly string[] = ["Please go on.", "What about this?", "Do it.", "Look at that 🙂", "Hm."];

/** Random faults for the first requests to a provider. Emptying the list stops the faults. */
export const randomFaults = (random: Random): FaultRule[] =>
  Array.from({ length: 12 }, (_, index) => index + 1).flatMap((on) =>
    random.chance(0.35) ? [{ on, fault: randomFault(random) }] : [],
  );

const randomFault = (random: Random): SimFault =>
  random.pick<SimFault>([
    { type: "refuse-connection" },
    { type: "never-answer" },
    { type: "delay-headers", ms: random.below(120_000) },
    { type: "delay-body", ms: random.below(120_000) },
    { type: "drip", ms: random.below(5000) },
    { type: "slice", bytes: 1 + random.below(40) },
    { type: "truncate" },
    { type: "cut" },
    { type: "corrupt" },
    { type: "duplicate" },
    { type: "swap" },
    { type: "drop" },
    { type: "malformed-event" },
    { type: "stream-error" },
    { type: "garbage" },
    { type: "content-type", value: "text/html; charset=utf-8" },
    { type: "status", status: random.pick([408, 409, 429, 500, 502, 503, 504, 529]) },
    { type: "status", status: 429, headers: { "retry-after": random.pick(["7", "-1", "NaN", "99999999"]) } },
    { type: "status", status: 429, kind: "quota" },
    { type: "status", status: random.pick([400, 401, 403, 404, 413]) },
    { type: "status", status: 400, kind: "context", message: "prompt is too long: 300000 tokens > 200000 maximum" },
  ]);

/** A model that answers at random. */
export class SimulatedModel {
  /** Whether it makes no more tool calls. */
  onlyTalks = false;
  readonly #random: Random;
  #deeds = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  readonly speak = (request: SimModelRequest): ModelReply => {
    const random = this.#random;
    const last = request.turns.at(-1);
    if (last?.by === "user" && last.text.includes("grown too long"))
      return { parts: random.chance(0.9) ? [{ type: "say", text: "## Goal\nTo go on.\n## Done\nMuch." }] : [] };
    const depth = request.turns.length - request.turns.findLastIndex((turn) => turn.by === "user");
    const isTalk = this.onlyTalks || depth > 8 || random.chance(0.35);
    const parts: ReplyPart[] = [
      ...(random.chance(0.3) ? [{ type: "think", text: `A thought of ${random.below(1000)}.` } as const] : []),
      ...(isTalk || random.chance(0.4) ? [{ type: "say", text: this.#sentence() } as const] : []),
      ...(isTalk ? [] : Array.from({ length: 1 + random.below(3) }, () => this.#call(request))),
    ];
    if (this.onlyTalks) return { parts };
    if (random.chance(0.04)) return { parts: [] };
    if (random.chance(0.05)) return { parts, finish: "length" };
    return { parts };
  };

  #sentence(): string {
    return `Sentence ${this.#random.below(1000)} says äöü and little else. `.repeat(1 + this.#random.below(4)).trim();
  }

  #call({ tools }: SimModelRequest): ReplyPart {
    const random = this.#random;
    const tool = random.pick(tools).name;
    const inputs: { readonly [tool: string]: unknown } = {
      add: random.chance(0.1) ? { a: "one" } : { a: random.below(10), b: random.below(10) },
      do: { what: `deed-${(this.#deeds += 1)}`, ...(random.chance(0.5) ? { ms: random.below(10_000) } : {}) },
      long: { characters: random.below(12_000) },
    };
    return { type: "call", tool: random.chance(0.03) ? "nothing" : tool, input: inputs[tool] ?? {} };
  }
}
