import { lint } from "../rules/lint.ts";
import type { HttpRequest } from "../world/net.ts";
import { answerOf } from "./answer.ts";
import { sumTokens, type PromptCache } from "./cache.ts";
import { checkKey, kindOf, readBody, refusedAt, type Doormen } from "./door.ts";
import type {
  Ask,
  Family,
  Json,
  Refusal,
  SealVerdict,
  SimModel,
  SimProvider,
  SimUsage,
  Spoken,
  Unit,
} from "./family.ts";
import { asText } from "./json.ts";
import type { Heard, Said, Tokens } from "./model.ts";
import { checkSeal, digest } from "./seal.ts";
import type { ScriptError } from "./script.ts";

/** A server of one provider: what it is, whom it lets in, what it remembers and who speaks for it. */
export type Server = {
  readonly family: Family;
  readonly provider: SimProvider;
  readonly doormen: Doormen;
  readonly cache: PromptCache;
  readonly speak: (heard: Heard) => Said | { readonly error: ScriptError };
  /** Answers may be longer than the caller allows. */
  readonly unlimited?: true;
};

/** A request as it arrived. `prefix` stands before the provider's own paths. */
export type Arrival = {
  readonly request: HttpRequest;
  readonly ordinal: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly prefix: string;
};

/** What became of a request, as far as it got. */
export type Outcome = { readonly model?: string; readonly body?: Json } & (
  | { readonly type: "refused"; readonly refusal: Refusal; readonly rule?: string }
  | { readonly type: "fixed"; readonly answer: Json }
  | { readonly type: "counted"; readonly ask: Ask; readonly answer: Json; readonly usage: SimUsage }
  | ({ readonly type: "whole"; readonly ask: Ask; readonly answer: Json } & Accounts)
  | ({ readonly type: "stream"; readonly ask: Ask; readonly events: readonly (string | Uint8Array)[] } & Accounts)
);

/** What an answer cost, and the seals that were passed over. */
type Accounts = Required<Pick<Spoken, "usage" | "dropped">>;

/** What a server makes of a request: first the door, then the rules, then the model. */
export const answer = (server: Server, arrival: Arrival): Outcome => {
  const { family, provider } = server;
  const { request } = arrival;
  const path = pathOf(arrival, provider);
  const route = path === undefined ? undefined : family.route(request, path, provider);
  if (route === undefined)
    return refused(refusedAt({ door: "no-route", method: request.method, path: new URL(request.url).pathname }));
  const stopped = checkKey(request, provider, server.doormen);
  if (stopped !== undefined) return refused(stopped);
  switch (route.kind) {
    case "fixed":
      return { type: "fixed", answer: route.body };
    case "models":
      return { type: "fixed", answer: family.models(provider.models, provider) };
    case "model": {
      const model = modelNamed(provider, route.model);
      if (model === undefined) return refused(refusedAt({ door: "no-model", model: route.model }));
      return { type: "fixed", answer: family.model(model, provider) };
    }
    case "generate":
    case "stream":
    case "count": {
      const read = readBody(request, provider);
      if ("refused" in read) return refused(read.refused);
      const body = route.kind === "count" ? (family.counted?.(read.body) ?? read.body) : read.body;
      const model = route.model ?? asText(body["model"]);
      const { headers } = request;
      const ask: Ask = {
        provider,
        model,
        route,
        headers,
        body,
        ordinal: arrival.ordinal,
        time: Math.floor(arrival.now / 1000),
      };
      return { ...answerAsk(server, ask, arrival.now), model, body: read.body };
    }
  }
};

const refused = (refusal: Refusal): Outcome => ({ type: "refused", refusal });

const pathOf = ({ request, prefix }: Arrival, { base }: SimProvider): string | undefined => {
  const { pathname } = new URL(request.url);
  return pathname.startsWith(prefix + base) ? pathname.slice(prefix.length + base.length) : undefined;
};

/** A model that is only known by its kind is as large as the first. */
const modelNamed = (provider: SimProvider, id: string): SimModel | undefined => {
  const listed = provider.models.find((model) => model.id === id);
  if (listed !== undefined) return listed;
  const first = provider.models[0];
  return first !== undefined && provider.known.test(id) ? { ...first, id } : undefined;
};

