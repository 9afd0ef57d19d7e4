import { listModelFacts } from "../../providers/models.ts";
import { providers } from "../../providers/all.ts";
import { modelName, parseModel } from "../../agent/models/parse.ts";
import type { SwitchCheck } from "../../agent/models/switch-check.ts";
import { checkSessionSwitch } from "../../agent/models/session-switch-check.ts";
import { estimateSessionTokens } from "../../agent/context-window/session-tokens.ts";
import { describeDamage } from "../../session/repair/damage.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { lint } from "../../rules/lint.ts";
import type { Finding } from "../../rules/rule.ts";
import type { World } from "../../world/world.ts";
import type { Note } from "../../conversation/notes.ts";
import { titleOf, type Inspected } from "../data/inspected.ts";
import { listReadingRows, readEntryTimes, type EntryTimes, type ReadingRow } from "../data/reading-rows.ts";
import { formatJson, renderFor, type Rendering } from "../data/aligned-request.ts";
import {
  compareRequest,
  listRequestRows,
  sumRequests,
  type RequestComparison,
  type RequestRow,
  type RequestTotals,
} from "../data/requests.ts";
import { findFacts, type KnownModels } from "../data/model-facts.ts";
import { composeComposition, type Composition } from "../data/composition.ts";
import { describeExchange, type ExchangeDetails, type ExchangeRow } from "../data/exchanges.ts";
import { searchRows, type SearchHit } from "../data/search.ts";

/** Loads what is inspected, and says cheaply whether it has changed since. */
export type InspectionSource = {
  readonly load: () => Promise<Inspected>;
  /** A value that differs after a change; undefined for what never changes. */
  readonly revision: () => Promise<string | undefined>;
};

/** The first data the page asks for. */
export type Overview = {
  readonly kind: Inspected["kind"];
  readonly name: string;
  readonly title: string;
  readonly revision: number;
  readonly isLive: boolean;
  /** Number of rows of the reading view, and of entries. */
  readonly rows: number;
  readonly entries: number;
  readonly model?: string;
  readonly models: readonly string[];
  readonly root: string;
  readonly system?: string;
  readonly tools: readonly { readonly name: string; readonly json: string; readonly bytes: number }[];
  readonly damage: readonly string[];
  readonly requests: readonly RequestRow[];
  readonly totals: RequestTotals;
  /** Every model that can be rendered for, with its API family. */
  readonly targets: readonly Target[];
  /** Repairs made while a body was read. */
  readonly readNotes: readonly Note[];
  readonly body?: { readonly wire: string; readonly findings: readonly Finding[]; readonly json: string };
  /** The rows of an exchange log. */
  readonly exchanges?: readonly ExchangeRow[];
};

/** A model that the conversation can be rendered for. */
type Target = { readonly model: string; readonly wire: string; readonly context: number };

/** The rows of a rendering between two entries. */
export type RenderingPage = Omit<Rendering, "rows"> & {
  readonly rows: Rendering["rows"];
  readonly revision: number;
};

/** The world, and the facts about models from the user's settings. */
export type InspectionOptions = { readonly world: World; readonly models?: KnownModels | undefined };

/** A session or file, read again when it changed, with everything computed from it. */
export class Inspection {
  readonly #source: InspectionSource;
  readonly #world: World;
  readonly #models: KnownModels;
  #loaded: Promise<LoadedInspection> | undefined;
  #revision: string | undefined;
  #count = 0;

  constructor(source: InspectionSource, { world, models = {} }: InspectionOptions) {
    this.#source = source;
    this.#world = world;
    this.#models = models;
  }

