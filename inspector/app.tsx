import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SearchHit } from "../src/inspect/data/search.ts";
import type { Overview } from "../src/inspect/server/inspection.ts";
import { formatCost, formatTokens } from "../src/inspect/view/format.ts";
import type { InspectorApi } from "./api.ts";
import { CompositionView } from "./composition.tsx";
import { ConversationView } from "./conversation.tsx";
import { Help } from "./help.tsx";
import { useKeys } from "./keys.ts";
import { LintView } from "./lint.tsx";
import { ModelsView } from "./models.tsx";
import { RequestsView } from "./requests.tsx";
import { ExchangesView } from "./exchanges.tsx";
import { formatRoute, useRoute, viewsFor, type ViewName } from "./route.ts";
import { SwitchView } from "./switch.tsx";
import { toggleTheme } from "./theme.ts";

const titles: Readonly<Record<ViewName, string>> = {
  conversation: "Conversation",
  models: "As sent",
  requests: "Requests",
  composition: "Composition",
  exchanges: "Exchanges",
  switch: "Switch",
  lint: "Lint",
};

/** The data of the page: it is loaded again when the session grows. */
type PageData = { readonly overview: Overview; readonly places: readonly number[] };

/** The whole page. */
export const App = ({ api }: { readonly api: InspectorApi }): VNode => {
  const [data, setData] = useState<PageData | undefined>(undefined);
  const [error, setError] = useState<string | undefined>(undefined);
  useEffect(() => {
    const load = (): void =>
      void Promise.all([api.overview(), api.places()]).then(
        ([overview, places]) => {
          setData({ overview, places });
          setError(undefined);
          document.title = `${overview.title} – Parley`;
        },
        (reason: unknown) => setError((reason as Error).message),
      );
    load();
    const stop = new AbortController();
    api.follow(load, stop.signal).then(
      () => setError("Parley no longer serves this page."),
      () => stop.signal.aborted || setError("Parley no longer serves this page."),
    );
    return () => stop.abort();
  }, []);
  if (data === undefined) return <p class="loading">{error ?? "Loading…"}</p>;
  return <Page api={api} data={data} error={error} />;
};

type PageProps = { readonly api: InspectorApi; readonly data: PageData; readonly error: string | undefined };

