import { lint } from "../rules/lint.ts";
import type { HttpRequest } from "../world/net.ts";
import { buildResponse } from "./response.ts";
import { sumTokens, type PromptCache } from "./prompt-cache.ts";
import { checkCredentials, kindOfStatus, readBody, refusalFor, type AllowedKeys } from "./request-checks.ts";
import type {
  SimRequest,
  SimFamily,
  Json,
  ApiRefusal,
  SealVerdict,
  SimModel,
  SimProvider,
  SimUsage,
  SimResponse,
  PromptUnit,
} from "./family.ts";
import { asText } from "./json.ts";
import type { SimModelRequest, ModelReply, TokensByModality } from "./model/types.ts";
import { checkSeal, digest } from "./seal.ts";
import type { ScriptError } from "./model/script.ts";

/** A server of one provider: what it is, whom it lets in, what it remembers and who speaks for it. */
export type SimServer = {
  readonly family: SimFamily;
  readonly provider: SimProvider;
  readonly allowedKeys: AllowedKeys;
  readonly cache: PromptCache;
  readonly generate: (heard: SimModelRequest) => ModelReply | { readonly error: ScriptError };
  /** Answers may be longer than the caller allows. */
  readonly unlimited?: true;
};

/** A request as it arrived. `prefix` stands before the provider's own paths. */
export type IncomingRequest = {
  readonly request: HttpRequest;
  readonly ordinal: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly prefix: string;
};

/** What became of a request, as far as it got. */
export type SimExchangeOutcome = { readonly model?: string; readonly body?: Json } & (
  | { readonly type: "refused"; readonly refusal: ApiRefusal; readonly rule?: string }
  | { readonly type: "fixed"; readonly answer: Json }
  | { readonly type: "counted"; readonly ask: SimRequest; readonly answer: Json; readonly usage: SimUsage }
  | ({ readonly type: "whole"; readonly ask: SimRequest; readonly answer: Json } & ExchangeUsage)
  | ({
      readonly type: "stream";
      readonly ask: SimRequest;
      readonly events: readonly (string | Uint8Array)[];
    } & ExchangeUsage)
);

/** What an answer cost, and the seals that were passed over. */
type ExchangeUsage = Required<Pick<SimResponse, "usage" | "droppedSeals">>;

/** What a server makes of a request: first the door, then the rules, then the model. */
export const answerRequest = (server: SimServer, arrival: IncomingRequest): SimExchangeOutcome => {
  const { family, provider } = server;
  const { request } = arrival;
  const path = pathOf(arrival, provider);
  const route = path === undefined ? undefined : family.route(request, path, provider);
  if (route === undefined)
    return refusedOutcome(
      refusalFor({ check: "no-route", method: request.method, path: new URL(request.url).pathname }),
    );
  const stopped = checkCredentials(request, provider, server.allowedKeys);
  if (stopped !== undefined) return refusedOutcome(stopped);
  switch (route.kind) {
    case "fixed":
      return { type: "fixed", answer: route.body };
    case "models":
      return { type: "fixed", answer: family.encodeModels(provider.models, provider) };
    case "model": {
      const model = findModel(provider, route.model);
      if (model === undefined) return refusedOutcome(refusalFor({ check: "no-model", model: route.model }));
      return { type: "fixed", answer: family.encodeModel(model, provider) };
    }
    case "generate":
    case "stream":
    case "count": {
      const read = readBody(request, provider);
      if ("refused" in read) return refusedOutcome(read.refused);
      const body = route.kind === "count" ? (family.countedBody?.(read.body) ?? read.body) : read.body;
      const model = route.model ?? asText(body["model"]);
      const { headers } = request;
      const ask: SimRequest = {
        provider,
        model,
        route,
        headers,
        body,
        ordinal: arrival.ordinal,
        time: Math.floor(arrival.now / 1000),
      };
      return { ...generateResponse(server, ask, arrival.now), model, body: read.body };
    }
  }
};

const refusedOutcome = (refusal: ApiRefusal): SimExchangeOutcome => ({ type: "refused", refusal });

const pathOf = ({ request, prefix }: IncomingRequest, { base }: SimProvider): string | undefined => {
  const { pathname } = new URL(request.url);
  return pathname.startsWith(prefix + base) ? pathname.slice(prefix.length + base.length) : undefined;
};

/** A model that is only known by its kind is as large as the first. */
const findModel = (provider: SimProvider, id: string): SimModel | undefined => {
  const listed = provider.models.find((model) => model.id === id);
  if (listed !== undefined) return listed;
  const first = provider.models[0];
  return first !== undefined && provider.knownModels.test(id) ? { ...first, id } : undefined;
};

