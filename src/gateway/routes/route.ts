import { lazyProviders } from "../../providers/lazy.data.ts";
import { homeProviders } from "../../providers/find.ts";
import type { Environment } from "../../world/world.ts";
import type { InboundApi } from "../answers/answer.ts";
import type { GatewayConfig, RouteRule } from "./config.ts";

/** The facts of a request that routes can match. Sizes are computed only for rules that need them. */
export type RoutedRequest = {
  readonly api: InboundApi;
  readonly model: string;
  readonly client: string | undefined;
  readonly hasImages: () => boolean;
  readonly tokens: () => number;
};

/**
 * Finds the targets of a request, as `provider/model`, in order of preference. A model named `provider/model` is its own
 * target. Without a route, the model goes to the owner of the client's API if there is a key for it. Empty: no target.
 */
export const findTargets = (request: RoutedRequest, config: GatewayConfig, env: Environment): readonly string[] => {
  const rule = config.routes?.find((route) => matchesRoute(route, request));
  if (isTarget(request.model) && (rule === undefined || rule.model === undefined || rule.model === "*"))
    return [request.model];
  if (rule !== undefined) return expandTargets(rule, request.model, config);
  const home = homeProviders[request.api];
  const keys = lazyProviders.find(({ id }) => id === home)?.keys ?? [];
  return keys.some((key) => (env[key] ?? "") !== "") ? [`${home}/${request.model}`] : [];
};

/** The names of models a client can ask for: those that routes name in full, and the targets. */
export const listRouteNames = ({ routes = [], pools = {} }: GatewayConfig): readonly string[] => {
  const names = routes.flatMap(({ model, to }) => [
    ...(model === undefined || model.includes("*") ? [] : [model]),
    ...[to].flat().flatMap((target) => pools[target] ?? [target]),
  ]);
  return [...new Set(names)].filter((name) => !name.includes("*"));
};

const matchesRoute = ({ model, client, images, longer }: RouteRule, request: RoutedRequest): boolean =>
  (model === undefined || matchesPattern(model, request.model)) &&
  (client === undefined || client === request.client) &&
  (images === undefined || images === request.hasImages()) &&
  (longer === undefined || request.tokens() > longer);

/** Whether a name matches a pattern in which `*` stands for any text. Case does not matter. */
const matchesPattern = (pattern: string, name: string): boolean => {
  const parts = pattern.toLowerCase().split("*");
  const text = name.toLowerCase();
  const [first = "", ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
};

const expandTargets = ({ to }: RouteRule, model: string, { pools = {} }: GatewayConfig): readonly string[] =>
  [to]
    .flat()
    .flatMap((name) => (Object.hasOwn(pools, name) ? (pools[name] ?? []) : [name]))
    .map((target) => target.replace(/\/\*$/, `/${model.replace(/^[^/]*\//, "")}`));

/** Whether a name begins with a provider of ours and a slash. */
const isTarget = (name: string): boolean => {
  const slash = name.indexOf("/");
  return slash > 0 && slash < name.length - 1 && lazyProviders.some(({ id }) => id === name.slice(0, slash));
};
