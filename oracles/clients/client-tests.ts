import { afterAll, beforeAll, expect, it } from "vitest";
import type { RuleCase } from "../../src/rules/rule.cases.ts";
import type { RuleWire } from "../../src/rules/rule.ts";
import type { SimulatorOptions } from "../../src/sim/simulator.ts";
import type { Environment } from "../../src/world/world.ts";
import type { OpenClient } from "./client.ts";
import { compareWithParley, expectScene, runScene, type SceneSetup } from "./run-scene.ts";
import {
  brokenRequests,
  openProviderServers,
  type ProviderServers,
  type BrokenRequestOutcome,
} from "./broken-requests.ts";
import { script } from "./scene.ts";
import { withServer, type SceneServer } from "./server.ts";

/** What is expected of a client that plays the scene. */
export type ExpectedScene = SceneSetup & {
  /** How the two answers end, in the vendor's words. */
  readonly finish: readonly [unknown, unknown];
  /** The thought it hears, where not the whole. */
  readonly thought?: string;
  /** False where the model has no eyes. */
  readonly picture?: boolean;
};

/** Registers the test that a client gets through the scene. */
export const testScene = ({ finish, thought, picture, ...cast }: ExpectedScene): void => {
  it("hears a thought, words and two calls, sends results and a picture, and hears the end", async () => {
    expectScene(await runScene(cast), {
      finish,
      ...(thought === undefined ? {} : { thought }),
      ...(picture === undefined ? {} : { picture }),
    });
  });
};

/** Registers the test that a client and Parley send the same, but for what is listed with its reason. */
export const testSameRequests = (
  cast: SceneSetup,
  environment: (server: SceneServer) => Environment,
  listed: { readonly [difference: string]: string },
): void => {
  it("sends what Parley sends, but for what is listed here", async () => {
    expect((await compareWithParley(cast, environment)).toSorted()).toEqual(Object.keys(listed).toSorted());
  });
};

/** Registers the test that a server notices when the client sends back a seal that was changed. */
export const testSeals = (cast: SceneSetup, isRefusal: (error: unknown) => boolean): void => {
  it("is heard when a seal comes back as it was, and refused when it comes back changed", async () => {
    const { log } = await runScene(cast);
    const { open, model, ...options } = cast;
    const send = (text: string): Promise<unknown> =>
      withServer({ ...options, script }, (server) =>
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
type SceneFailure =
  | "a wrong key"
  | "a model that is not there"
  | "too many requests"
  | "an overloaded server"
  | "a failure within a stream";

const sceneFailures: { readonly [trouble in SceneFailure]: Partial<SimulatorOptions & { readonly model: string }> } = {
  "a wrong key": { keys: ["another"], awsSecret: { id: "another", secret: "another" } },
  "a model that is not there": { model: "no-such-model" },
  "too many requests": { faults: [{ fault: { type: "status", status: 429 } }] },
  "an overloaded server": { faults: [{ fault: { type: "status", status: 529 } }] },
  "a failure within a stream": { faults: [{ fault: { type: "stream-error", after: 3 } }] },
};

/** Registers the tests that trouble of any kind reaches a client as an error of its vendor. */
export const testFailures = (
  cast: SceneSetup,
  told: { readonly [trouble in SceneFailure]: (error: unknown) => boolean },
): void => {
  it.each(Object.keys(sceneFailures) as SceneFailure[])("is told of %s in its own way", async (trouble) => {
    const { open, model, ...options } = { ...cast, ...sceneFailures[trouble] };
    const played = withServer({ ...options, script }, (server) => open(server, model).loop());
    await expect(played).rejects.toSatisfy(told[trouble]);
  });
};

/** The broken requests of a family, and the clients that send them. */
export type RefusalTests = {
  readonly wire: RuleWire;
  readonly cases: readonly RuleCase[];
  /** Whose requests, where not those of the whole family. */
  readonly providers?: readonly string[];
  readonly open: (provider: string) => OpenClient;
  /** Whether an error is the vendor's class for this status, and says these words. */
  readonly isRefusal: (error: unknown, status: number, words: string, provider: string) => boolean;
  /** The cases a client does not let through as they are: those it mends on the way, and those it does not send. */
  readonly exceptions: { readonly mended: readonly string[]; readonly unsent: readonly string[] };
  /** How many must get through. */
  readonly atLeast: number;
};

/** Registers a test for every broken request: the client throws its vendor's error for it, with the words of the rule. */
export const testRefusals = ({
  wire,
  cases,
  providers,
  open,
  isRefusal,
  exceptions: kept,
  atLeast,
}: RefusalTests): void => {
  const all = brokenRequests(wire, cases).filter(({ provider }) => providers?.includes(provider) ?? true);
  const held = all.filter(({ name }) => kept.mended.includes(name) || kept.unsent.includes(name));
  const sent = all.filter((broken) => !held.includes(broken));
  let arena: ProviderServers;
  beforeAll(async () => void (arena = await openProviderServers(wire, open)));
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
    const outcomes: BrokenRequestOutcome["type"][] = [];
    for (const broken of held) outcomes.push((await arena.send(broken)).type);
    const named = (type: BrokenRequestOutcome["type"]): readonly string[] =>
      held.filter((_, index) => outcomes[index] === type).map(({ name }) => name);
    expect({ mended: named("mended"), unsent: named("unsent") }).toEqual(kept);
    expect(sent.length).toBeGreaterThanOrEqual(atLeast);
  });
};
