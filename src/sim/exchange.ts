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

/** The server of one provider: its family, accepted keys, prompt cache and model. */
export type SimServer = {
  readonly family: SimFamily;
  readonly provider: SimProvider;
  readonly allowedKeys: AllowedKeys;
  readonly cache: PromptCache;
  readonly generate: (modelRequest: SimModelRequest) => ModelReply | { readonly error: ScriptError };
  /** Ignores the request's output limit. */
  readonly unlimited?: true;
};

/** A request as it arrived. `prefix` precedes the provider's own paths. */
export type IncomingRequest = {
  readonly request: HttpRequest;
  readonly ordinal: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly prefix: string;
};

/** The result of a request. */
export type SimExchangeOutcome = { readonly model?: string; readonly body?: Json } & (
  | { readonly type: "refused"; readonly refusal: ApiRefusal; readonly rule?: string }
  | { readonly type: "fixed"; readonly json: Json }
  | { readonly type: "counted"; readonly request: SimRequest; readonly json: Json; readonly usage: SimUsage }
  | ({ readonly type: "whole"; readonly request: SimRequest; readonly json: Json } & ExchangeUsage)
  | ({
      readonly type: "stream";
      readonly request: SimRequest;
      readonly events: readonly (string | Uint8Array)[];
    } & ExchangeUsage)
);

/** The tokens of a response, and the seals that were ignored. */
type ExchangeUsage = Required<Pick<SimResponse, "usage" | "droppedSeals">>;

/** Answers a request: checks route, key and body, then the rules, then runs the model. */
export const answerRequest = (server: SimServer, incoming: IncomingRequest): SimExchangeOutcome => {
  const { family, provider } = server;
  const { request } = incoming;
  const path = pathOf(incoming, provider);
  const route = path === undefined ? undefined : family.route(request, path, provider);
  if (route === undefined)
    return refusedOutcome(
      refusalFor({ check: "no-route", method: request.method, path: new URL(request.url).pathname }),
    );
  const refusal = checkCredentials(request, provider, server.allowedKeys);
  if (refusal !== undefined) return refusedOutcome(refusal);
  switch (route.kind) {
    case "fixed":
      return { type: "fixed", json: route.body };
    case "models":
      return { type: "fixed", json: family.encodeModels(provider.models, provider) };
    case "model": {
      const model = findModel(provider, route.model);
      if (model === undefined) return refusedOutcome(refusalFor({ check: "no-model", model: route.model }));
      return { type: "fixed", json: family.encodeModel(model, provider) };
    }
    case "generate":
    case "stream":
    case "count": {
      const read = readBody(request, provider);
      if ("refused" in read) return refusedOutcome(read.refused);
      const body = route.kind === "count" ? (family.countedBody?.(read.body) ?? read.body) : read.body;
      const model = route.model ?? asText(body["model"]);
      const { headers } = request;
      const apiRequest: SimRequest = {
        provider,
        model,
        route,
        headers,
        body,
        ordinal: incoming.ordinal,
        time: Math.floor(incoming.now / 1000),
      };
      return { ...generateResponse(server, apiRequest, incoming.now), model, body: read.body };
    }
  }
};

const refusedOutcome = (refusal: ApiRefusal): SimExchangeOutcome => ({ type: "refused", refusal });

const pathOf = ({ request, prefix }: IncomingRequest, { base }: SimProvider): string | undefined => {
  const { pathname } = new URL(request.url);
  return pathname.startsWith(prefix + base) ? pathname.slice(prefix.length + base.length) : undefined;
};

/**
 * Finds a model by name. A name that is not listed but matches the provider's pattern gets the sizes of the first
 * model.
 */
const findModel = (provider: SimProvider, id: string): SimModel | undefined => {
  const listed = provider.models.find((model) => model.id === id);
  if (listed !== undefined) return listed;
  const first = provider.models[0];
  return first !== undefined && provider.knownModels.test(id) ? { ...first, id } : undefined;
};

