import type { SwitchCheck } from "../src/agent/models/switch-check.ts";
import type { Composition } from "../src/inspect/data/composition.ts";
import type { ExchangeDetails } from "../src/inspect/data/exchanges.ts";
import type { ReadingRow } from "../src/inspect/data/reading-rows.ts";
import type { RequestComparison } from "../src/inspect/data/requests.ts";
import type { SearchHit } from "../src/inspect/data/search.ts";
import type { Overview, RenderingPage } from "../src/inspect/server/inspection.ts";

/** The data of the program that serves this page. */
export type InspectorApi = {
  readonly overview: () => Promise<Overview>;
  /** The entry of every row of the reading view. */
  readonly places: () => Promise<readonly number[]>;
  readonly rows: (from: number, count: number) => Promise<{ readonly rows: readonly ReadingRow[] }>;
  readonly search: (words: string) => Promise<readonly SearchHit[]>;
  readonly rendering: (model: string, start: number, end: number) => Promise<RenderingPage>;
  readonly comparison: (number: number) => Promise<RequestComparison>;
  readonly composition: (model: string) => Promise<Composition>;
  readonly exchange: (number: number) => Promise<ExchangeDetails>;
  readonly switchCheck: (model: string) => Promise<SwitchCheck>;
  readonly blob: (hash: string, mimeType: string) => Promise<Blob>;
  /** Calls back after every change of the session, until aborted. */
  readonly follow: (onChange: () => void, signal: AbortSignal) => Promise<void>;
};

const storageKey = "parley-token";

/** Takes the token from the address, where it is never sent, and removes it from there; a reload finds it in this tab. */
export const takeToken = (): string | undefined => {
  const found = /^#token=([\w-]+)(.*)$/.exec(location.hash);
  if (found?.[1] !== undefined) {
    sessionStorage.setItem(storageKey, found[1]);
    history.replaceState(null, "", `${location.pathname}#${(found[2] ?? "").replace(/^&/, "")}`);
  }
  return sessionStorage.getItem(storageKey) ?? undefined;
};

export const openApi = (token: string): InspectorApi => {
  const headers = { "x-parley-token": token };
  const get = async (path: string): Promise<Response> => {
    const response = await fetch(`/api/${path}`, { headers, cache: "no-store" });
    if (response.ok) return response;
    const text = await response.text();
    throw new Error(messageOf(text) ?? text);
  };
  const read = async <Value>(path: string): Promise<Value> => (await (await get(path)).json()) as Value;
  const name = encodeURIComponent;
  return {
    overview: () => read("overview"),
    places: () => read("places"),
    rows: (from, count) => read(`rows?from=${from}&count=${count}`),
    search: (words) => read(`search?q=${name(words)}`),
    rendering: (model, start, end) => read(`rendering?for=${name(model)}&start=${start}&end=${end}`),
    comparison: (number) => read(`comparison?n=${number}`),
    composition: (model) => read(`composition?for=${name(model)}`),
    exchange: (number) => read(`exchange?n=${number}`),
    switchCheck: (model) => read(`switch?for=${name(model)}`),
    blob: async (hash, mimeType) =>
      new Blob([await (await get(`blob?hash=${name(hash)}`)).arrayBuffer()], { type: mimeType }),
    follow: async (onChange, signal) => {
      const { body } = await fetch("/api/events", { headers, signal });
      const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
      if (reader === undefined) return;
      for (let step = await reader.read(); !step.done; step = await reader.read())
        if (step.value.includes("event: change")) onChange();
    },
  };
};

const messageOf = (text: string): string | undefined => {
  try {
    const { error } = JSON.parse(text) as { readonly error?: string };
    return error;
  } catch {
    return undefined;
  }
};