  /** Returns a number that grows with every change. */
  async revision(): Promise<number> {
    return (await this.#current()).revision;
  }

  async overview(): Promise<Overview> {
    const { inspected, rows, requests, revision } = await this.#current();
    const { session, kind, name, readNotes, body, exchanges } = inspected;
    const { head, tools = [], model, entries, damage } = session;
    const authors = rows.flatMap(({ author }) => (author === undefined ? [] : [author]));
    return {
      kind,
      name: sanitizeForTerminal(name, "line"),
      title: titleOf(inspected),
      revision,
      isLive: this.#revision !== undefined,
      rows: rows.length,
      entries: entries.length,
      ...(model === undefined ? {} : { model: sanitizeForTerminal(`${model.provider}/${model.model}`, "line") }),
      models: [...new Set(authors)],
      root: sanitizeForTerminal(head.root, "line"),
      ...(head.system === undefined ? {} : { system: sanitizeForTerminal(head.system) }),
      tools: tools.map((tool) => ({
        name: sanitizeForTerminal(tool.name, "line"),
        json: formatJson(tool),
        bytes: Buffer.byteLength(JSON.stringify(tool)),
      })),
      damage: [
        ...damage.map((finding) => sanitizeForTerminal(describeDamage(finding), "line")),
        ...describeInvalid(exchanges?.invalid ?? 0),
      ],
      requests,
      totals: sumRequests(requests),
      targets: listTargets(this.#models),
      readNotes,
      ...(body === undefined
        ? {}
        : {
            body: { wire: body.wire, findings: lint(body.value, { wire: body.wire }), json: formatJson(body.value) },
          }),
      ...(exchanges === undefined ? {} : { exchanges: exchanges.rows }),
    };
  }

  /** Returns rows of the reading view, by position. */
  async rows(
    from: number,
    count: number,
  ): Promise<{ readonly revision: number; readonly rows: readonly ReadingRow[] }> {
    const { rows, revision } = await this.#current();
    return { revision, rows: rows.slice(from, from + count) };
  }

  /** Returns the position of an entry among the rows, and the entry of every row. */
  async places(): Promise<readonly number[]> {
    return (await this.#current()).rows.map(({ entry }) => entry);
  }

  async search(words: string): Promise<readonly SearchHit[]> {
    return searchRows((await this.#current()).rows, words);
  }

  /** Renders for a model and returns the rows of the entries from `start` up to `end`. */
  async rendering(to: string, start: number, end: number): Promise<RenderingPage> {
    const loaded = await this.#current();
    const rendering = loaded.renderingFor(to, this.#models);
    const isWithin = ({ entry }: { readonly entry: number }): boolean => entry >= start && entry < end;
    return { ...rendering, rows: rendering.rows.filter(isWithin), revision: loaded.revision };
  }

  /** Measures the next request to a model, by its contents. */
  async composition(to: string): Promise<Composition> {
    return composeComposition((await this.#current()).inspected.session, to, this.#models);
  }

  async comparison(number: number): Promise<RequestComparison | undefined> {
    return compareRequest((await this.#current()).inspected.session, number);
  }

  async switchCheck(to: string): Promise<SwitchCheck> {
    const { session } = (await this.#current()).inspected;
    const model = parseModel(to);
    const { context, price } = this.#models[modelName(model)] ?? {};
    const tokens = await estimateSessionTokens(this.#world, session, model);
    return checkSessionSwitch(session, model, { tokens, context, price });
  }

  /** Returns an exchange with both requests; undefined if there is no such exchange. */
  async exchange(number: number): Promise<ExchangeDetails | undefined> {
    const record = await (await this.#current()).inspected.exchanges?.read(number);
    return record === undefined ? undefined : describeExchange(record, number);
  }

  /** Returns stored bytes by hash. */
  async blob(hash: string): Promise<Buffer | undefined> {
    const { blobs } = (await this.#current()).inspected.session;
    const base64 = Object.hasOwn(blobs, hash) ? blobs[hash] : undefined;
    return base64 === undefined ? undefined : Buffer.from(base64, "base64");
  }

  async #current(): Promise<LoadedInspection> {
    const revision = await this.#source.revision();
    if (this.#loaded === undefined || revision !== this.#revision) {
      this.#revision = revision;
      const loading = this.#load();
      this.#loaded = loading;
      loading.catch(() => {
        if (this.#loaded === loading) this.#loaded = undefined;
      });
    }
    return this.#loaded;
  }

  async #load(): Promise<LoadedInspection> {
    const number = ++this.#count;
    const inspected = await this.#source.load();
    const times = await readEntryTimes(inspected.session);
    return new LoadedInspection({
      inspected,
      times,
      revision: number,
      requests: await listRequestRows(inspected.session, times, this.#models),
    });
  }
}

/** One revision, and what was computed from it. */
class LoadedInspection {
  readonly inspected: Inspected;
  readonly rows: readonly ReadingRow[];
  readonly requests: readonly RequestRow[];
  readonly revision: number;
  readonly #renderings = new Map<string, Rendering>();

  constructor(facts: {
    readonly inspected: Inspected;
    readonly times: EntryTimes;
    readonly requests: readonly RequestRow[];
    readonly revision: number;
  }) {
    this.inspected = facts.inspected;
    this.revision = facts.revision;
    this.requests = facts.requests;
    this.rows = listReadingRows(facts.inspected.session, facts.times);
  }

  /** Renders for a model. The last few renderings are kept. */
  renderingFor(to: string, models: KnownModels): Rendering {
    const found = this.#renderings.get(to) ?? renderFor(this.inspected.session, to, models);
    this.#renderings.delete(to);
    this.#renderings.set(to, found);
    const [oldest] = this.#renderings.keys();
    if (this.#renderings.size > maxRenderings && oldest !== undefined) this.#renderings.delete(oldest);
    return found;
  }
}

const maxRenderings = 4;

const describeInvalid = (lines: number): readonly string[] =>
  lines === 0 ? [] : [`${lines} ${lines === 1 ? "line is" : "lines are"} not an exchange and not shown.`];

const listTargets = (models: KnownModels): readonly Target[] =>
  providers.flatMap(({ id, wire, defaultModel }) =>
    [...new Set([defaultModel, ...listModelFacts(id).map((facts) => facts.id)])].map((model) => ({
      model: `${id}/${model}`,
      wire,
      context: findFacts(`${id}/${model}`, models).context,
    })),
  );
