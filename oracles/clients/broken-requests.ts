import { lint } from "../../src/rules/lint.ts";
import type { RuleTarget, RuleWire } from "../../src/rules/rule.ts";
import type { RuleCase } from "../../src/rules/rule.cases.ts";
import { listSimulatedProviders } from "../../src/sim/registry.ts";
import { serve } from "../../src/sim/serve.ts";
import { createSimulator, type Simulator } from "../../src/sim/simulator.ts";
import type { ClientBody, VendorClient, OpenClient } from "./client.ts";
import { differences } from "./differences.ts";

/** A request that its API refuses, with the rule. */
export type BrokenRequest = ClientBody & { readonly name: string; readonly provider: string; readonly rule: string };

/**
 * The rule cases of a family that are rejected at the simulated providers. A case without a model gets the provider's
 * first model that breaks the same rule.
 */
export const brokenRequests = (wire: RuleWire, cases: readonly RuleCase[]): readonly BrokenRequest[] =>
  cases.flatMap((each) => {
    const { breaks, target, rule, name } = each;
    const provider = providersOf(wire).find(({ id }) => target.provider === undefined || id === target.provider);
    if (provider === undefined || !isBody(breaks) || isHuge(breaks)) return [];
    for (const model of modelsFor(provider, target)) {
      const body = "model" in breaks ? { ...breaks, model } : breaks;
      const found = lint(body, { wire, provider: provider.id, model }).find(
        ({ level, effect }) => level === "error" && effect === "rejected",
      );
      if (found?.rule === rule) return [{ name: `${rule}: ${name}`, provider: provider.id, rule, model, body }];
    }
    return [];
  });

const providersOf = (wire: RuleWire): readonly Simulator["provider"][] =>
  listSimulatedProviders()
    .map((provider) => createSimulator({ provider }).provider)
    .filter((provider) => provider.wire === wire);

const modelsFor = ({ models, knownModels }: Simulator["provider"], { model }: RuleTarget): readonly string[] => {
  const listed = models.map(({ id }) => id);
  return model !== undefined && (knownModels.test(model) || listed.includes(model)) ? [model, ...listed] : listed;
};

/** Oversized bodies are refused before any rule. */
const isHuge = (body: ClientBody["body"]): boolean => JSON.stringify(body).length > 2 ** 23;

const isBody = (value: unknown): value is ClientBody["body"] =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The result of a broken request. */
export type BrokenRequestOutcome =
  /** The server refused it with the expected rule. */
  | { readonly type: "refused"; readonly status: number; readonly words: string; readonly error: unknown }
  /** The client changed it, so that it no longer breaks the rule. */
  | { readonly type: "mended"; readonly changes: readonly string[] }
  /** The client did not send it. */
  | { readonly type: "unsent" }
  /** The server accepted it, or refused it with another rule. */
  | { readonly type: "missed" };

/** All providers of a family on one port, and a client for each. */
export type ProviderServers = {
  readonly send: (broken: BrokenRequest) => Promise<BrokenRequestOutcome>;
  readonly close: () => Promise<void>;
};

/** Starts the servers of a family. */
export const openProviderServers = async (
  wire: RuleWire,
  open: (provider: string) => OpenClient,
): Promise<ProviderServers> => {
  const simulators = new Map(providersOf(wire).map(({ id }) => [id, createSimulator({ provider: id })]));
  const { url, close } = await serve(Object.fromEntries([...simulators].map(([id, one]) => [`/${id}`, one])));
  const clientFor = ({ provider, model }: BrokenRequest): VendorClient => {
    const origin = `${url}/${provider}`;
    return open(provider)({ origin, base: origin + (simulators.get(provider)?.provider.base ?? "") }, model);
  };
  return {
    close,
    send: async (broken) => {
      const log = simulators.get(broken.provider)?.log ?? [];
      const before = log.length;
      const error = await catchError(() => clientFor(broken).send(structuredClone(broken)));
      const arrived = log[before];
      if (arrived === undefined) return { type: "unsent" };
      if (arrived.verdict === "refused" && arrived.rule === broken.rule)
        return { type: "refused", status: arrived.status, words: arrived.message, error };
      const changes = differences(broken.body, arrived.body).filter((line) => !alwaysAdded.includes(line));
      return changes.length > 0 && arrived.body !== undefined ? { type: "mended", changes } : { type: "missed" };
    },
  };
};

/** Fields the drivers always add: Anthropic's streams, Google's writes empty settings. */
const alwaysAdded: readonly string[] = ["+ /stream", "+ /generationConfig"];

const catchError = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error;
  }
};