const generateResponse = (server: SimServer, request: SimRequest, now: number): SimExchangeOutcome => {
  const { family, provider } = server;
  const model = findModel(provider, request.model);
  const noModel = refusedOutcome(refusalFor({ check: "no-model", model: request.model }));
  if (model === undefined && request.model !== "") return noModel;
  const broken = findBrokenRule(request);
  if (broken !== undefined) return broken;
  if (model === undefined) return noModel;
  const prompt = checkPrompt(family, request);
  if ("refusal" in prompt) return refusedOutcome(prompt.refusal);
  const { input, inputBy } = prompt;
  if (request.route.kind === "count") {
    const usage = { input, inputBy, cachedRead: 0, cachedWrite: 0, output: 0, reasoning: 0 };
    return { type: "counted", request, json: family.encodeCount(usage, request), usage };
  }
  if (input > model.context)
    return refusedOutcome(refusalFor({ check: "context", model: request.model, tokens: input, limit: model.context }));

  const modelRequest = {
    ...family.parseRequest(request),
    ...(server.unlimited === true ? { maxOutput: Infinity } : {}),
  };
  const reply = server.generate(modelRequest);
  if ("error" in reply) return refusedOutcome({ ...reply.error, kind: kindOfStatus(reply.error.status) });
  const rule = { ...provider.cache, minTokens: model.minCacheTokens ?? provider.cache.minTokens };
  const cached = server.cache.readAndStore(request.model, prompt.units, rule, now);
  const counts = { input, inputBy, cachedRead: cached.read, cachedWrite: cached.written };
  const response = {
    ...buildResponse(reply, { request, modelRequest, prefix: prompt.digest }, counts),
    droppedSeals: prompt.droppedSeals,
  };
  const usage = { usage: response.usage, droppedSeals: prompt.droppedSeals };
  return request.route.kind === "stream"
    ? { type: "stream", request, events: family.encodeStream(response, request), ...usage }
    : { type: "whole", request, json: family.encodeResponse(response, request), ...usage };
};

/** A prompt after its checks, with token counts. Units the vendor ignores are in `units` with no tokens. */
type CheckedPrompt = {
  readonly units: readonly PromptUnit[];
  readonly input: number;
  readonly inputBy: TokensByModality;
  /** The digest of everything new seals are bound to. */
  readonly digest: string;
  readonly droppedSeals: NonNullable<SimResponse["droppedSeals"]>;
};

const checkPrompt = (family: SimFamily, request: SimRequest): CheckedPrompt | { readonly refusal: ApiRefusal } => {
  const refusal = family.checkRequest?.(request);
  if (refusal !== undefined) return { refusal };
  const all = family.splitPrompt(request);
  const prefix = prefixDigests(all);
  const seals = checkSeals(family, request, prefix);
  if ("refusal" in seals) return seals;
  const units = all.map((unit, index) => (seals.unbilled.has(index) ? { ...unit, tokens: {} } : unit));
  const inputBy = sumUnits(units);
  return { units, inputBy, input: sumTokens(inputBy), digest: prefix(all.length), droppedSeals: seals.droppedSeals };
};

const findBrokenRule = ({ provider, model, body }: SimRequest): SimExchangeOutcome | undefined => {
  const target = { wire: provider.wire, provider: provider.id, ...(model === "" ? {} : { model }) };
  const finding = lint(body, target).find(({ level, effect }) => level === "error" && effect === "rejected");
  if (finding === undefined) return undefined;
  const { message, pointer, rule } = finding;
  return { type: "refused", refusal: { status: 400, kind: "bad-request", message, pointer }, rule };
};

/** Computes digests of prompt prefixes by number of units, skipping units that seals are not bound to. */
const prefixDigests = (units: readonly PromptUnit[]): ((units: number) => string) => {
  const digests = [digest("")];
  for (const { content, isUnbound } of units) {
    const before = digests.at(-1) ?? "";
    digests.push(isUnbound === true ? before : digest(`${before}\n${content}`));
  }
  return (count) => digests[count] ?? "";
};

type CheckedSeals =
  | { readonly refusal: ApiRefusal }
  | { readonly unbilled: ReadonlySet<number>; readonly droppedSeals: NonNullable<SimResponse["droppedSeals"]> };

const checkSeals = (family: SimFamily, request: SimRequest, prefix: (units: number) => string): CheckedSeals => {
  const unbilled = new Set<number>();
  const droppedSeals: { readonly pointer: string; readonly verdict: SealVerdict }[] = [];
  for (const use of family.findSeals(request)) {
    const verdict = checkSeal(use, { provider: request.provider.id, model: request.model, prefix });
    if (verdict === "genuine") continue;
    const decision = family.judgeSeal(use, verdict, request);
    if (decision === "accepted") continue;
    if (decision !== undefined) return { refusal: decision };
    droppedSeals.push({ pointer: use.pointer, verdict });
    if (use.unit !== undefined) unbilled.add(use.unit);
  }
  return { unbilled, droppedSeals };
};

const sumUnits = (units: readonly PromptUnit[]): TokensByModality => {
  const sums = new Map<string, number>();
  for (const { tokens } of units)
    for (const [modality, count] of Object.entries(tokens)) sums.set(modality, (sums.get(modality) ?? 0) + count);
  return Object.fromEntries(sums);
};