const Page = ({ api, data: { overview, places }, error }: PageProps): VNode => {
  const [route, go] = useRoute();
  const [jump, setJump] = useState(1);
  const [isFollowing, setFollowing] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [hits, setHits] = useState<readonly SearchHit[]>([]);
  const [words, setWords] = useState("");
  const searchBox = useRef<HTMLInputElement>(null);
  const tabs = useRef<HTMLElement>(null);
  const views = viewsFor(overview.kind);
  const { place } = route;
  const view = views.find((name) => name === route.view) ?? views[0] ?? "lint";
  const numbered =
    view === "requests" ? overview.requests : view === "exchanges" ? (overview.exchanges ?? []) : undefined;
  const isList = view === "conversation" || view === "models";
  const current = isList && place !== undefined ? rowAt(places, place - 1) : undefined;
  const models = route.models.length > 0 ? route.models : defaultModels(overview);
  const open = (name: ViewName): void =>
    go({
      view: name,
      models: route.models,
      ...(isList && name !== "requests" && place !== undefined ? { place } : {}),
    });
  const toRow = (row: number): void => {
    const entry = places[Math.max(0, Math.min(places.length - 1, row))];
    if (entry === undefined) return;
    setFollowing(false);
    go({ view: isList ? view : "conversation", place: entry + 1, models: route.models }, "replace");
    setJump((number) => number + 1);
  };
  const toNumber = (number: number): void =>
    go({ view, models: route.models, place: Math.max(1, Math.min(numbered?.length ?? 1, number)) }, "replace");
  const step = (by: number): void =>
    numbered === undefined ? toRow((current ?? (by > 0 ? -1 : 0)) + by) : toNumber((place ?? numbered.length) + by);
  const toHit = (by: 1 | -1): void => {
    const entries = hits.map(({ entry }) => entry);
    const at = place === undefined ? -1 : place - 1;
    const next = by > 0 ? entries.find((entry) => entry > at) : entries.findLast((entry) => entry < at);
    const chosen = next ?? (by > 0 ? entries[0] : entries.at(-1));
    if (chosen !== undefined) toRow(rowAt(places, chosen));
  };
  useEffect(() => {
    if (words === "") return setHits([]);
    const timer = setTimeout(() => void api.search(words).then(setHits, () => setHits([])), 120);
    return () => clearTimeout(timer);
  }, [words, overview.revision]);
  useEffect(() => setJump((number) => number + 1), [view, route.place]);
  useEffect(() => {
    // Not scrollIntoView: the Tab key would go on from there.
    const link = tabs.current?.querySelector<HTMLElement>("[aria-current]");
    if (tabs.current !== null && link instanceof HTMLElement)
      tabs.current.scrollLeft = link.offsetLeft - (tabs.current.clientWidth - link.offsetWidth) / 2;
  }, [view]);
  useKeys({
    ...Object.fromEntries(views.map((name, index) => [`${index + 1}`, () => open(name)])),
    j: () => step(1),
    k: () => step(-1),
    g: () => (numbered === undefined ? toRow(0) : toNumber(1)),
    G: () => (numbered === undefined ? toRow(places.length - 1) : toNumber(numbered.length)),
    o: toggleDetails,
    n: () => toHit(1),
    p: () => toHit(-1),
    f: () => setFollowing(!isFollowing),
    t: toggleTheme,
    "/": () => searchBox.current?.focus(),
    "?": () => setHelpOpen(true),
  });
  const list = { current, jump, isFollowing };
  return (
    <>
      <header class="top">
        <h1 title={overview.root}>
          {overview.title} <span class="fact">{overview.kind === "session" ? overview.name : overview.kind}</span>
        </h1>
        <nav aria-label="Views" ref={tabs}>
          {views.map((name, index) => (
            <a
              href={formatRoute({ view: name, models: route.models })}
              aria-current={name === view ? "page" : undefined}
              title={`${titles[name]} (${index + 1})`}
            >
              {titles[name]}
              <Count
                of={name === "requests" ? overview.requests : name === "exchanges" ? overview.exchanges : undefined}
              />
            </a>
          ))}
        </nav>
        <div class="tools">
          {overview.kind === "exchanges" ? null : (
            <input
              ref={searchBox}
              type="search"
              placeholder="Search (/)"
              aria-label="Search the conversation"
              value={words}
              onInput={({ currentTarget: { value } }) => setWords(value)}
              onKeyDown={({ key, currentTarget }) => {
                if (key === "Enter") toHit(1);
                if (key === "Escape") {
                  setWords("");
                  currentTarget.blur();
                }
              }}
            />
          )}
          {overview.isLive ? (
            <button
              type="button"
              class="live"
              aria-pressed={isFollowing}
              onClick={() => setFollowing(!isFollowing)}
              title="Follow the end (f)"
            >
              Live
            </button>
          ) : null}
          <button
            type="button"
            class="quiet"
            onClick={toggleTheme}
            aria-label="Light or dark"
            title="Light or dark (t)"
          >
            ◐
          </button>
          <button type="button" class="quiet" onClick={() => setHelpOpen(true)} aria-label="Help" title="Help (?)">
            ?
          </button>
        </div>
      </header>
      {error === undefined ? null : (
        <p class="error banner" role="alert">
          {error}
        </p>
      )}
      {words === "" ? null : <Hits hits={hits} onHit={(entry) => toRow(rowAt(places, entry))} />}
      <main>
        {view === "conversation" ? <ConversationView api={api} overview={overview} place={list} /> : null}
        {view === "models" ? (
          <ModelsView
            api={api}
            overview={overview}
            places={places}
            models={models}
            place={list}
            onModels={(chosen) => go({ ...route, models: chosen }, "replace")}
          />
        ) : null}
        {view === "requests" ? (
          <RequestsView api={api} overview={overview} selected={place} onSelect={toNumber} />
        ) : null}
        {view === "exchanges" ? (
          <ExchangesView api={api} overview={overview} selected={place} onSelect={toNumber} />
        ) : null}
        {view === "composition" ? (
          <CompositionView
            api={api}
            overview={overview}
            model={models[0] ?? ""}
            onModel={(model) => go({ view, models: [model] }, "replace")}
          />
        ) : null}
        {view === "switch" ? (
          <SwitchView
            api={api}
            overview={overview}
            model={route.models[0] ?? otherModel(overview)}
            onModel={(model) => go({ view, models: [model] }, "replace")}
          />
        ) : null}
        {view === "lint" ? <LintView overview={overview} /> : null}
      </main>
      <footer class="page-facts">
        <span>
          {overview.exchanges === undefined ? `${overview.entries} entries` : `${overview.exchanges.length} exchanges`}
        </span>
        {overview.totals.requests === 0 ? null : (
          <span>
            {overview.totals.requests} requests · {formatTokens(overview.totals.input)} in ·{" "}
            {formatTokens(overview.totals.output)} out · {formatCost(overview.totals.cost)}
          </span>
        )}
        <span class="models">{overview.models.join(", ")}</span>
      </footer>
      {isHelpOpen ? <Help onClose={() => setHelpOpen(false)} /> : null}
    </>
  );
};

const Count = ({ of }: { readonly of: readonly unknown[] | undefined }): VNode | null =>
  of === undefined || of.length === 0 ? null : <span class="count">{of.length}</span>;

type HitsProps = { readonly hits: readonly SearchHit[]; readonly onHit: (entry: number) => void };

const Hits = ({ hits, onHit }: HitsProps): VNode => (
  <section class="hits" aria-label="Search results" aria-live="polite">
    <p class="fact">{hits.length === 0 ? "No match." : `${hits.length} ${hits.length === 1 ? "entry" : "entries"}`}</p>
    {hits.slice(0, 50).map(({ entry, before, match, after }) => (
      <button type="button" class="hit" onClick={() => onHit(entry)}>
        <span class="entry-number">#{entry + 1}</span>
        <span class="hit-text">
          {before}
          <mark>{match}</mark>
          {after}
        </span>
      </button>
    ))}
  </section>
);

/** The row of an entry, or of the entry it is shown with. */
const rowAt = (places: readonly number[], entry: number): number => {
  const at = places.findLastIndex((each) => each <= entry);
  return Math.max(0, at);
};

/** The model in use beside one of another API family. */
const defaultModels = (overview: Overview): readonly string[] => {
  const own = overview.targets.find(({ model }) => model === overview.model) ?? overview.targets[0];
  return own === undefined ? [] : [own.model, otherModel(overview)];
};

const preferred = ["anthropic/", "openai/", "google/"];

const otherModel = ({ targets, model }: Overview): string => {
  const own = targets.find((target) => target.model === model)?.wire;
  const others = preferred.flatMap((name) => targets.filter((target) => target.model.startsWith(name)).slice(0, 1));
  return others.find(({ wire }) => wire !== own)?.model ?? targets[0]?.model ?? "";
};

/** Opens everything in the current entry, or closes it. */
const toggleDetails = (): void => {
  const all = [...document.querySelectorAll<HTMLDetailsElement>(".item.current details")];
  const isAnyClosed = all.some(({ open }) => !open);
  for (const details of all) details.open = isAnyClosed;
};