const answerAsk = (server: Server, ask: Ask, now: number): Outcome => {
  const { family, provider } = server;
  const model = modelNamed(provider, ask.model);
  const noModel = refused(refusedAt({ door: "no-model", model: ask.model }));
  if (model === undefined && ask.model !== "") return noModel;
  const broken = brokenRule(ask);
  if (broken !== undefined) return broken;
  if (model === undefined) return noModel;
  const prompt = readPrompt(family, ask);
  if ("refusal" in prompt) return refused(prompt.refusal);
  const { input, inputBy } = prompt;
  if (ask.route.kind === "count") {
    const usage = { input, inputBy, cachedRead: 0, cachedWrite: 0, output: 0, reasoning: 0 };
    return { type: "counted", ask, answer: family.count(usage, ask), usage };
  }
  if (input > model.context)
    return refused(refusedAt({ door: "context", model: ask.model, tokens: input, limit: model.context }));

  const heard = { ...family.hear(ask), ...(server.unlimited === true ? { maxOutput: Infinity } : {}) };
  const said = server.speak(heard);
  if ("error" in said) return refused({ ...said.error, kind: kindOf(said.error.status) });
  const rule = { ...provider.cache, floor: model.cacheFloor ?? provider.cache.floor };
  const cached = server.cache.use(ask.model, prompt.units, rule, now);
  const counts = { input, inputBy, cachedRead: cached.read, cachedWrite: cached.written };
  const spoken = { ...answerOf(said, { ask, heard, prefix: prompt.digest }, counts), dropped: prompt.dropped };
  const accounts = { usage: spoken.usage, dropped: prompt.dropped };
  return ask.route.kind === "stream"
    ? { type: "stream", ask, events: family.stream(spoken, ask), ...accounts }
    : { type: "whole", ask, answer: family.whole(spoken, ask), ...accounts };
};

/** A prompt that was checked and counted. What the vendor passes over is in `units`, and costs nothing. */
type Prompt = {
  readonly units: readonly Unit[];
  readonly input: number;
  readonly inputBy: Tokens;
  /** Of all that new seals are bound to. */
  readonly digest: string;
  readonly dropped: NonNullable<Spoken["dropped"]>;
};

const readPrompt = (family: Family, ask: Ask): Prompt | { readonly refusal: Refusal } => {
  const refusal = family.check?.(ask);
  if (refusal !== undefined) return { refusal };
  const all = family.prompt(ask);
  const prefix = prefixDigests(all);
  const seals = checkSeals(family, ask, prefix);
  if ("refusal" in seals) return seals;
  const units = all.map((unit, index) => (seals.unbilled.has(index) ? { ...unit, tokens: {} } : unit));
  const inputBy = addTokens(units);
  return { units, inputBy, input: sumTokens(inputBy), digest: prefix(all.length), dropped: seals.dropped };
};

const brokenRule = ({ provider, model, body }: Ask): Outcome | undefined => {
  const target = { wire: provider.wire, provider: provider.id, ...(model === "" ? {} : { model }) };
  const finding = lint(body, target).find(({ level, effect }) => level === "error" && effect === "rejected");
  if (finding === undefined) return undefined;
  const { message, pointer, rule } = finding;
  return { type: "refused", refusal: { status: 400, kind: "bad-request", message, pointer }, rule };
};

/** The digest of the first units, without those that seals are not bound to. */
const prefixDigests = (units: readonly Unit[]): ((after: number) => string) => {
  const digests = [digest("")];
  for (const { content, unbound } of units) {
    const before = digests.at(-1) ?? "";
    digests.push(unbound === true ? before : digest(`${before}\n${content}`));
  }
  return (after) => digests[after] ?? "";
};

type Seals =
  | { readonly refusal: Refusal }
  | { readonly unbilled: ReadonlySet<number>; readonly dropped: NonNullable<Spoken["dropped"]> };

const checkSeals = (family: Family, ask: Ask, prefix: (after: number) => string): Seals => {
  const unbilled = new Set<number>();
  const dropped: { readonly pointer: string; readonly verdict: SealVerdict }[] = [];
  for (const use of family.seals(ask)) {
    const verdict = checkSeal(use, { provider: ask.provider.id, model: ask.model, prefix });
    if (verdict === "genuine") continue;
    const judged = family.judge(use, verdict, ask);
    if (judged === "accepted") continue;
    if (judged !== undefined) return { refusal: judged };
    dropped.push({ pointer: use.pointer, verdict });
    if (use.unit !== undefined) unbilled.add(use.unit);
  }
  return { unbilled, dropped };
};

const addTokens = (units: readonly Unit[]): Tokens => {
  const sums = new Map<string, number>();
  for (const { tokens } of units)
    for (const [modality, count] of Object.entries(tokens)) sums.set(modality, (sums.get(modality) ?? 0) + count);
  return Object.fromEntries(sums);
};