const generateResponse = (server: SimServer, ask: SimRequest, now: number): SimExchangeOutcome => {
  const { family, provider } = server;
  const model = findModel(provider, ask.model);
  const noModel = refusedOutcome(refusalFor({ check: "no-model", model: ask.model }));
  if (model === undefined && ask.model !== "") return noModel;
  const broken = findBrokenRule(ask);
  if (broken !== undefined) return broken;
  if (model === undefined) return noModel;
  const prompt = checkPrompt(family, ask);
  if ("refusal" in prompt) return refusedOutcome(prompt.refusal);
  const { input, inputBy } = prompt;
  if (ask.route.kind === "count") {
    const usage = { input, inputBy, cachedRead: 0, cachedWrite: 0, output: 0, reasoning: 0 };
    return { type: "counted", ask, answer: family.encodeCount(usage, ask), usage };
  }
  if (input > model.context)
    return refusedOutcome(refusalFor({ check: "context", model: ask.model, tokens: input, limit: model.context }));

  const heard = { ...family.parseRequest(ask), ...(server.unlimited === true ? { maxOutput: Infinity } : {}) };
  const said = server.generate(heard);
  if ("error" in said) return refusedOutcome({ ...said.error, kind: kindOfStatus(said.error.status) });
  const rule = { ...provider.cache, floor: model.minCacheTokens ?? provider.cache.minTokens };
  const cached = server.cache.readAndStore(ask.model, prompt.units, rule, now);
  const counts = { input, inputBy, cachedRead: cached.read, cachedWrite: cached.written };
  const spoken = {
    ...buildResponse(said, { ask, heard, prefix: prompt.digest }, counts),
    droppedSeals: prompt.dropped,
  };
  const accounts = { usage: spoken.usage, droppedSeals: prompt.dropped };
  return ask.route.kind === "stream"
    ? { type: "stream", ask, events: family.encodeStream(spoken, ask), ...accounts }
    : { type: "whole", ask, answer: family.encodeResponse(spoken, ask), ...accounts };
};

/** A prompt that was checked and counted. What the vendor passes over is in `units`, and costs nothing. */
type CheckedPrompt = {
  readonly units: readonly PromptUnit[];
  readonly input: number;
  readonly inputBy: TokensByModality;
  /** Of all that new seals are bound to. */
  readonly digest: string;
  readonly dropped: NonNullable<SimResponse["droppedSeals"]>;
};

const checkPrompt = (family: SimFamily, ask: SimRequest): CheckedPrompt | { readonly refusal: ApiRefusal } => {
  const refusal = family.checkRequest?.(ask);
  if (refusal !== undefined) return { refusal };
  const all = family.splitPrompt(ask);
  const prefix = prefixDigests(all);
  const seals = checkSeals(family, ask, prefix);
  if ("refusal" in seals) return seals;
  const units = all.map((unit, index) => (seals.unbilled.has(index) ? { ...unit, tokens: {} } : unit));
  const inputBy = sumUnits(units);
  return { units, inputBy, input: sumTokens(inputBy), digest: prefix(all.length), dropped: seals.dropped };
};

const findBrokenRule = ({ provider, model, body }: SimRequest): SimExchangeOutcome | undefined => {
  const target = { wire: provider.wire, provider: provider.id, ...(model === "" ? {} : { model }) };
  const finding = lint(body, target).find(({ level, effect }) => level === "error" && effect === "rejected");
  if (finding === undefined) return undefined;
  const { message, pointer, rule } = finding;
  return { type: "refused", refusal: { status: 400, kind: "bad-request", message, pointer }, rule };
};

/** The digest of the first units, without those that seals are not bound to. */
const prefixDigests = (units: readonly PromptUnit[]): ((after: number) => string) => {
  const digests = [digest("")];
  for (const { content, isUnbound: unbound } of units) {
    const before = digests.at(-1) ?? "";
    digests.push(unbound === true ? before : digest(`${before}\n${content}`));
  }
  return (after) => digests[after] ?? "";
};

type CheckedSeals =
  | { readonly refusal: ApiRefusal }
  | { readonly unbilled: ReadonlySet<number>; readonly dropped: NonNullable<SimResponse["droppedSeals"]> };

const checkSeals = (family: SimFamily, ask: SimRequest, prefix: (after: number) => string): CheckedSeals => {
  const unbilled = new Set<number>();
  const dropped: { readonly pointer: string; readonly verdict: SealVerdict }[] = [];
  for (const use of family.findSeals(ask)) {
    const verdict = checkSeal(use, { provider: ask.provider.id, model: ask.model, prefix });
    if (verdict === "genuine") continue;
    const judged = family.judgeSeal(use, verdict, ask);
    if (judged === "accepted") continue;
    if (judged !== undefined) return { refusal: judged };
    dropped.push({ pointer: use.pointer, verdict });
    if (use.unit !== undefined) unbilled.add(use.unit);
  }
  return { unbilled, dropped };
};

const sumUnits = (units: readonly PromptUnit[]): TokensByModality => {
  const sums = new Map<string, number>();
  for (const { tokens } of units)
    for (const [modality, count] of Object.entries(tokens)) sums.set(modality, (sums.get(modality) ?? 0) + count);
  return Object.fromEntries(sums);
};
