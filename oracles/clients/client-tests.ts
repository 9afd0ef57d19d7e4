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

/** The expected result of a client that runs the scene. */
export type ExpectedScene = SceneSetup & {
  /** The finish reasons of the two responses, in the vendor's terms. */
  readonly finish: readonly [unknown, unknown];
  /** The thinking it receives, if not the whole. */
  readonly thought?: string;
  /** False if the model has no image input. */
  readonly picture?: boolean;
};

/** Registers the test that a client completes the scene. */
export const testScene = ({ finish, thought, picture, ...cast }: ExpectedScene): void => {
  it("receives thinking, text and two calls, sends results and an image, and receives the final text", async () => {
    expectScene(await runScene(cast), {
      finish,
      ...(thought === undefined ? {} : { thought }),
      ...(picture === undefined ? {} : { picture }),
    });
  });
};

/**
 * Registers the test that a client and Parley send the same requests, except for the listed differences with their
 * reasons.
 */
export const testSameRequests = (
  cast: SceneSetup,
  environment: (server: SceneServer) => Environment,
  listed: { readonly [difference: string]: string },
): void => {
  it("sends what Parley sends, except for the listed differences", async () => {
    expect((await compareWithParley(cast, environment)).toSorted()).toEqual(Object.keys(listed).toSorted());
  });
};

/** Registers the test that a server detects a changed seal. */
export const testSeals = (cast: SceneSetup, isRefusal: (error: unknown) => boolean): void => {
  it("is accepted with an unchanged seal, and refused with a changed one", async () => {
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

/** Failures of a server that do not depend on the request. */
type SceneFailure =
  | "a wrong key"
  | "an unknown model"
  | "too many requests"
  | "an overloaded server"
  | "an error inside a stream";

const sceneFailures: { readonly [trouble in SceneFailure]: Partial<SimulatorOptions & { readonly model: string }> } = {
  "a wrong key": { keys: ["another"], awsSecret: { id: "another", secret: "another" } },
  "an unknown model": { model: "no-such-model" },
  "too many requests": { faults: [{ fault: { type: "status", status: 429 } }] },
  "an overloaded server": { faults: [{ fault: { type: "status", status: 529 } }] },
  "an error inside a stream": { faults: [{ fault: { type: "stream-error", after: 3 } }] },
};

/** Registers the tests that every failure reaches a client as its vendor's error. */
export const testFailures = (
  cast: SceneSetup,
  told: { readonly [trouble in SceneFailure]: (error: unknown) => boolean },
): void => {
  it.each(Object.keys(sceneFailures) as SceneFailure[])("reports %s with its own error", async (trouble) => {
    const { open, model, ...options } = { ...cast, ...sceneFailures[trouble] };
    const played = withServer({ ...options, script }, (server) => open(server, model).loop());
    await expect(played).rejects.toSatisfy(told[trouble]);
  });
};

/** The broken requests of a family and the clients that send them. */
export type RefusalTests = {
  readonly wire: RuleWire;
  readonly cases: readonly RuleCase[];
  /** The providers. Default: the whole family. */
  readonly providers?: readonly string[];
  readonly open: (provider: string) => OpenClient;
  /** True if an error has the vendor's class for this status, and this message. */
  readonly isRefusal: (error: unknown, status: number, words: string, provider: string) => boolean;
  /** The cases a client does not send unchanged: those it repairs, and those it refuses to send. */
  readonly exceptions: { readonly mended: readonly string[]; readonly unsent: readonly string[] };
  /** Minimum number of requests that must be sent. */
  readonly atLeast: number;
};

/** Registers a test for every broken request: the client throws its vendor's error with the rule's message. */
export const testRefusals = ({ wire, cases, providers, open, isRefusal, exceptions, atLeast }: RefusalTests): void => {
  const all = brokenRequests(wire, cases).filter(({ provider }) => providers?.includes(provider) ?? true);
  const held = all.filter(({ name }) => exceptions.mended.includes(name) || exceptions.unsent.includes(name));
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

  it("repairs or does not send the listed requests, and no others", async () => {
    const outcomes: BrokenRequestOutcome["type"][] = [];
    for (const broken of held) outcomes.push((await arena.send(broken)).type);
    const named = (type: BrokenRequestOutcome["type"]): readonly string[] =>
      held.filter((_, index) => outcomes[index] === type).map(({ name }) => name);
    expect({ mended: named("mended"), unsent: named("unsent") }).toEqual(exceptions);
    expect(sent.length).toBeGreaterThanOrEqual(atLeast);
  });
};
