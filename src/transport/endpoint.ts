import type { BaseVariable, Endpoint, Paths, Provider } from "../providers/define.ts";
import type { Environment } from "../world/world.ts";

/** The purpose of a request to an endpoint. */
export type EndpointPurpose = "generate" | "stream" | "count" | "models";

/** A URL and where it comes from; or why there is none, and how to set it up. */
export type ResolvedEndpoint =
  | { readonly found: true; readonly url: string; readonly from: string }
  | { readonly found: false; readonly reason: "not-offered" | "not-set" | "not-valid"; readonly how: string };

/**
 * Resolves the URL of a provider's API for one model and purpose, from the environment. Messages never quote a URL a user
 * set: it may contain a password.
 */
export const resolveEndpoint = (
  provider: Provider,
  model: string,
  env: Environment,
  purpose: EndpointPurpose,
): ResolvedEndpoint => {
  const path = pathFor(provider.endpoint.paths, purpose);
  if (path === undefined)
    return { found: false, reason: "not-offered", how: `${provider.label} ${unsupportedPurposes[purpose]}.` };
  return tryResolve(() => {
    const { url, from } = baseFor(provider, path, env);
    const after = path.replace(ownBase, "");
    return { url: joinUrl(url, fillTemplate(after, { model: () => modelPath(provider.endpoint, model, env) })), from };
  });
};

/** Resolves the base URL of a provider's API. A query in it is not shown: it may contain a key. */
export const resolveBaseUrl = (provider: Provider, env: Environment): ResolvedEndpoint =>
  tryResolve(() => {
    const { url, from } = baseFor(provider, provider.endpoint.paths.generate, env);
    return { url: url.split("?", 1)[0] ?? "", from };
  });

/** Whether a URL belongs to a provider as configured: its key may be sent only there. */
export const isProviderAddress = (provider: Provider, url: string, env: Environment): boolean => {
  const origin = originOf(url);
  return Object.values(provider.endpoint.paths).some((path) => {
    try {
      return originOf(baseFor(provider, path, env).url) === origin;
    } catch (error) {
      if (error instanceof UnresolvedEndpointError) return false;
      throw error;
    }
  });
};

/** Returns the first of these variables that is set, trimmed. */
export const envValue = (env: Environment, ...names: readonly string[]): string | undefined => {
  for (const name of names) {
    const value = env[name]?.trim();
    if (value !== undefined && value !== "") return value;
  }
  return undefined;
};

/** Returns the AWS region. */
export const awsRegion = (env: Environment): string => envValue(env, "AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1";

/** Whether Vertex is used with just an API key (express mode). As in Google's own SDK, a configured project wins over the key. */
export const usesExpressKey = (env: Environment): boolean =>
  envValue(env, "GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_GENAI_USE_VERTEXAI")?.toLowerCase() === "true" &&
  envValue(env, "GOOGLE_API_KEY") !== undefined &&
  googleProject(env) === undefined;

/** Returns the Google Cloud project to charge, if one is set. */
export const googleProject = (env: Environment): string | undefined =>
  envValue(env, "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT");

class UnresolvedEndpointError extends Error {
  readonly reason: "not-set" | "not-valid";

  constructor(reason: "not-set" | "not-valid", message: string) {
    super(message);
    this.reason = reason;
  }
}

const tryResolve = (find: () => BaseUrl): ResolvedEndpoint => {
  try {
    return { found: true, ...find() };
  } catch (error) {
    if (error instanceof UnresolvedEndpointError) return { found: false, reason: error.reason, how: error.message };
    throw error;
  }
};

const unsupportedPurposes: Readonly<Record<EndpointPurpose, string>> = {
  generate: "does not answer",
  stream: "does not stream",
  count: "does not count tokens",
  models: "does not list its models",
};

const pathFor = (paths: Paths, purpose: EndpointPurpose): string | undefined =>
  purpose === "stream" ? (paths.stream ?? paths.generate) : paths[purpose];

const ownBase = /^https:\/\/[^/]+/;

type BaseUrl = { readonly url: string; readonly from: string };

const baseFor = ({ id, endpoint }: Provider, path: string, env: Environment): BaseUrl => {
  const own = `PARLEY_${id.toUpperCase().replaceAll("-", "_")}_BASE_URL`;
  const variables: readonly BaseVariable[] = [{ name: own }, ...(endpoint.env ?? [])];
  const set = variables.find(({ name }) => envValue(env, name) !== undefined);
  if (set === undefined) return defaultBase(path.match(ownBase)?.[0] ?? endpoint.url, env);
  return { url: customBase(set, envValue(env, set.name) ?? ""), from: set.name };
};

const defaultBase = (template: string, env: Environment): BaseUrl => {
  const url = fillTemplate(template, {
    region: () => hostLabel("AWS_REGION", awsRegion(env)),
    resource: () => resourceOf(env),
    "vertex-host": () => vertexHost(env),
  });
  const { protocol, hostname } = new URL(url);
  if (protocol === "http:" && !isLoopback(hostname))
    throw new UnresolvedEndpointError(
      "not-valid",
      "A key is not sent over plain http unless a person chose that address.",
    );
  return { url, from: "the provider's own address" };
};

/** Whether a host name is the loopback interface. */
const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" ||
  hostname.endsWith(".localhost") ||
  hostname === "[::1]" ||
  /^127(\.\d+){3}$/.test(hostname);

/** Validates a base URL set by the user. Plain http is allowed. */
const customBase = ({ name, suffix = "", bare }: BaseVariable, value: string): string => {
  const given = bare === undefined ? value : completeHost(value, bare);
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new UnresolvedEndpointError(
      "not-valid",
      `${name} is no web address. It should begin with https:// or http://.`,
    );
  if (url.username !== "" || url.password !== "")
    throw new UnresolvedEndpointError(
      "not-valid",
      `${name} holds a user name or a password. Take it out of the address.`,
    );
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith(suffix) ? path : path + suffix}${url.search}`;
};

/** Completes the value of Ollama's own variable: a host, a port, both, or the wildcard address it listens on. */
const completeHost = (value: string, bare: string): string => {
  const usual = new URL(bare);
  const hasScheme = value.includes("://");
  const given = hasScheme ? value : `${usual.protocol}//${value.startsWith(":") ? usual.hostname : ""}${value}`;
  if (!URL.canParse(given)) return given;
  const url = new URL(given);
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = usual.hostname;
  if (!hasScheme && !/:\d+(\/|$)/.test(value)) url.port = usual.port;
  return url.href;
};

