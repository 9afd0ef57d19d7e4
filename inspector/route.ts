import { useEffect, useState } from "preact/hooks";
import type { Overview } from "../src/inspect/server/inspection.ts";

const viewNames = ["conversation", "models", "requests", "composition", "exchanges", "switch", "lint"] as const;

export type ViewName = (typeof viewNames)[number];

/** Returns the views of what is inspected, in the order of their keys. */
export const viewsFor = (kind: Overview["kind"]): readonly ViewName[] =>
  viewNames.filter((name) => name === "lint" || (name === "exchanges") === (kind === "exchanges"));

/** Where the page is: a view, a place in it, and the models it is about. Written in the fragment of the address. */
export type Route = {
  readonly view: ViewName | undefined;
  readonly place?: number;
  readonly models: readonly string[];
};

/** Parses `#/models/12?for=a/b,c/d`. */
const parseRoute = (hash: string): Route => {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const [, name, place] = path.split("/");
  const models = new URLSearchParams(query).get("for")?.split(",") ?? [];
  const number = Number(place);
  return {
    view: viewNames.find((view) => view === name),
    ...(place !== undefined && Number.isSafeInteger(number) && number > 0 ? { place: number } : {}),
    models: models.filter((model) => model !== ""),
  };
};

export const formatRoute = ({ view, place, models }: Route): string =>
  `#/${view ?? ""}${place === undefined ? "" : `/${place}`}${models.length === 0 ? "" : `?for=${models.map(encodeURIComponent).join(",")}`}`;

/** Returns the route, and a function that changes it. `replace` adds no step to the history. */
export const useRoute = (): readonly [Route, (route: Route, how?: "replace") => void] => {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const read = (): void => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  const go = (next: Route, how?: "replace"): void => {
    if (how === "replace") history.replaceState(null, "", formatRoute(next));
    else history.pushState(null, "", formatRoute(next));
    setRoute(next);
  };
  return [route, go];
};
