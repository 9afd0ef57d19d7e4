import { afterAll, beforeAll, expect, it } from "vitest";
import type { RuleCase } from "../../src/rules/cases.ts";
import type { RuleWire } from "../../src/rules/rule.ts";
import type { SimulatorOptions } from "../../src/sim/simulator.ts";
import type { Environment } from "../../src/world/world.ts";
import type { Open } from "./client.ts";
import { comparedWithParley, expectScene, play, type Cast } from "./play.ts";
import { brokenRequests, openArena, type Arena, type Outcome } from "./refusals.ts";
import { script } from "./scene.ts";
import { served, type Server } from "./server.ts";

/** What is expected of a client that plays the scene. */
export type Scene = Cast & {
  /** How the two answers end, in the vendor's words. */
  readonly finish: readonly [unknown, unknown];
  /** The thought it hears, where not the whole. */
  readonly thought?: string;
  /** False where the model has no eyes. */
  readonly picture?: boolean;
};

/** Registers the test that a client gets through the scene. */
export const proveScene = ({ finish, thought, picture, ...cast }: Scene): void => {
  it("hears a thought, words and two calls, sends results and a picture, and hears the end", async () => {
    expectScene(await play(cast), {
      finish,
      ...(thought === undefined ? {} : { thought }),
      ...(picture === undefined ? {} : { picture }),
    });
  });
};

/** Registers the test that a client and Parley send the same, but for what is listed with its reason. */
export const proveLikeness = (
  cast: Cast,
  environment: (server: Server) => Environment,
  listed: { readonly [difference: string]: string },
): void => {
  it("sends what Parley sends, but for what is listed here", async () => {
    expect((await comparedWithParley(cast, environment)).toSorted()).toEqual(Object.keys(listed).toSorted());
  });
};

/** Registers the test that a server notices when the client sends back a seal that was changed. */
export const proveSeals = (cast: Cast, isRefusal: (error: unknown) => boolean): void => {
  it("is heard when a seal comes back as it was, and refused when it comes back changed", async () => {
    const { log } = await play(cast);
    const { open, model, ...options } = cast;
    const send = (text: string): Promise<unknown> =>
      served({ ...options, script }, (server) =>
        open(server, model).send({ model, body: JSON.parse(text) as { readonly [key: string]: unknown } }),
      );
    const text = JSON.stringify(log.at(-1)?.body);
    await expect(send(text)).resolves.toBeDefined();
    await expect(send(text.replace(letterOfSeal, (letter) => (letter === "A" ? "B" : "A")))).rejects.toSatisfy(
      isRefusal,
    );
  });
};

const letterOfSeal = /(?<="(?:signature|thoughtSignature|encrypted_content)":"[\w+/=-]{60})[\w+/=-]/;

/** What can go wrong at a server, whatever the request. */
type Trouble =
  | "a wrong key"
  | "a model that is not there"
  | "too many requests"
  | "an overloaded server"
  | "a failure within a stream";

const troubles: { readonly [trouble in Trouble]: Partial<SimulatorOptions & { readonly model: string }> } = {
  "a wrong key": { keys: ["another"], awsSecret: { id: "another", secret: "another" } },
  "a model that is not there": { model: "no-such-model" },
  "too many requests": { faults: [{ fault: { type: "status", status: 429 } }] },
  "an overloaded server": { faults: [{ fault: { type: "status", status: 529 } }] },
  "a failure within a stream": { faults: [{ fault: { type: "stream-error", after: 3 } }] },
};

/** Registers the tests that trouble of any kind reaches a client as an error of its vendor. */
export const proveTroubles = (
  cast: Cast,
  told: { readonly [trouble in Trouble]: (error: unknown) => boolean },
): void => {
  it.each(Object.keys(troubles) as Trouble[])("is told of %s in its own way", async (trouble) => {
    const { open, model, ...options } = { ...cast, ...troubles[trouble] };
    const played = served({ ...options, script }, (server) => open(server, model).loop());
    await expect(played).rejects.toSatisfy(told[trouble]);
  });
};

/** The broken requests of a family, and the clients that send them. */
export type Refusals = {
  readonly wire: RuleWire;
  readonly cases: readonly RuleCase[];
  /** Whose requests, where not those of the whole family. */
  readonly providers?: readonly string[];
  readonly open: (provider: string) => Open;
  /** Whether an error is the vendor's class for this status, and says these words. */
  readonly isRefusal: (error: unknown, status: number, words: string, provider: string) => boolean;
  /** The cases a client does not let through as they are: those it mends on the way, and those it does not send. */
  readonly kept: { readonly mended: readonly string[]; readonly unsent: readonly string[] };
  /** How many must get through. */
  readonly atLeast: number;
};

/** Registers a test for every broken request: the client throws its vendor's error for it, with the words of the rule. */
export const proveRefusals = ({ wire, cases, providers, open, isRefusal, kept, atLeast }: Refusals): void => {
  const all = brokenRequests(wire, cases).filter(({ provider }) => providers?.includes(provider) ?? true);
  const held = all.filter(({ name }) => kept.mended.includes(name) || kept.unsent.includes(name));
  const sent = all.filter((broken) => !held.includes(broken));
  let arena: Arena;
  beforeAll(async () => void (arena = await openArena(wire, open)));
  afterAll(() => arena.close());

  it.each(sent.map((broken) => [broken.provider, broken.name, broken] as const))(
    "throws the vendor's own error when %s refuses %s",
    async (provider, _name, broken) => {
      const outcome = await arena.send(broken);
      expect(outcome).toMatchObject({ type: "refused", status: 400 });
      if (outcome.type === "refused")
        expect(outcome.error).toSatisfy((error) => isRefusal(error, outcome.status, outcome.words, provider));
    },
  );

  it("mends or keeps back what is listed, and nothing else", async () => {
    const outcomes: Outcome["type"][] = [];
    for (const broken of held) outcomes.push((await arena.send(broken)).type);
    const named = (type: Outcome["type"]): readonly string[] =>
      held.filter((_, index) => outcomes[index] === type).map(({ name }) => name);
    expect({ mended: named("mended"), unsent: named("unsent") }).toEqual(kept);
    expect(sent.length).toBeGreaterThanOrEqual(atLeast);
  });
};