const joinUrl = (base: string, path: string): string => {
  const [address = "", query] = base.split("?", 2);
  if (query === undefined) return address + path;
  return `${address}${path}${path.includes("?") ? "&" : "?"}${query}`;
};

const fillTemplate = (template: string, values: Readonly<Record<string, () => string>>): string =>
  template.replaceAll(/\{([a-z-]+)\}/g, (all, name: string) => values[name]?.() ?? all);

const modelPath = ({ modelNames }: Endpoint, model: string, env: Environment): string => {
  if (model.split("/").some((segment) => segment === "." || segment === ".."))
    throw new UnresolvedEndpointError("not-valid", `No model is named "${model}".`);
  if (modelNames === undefined) return encodeURIComponent(model);
  if (modelNames.resourcePath.test(model)) return model.split("/").map(encodeURIComponent).join("/");
  const bare = model.replace(/^.*\bmodels\//, "");
  return fillTemplate(modelNames.prefix, { place: () => placeOf(env) }) + encodeURIComponent(bare);
};

/** Returns the resource path of project and location; empty for express keys, which have no project. */
const placeOf = (env: Environment): string => {
  if (usesExpressKey(env)) return "";
  const project = googleProject(env);
  if (project === undefined)
    throw new UnresolvedEndpointError("not-set", "Set GOOGLE_CLOUD_PROJECT to the id of your Google Cloud project.");
  return `projects/${encodeURIComponent(project)}/locations/${locationOf(env)}/`;
};

const locationOf = (env: Environment): string =>
  hostLabel("GOOGLE_CLOUD_LOCATION", envValue(env, "GOOGLE_CLOUD_LOCATION") ?? "global");

const vertexHost = (env: Environment): string => {
  const location = usesExpressKey(env) ? "global" : locationOf(env);
  if (location === "global") return "aiplatform.googleapis.com";
  // Multi-regions have another host pattern.
  if (location === "us" || location === "eu") return `aiplatform.${location}.rep.googleapis.com`;
  return `${location}-aiplatform.googleapis.com`;
};

const resourceOf = (env: Environment): string => {
  const value = envValue(env, "AZURE_OPENAI_RESOURCE", "AZURE_OPENAI_RESOURCE_NAME", "AZURE_RESOURCE_NAME");
  if (value === undefined)
    throw new UnresolvedEndpointError(
      "not-set",
      "Set AZURE_OPENAI_ENDPOINT to the address of your resource, or AZURE_OPENAI_RESOURCE to its name.",
    );
  return hostLabel("AZURE_OPENAI_RESOURCE", value);
};

/** Validates a part of a host name, so that it cannot name another host. */
const hostLabel = (name: string, value: string): string => {
  if (/^[A-Za-z0-9-]+$/.test(value)) return value;
  throw new UnresolvedEndpointError("not-valid", `${name} may hold only letters, digits and hyphens.`);
};

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : "");
