import { createHash } from "node:crypto";
import type { JsonObject } from "../../conversation/json.ts";
import type { Provider } from "../../providers/define.ts";
import type { HttpRequest } from "../../world/net.ts";
import { version } from "../../world/version.ts";
import type { World } from "../../world/world.ts";
import { createBodyEncoder } from "../body-bytes.ts";
import { addCodeAssistMetadata, findProject } from "./code-assist.ts";
import {
  accountDigest,
  toProviderError,
  authorize,
  openCredentials,
  renewCredentials,
  type Credentials,
} from "./credentials.ts";
import { TokenCache } from "./token-cache.ts";
import { googleProject, resolveEndpoint, type EndpointPurpose } from "../endpoint.ts";
import { ProviderError } from "../failure.ts";
import type { RequestSigner, OutgoingRequest } from "../transport.ts";

/** Creates a request signer: resolves URLs and adds authentication from this world's environment. */
export const createRequestSigner = (world: World): RequestSigner => {
  const credentials = openCredentials(world);
  const write = createBodyEncoder();
  const addresses = new Map<string, string>();
  const accounts = new Map<string, string | undefined>();
  // The environment does not change, so URLs and accounts are resolved once.
  const addressFor = ({ provider, model }: RequestAddress, purpose: EndpointPurpose): string => {
    const key = `${provider.id} ${purpose} ${model}`;
    const url = addresses.get(key) ?? addressOf(provider, model, world, purpose);
    addresses.set(key, url);
    return url;
  };
  const accountFor = (provider: Provider): string | undefined => {
    if (!accounts.has(provider.id)) accounts.set(provider.id, accountDigest(provider, world.env));
    return accounts.get(provider.id);
  };
  const complete = createCodeAssistEnvelope(credentials);
  return {
    locate: (to) => {
      const account = accountFor(to.provider);
      const url = addressFor(to, "generate");
      return account === undefined ? { url } : { url, account };
    },
    prepare: async (to, { body, stream, renew }, signal) => {
      const { provider } = to;
      const url = addressFor(to, stream ? "stream" : "generate");
      try {
        if (renew) await renewCredentials(provider, credentials);
        const bytes = write(await complete(to, body, signal));
        return await authorize(jsonRequest(url, bytes, world), provider, credentials, signal);
      } catch (error) {
        throw toProviderError(error, provider);
      }
    },
  };
};

/**
 * Creates a function that adds project, prompt id and session id to the body of a Code Assist request; other bodies are
 * not changed. The project is looked up once.
 */
export const createCodeAssistEnvelope = (
  credentials: Credentials,
): ((to: RequestAddress, body: JsonObject, signal?: AbortSignal) => Promise<JsonObject>) => {
  const { clock, random } = credentials.world;
  const session = `${clock.now()} ${random()}`;
  const projects = new Map<string, TokenCache<string>>();
  return async (to, body, signal) => {
    const { provider } = to;
    if (provider.auth.type !== "code-assist") return body;
    const lease = projects.get(provider.id) ?? createProjectCache(provider, credentials);
    projects.set(provider.id, lease);
    const project = await lease.get(signal);
    return addCodeAssistMetadata(body, {
      project,
      promptId: to.prompt ?? digest(JSON.stringify(body)),
      session: to.session ?? digest(session),
    });
  };
};

type RequestAddress = Pick<OutgoingRequest, "provider" | "model" | "session" | "prompt">;

const jsonRequest = (url: string, body: Uint8Array, world: World): HttpRequest => ({
  method: "POST",
  url,
  headers: { "content-type": "application/json", "user-agent": userAgent(world) },
  body,
});

/** The user agent header. */
export const userAgent = ({ host }: Pick<World, "host">): string =>
  `Parley/${version} (${host.platform}; ${host.arch})`;

const addressOf = (
  provider: Provider,
  model: string,
  { env }: Pick<World, "env">,
  purpose: EndpointPurpose,
): string => {
  const resolved = resolveEndpoint(provider, model, env, purpose);
  if (resolved.found) return resolved.url;
  const { id, label } = provider;
  throw new ProviderError({ provider: id, label, kind: "misconfigured", how: resolved.how });
};

/** Creates a cache for the project, which does not change while the program runs. */
const createProjectCache = (provider: Provider, credentials: Credentials): TokenCache<string> => {
  const { world } = credentials;
  const methods = (): string =>
    addressOf(provider, provider.defaultModel, world, "generate").replace(/:generateContent$/, "");
  const desk = {
    world,
    address: (method: string) => methods() + method,
    authorize: (request: HttpRequest) => authorize(request, provider, credentials),
  };
  return new TokenCache(world.clock, async () => ({
    value: googleProject(world.env) ?? (await findProject(desk)),
    until: Number.POSITIVE_INFINITY,
  }));
};

const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);
