import type { Provider } from "../../providers/define.ts";
import type { World } from "../../world/world.ts";
import { envValue, resolveBaseUrl } from "../endpoint.ts";
import { listModels } from "./list-models.ts";

/** A server on this machine that lists models. */
export type LocalServer = {
  readonly name: string;
  /** The base URL of its API. */
  readonly url: string;
  /** The chat models it lists, in its order. */
  readonly models: readonly string[];
};

/** Common servers, each with its default port. */
const usualServers = [
  { name: "Ollama", port: 11_434 },
  { name: "LM Studio", port: 1234 },
  { name: "llama.cpp", port: 8080 },
  { name: "vLLM", port: 8000 },
] as const;

/** Milliseconds for all servers together. A port without a server is refused at once. */
const searchTimeout = 500;

/**
 * Finds the servers on this machine that list models: the configured one, or those on their usual ports. Asks loopback
 * addresses only, all at once, and sends no key to a port that was not configured.
 */
export const findLocalServers = async (provider: Provider, world: World): Promise<readonly LocalServer[]> => {
  const timeout = new AbortController();
  const stopTimer = world.clock.after(searchTimeout, () => timeout.abort(new Error("timed out")));
  try {
    const asked = candidatesFor(provider, world).map(async ({ name, url, env }): Promise<readonly LocalServer[]> => {
      const listed = await listModels(provider, { ...world, env }, timeout.signal).catch(() => []);
      const models = listed.map(({ id }) => id).filter((id) => !notForChat.test(id));
      return models.length === 0 ? [] : [{ name, url, models }];
    });
    return (await Promise.all(asked)).flat();
  } finally {
    stopTimer();
  }
};

/** The variable that sets the base URL of local models. */
const localUrlVariable = "PARLEY_LOCAL_BASE_URL";

/** Models that only embed or rank; servers list them without saying so. */
const notForChat = /embed|rerank|\bbge-|\be5-|whisper/i;

type LocalCandidate = { readonly name: string; readonly url: string; readonly env: World["env"] };

const candidatesFor = (provider: Provider, { env }: World): readonly LocalCandidate[] => {
  if (envValue(env, localUrlVariable, "OLLAMA_BASE_URL", "OLLAMA_HOST") !== undefined) {
    const base = resolveBaseUrl(provider, env);
    return base.found && isLoopback(base.url) ? [{ name: "Local", url: base.url, env }] : [];
  }
  const keys = "env" in provider.auth ? provider.auth.env : [];
  const withoutKeys = { ...env, ...Object.fromEntries(keys.map((key) => [key, undefined])) };
  return usualServers.map(({ name, port }) => {
    const url = `http://127.0.0.1:${port}/v1`;
    return { name, url, env: { ...withoutKeys, [localUrlVariable]: url } };
  });
};

const isLoopback = (url: string): boolean =>
  URL.canParse(url) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
