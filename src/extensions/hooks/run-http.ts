import { normalizeHost, judgeUrl } from "../../policy/network/judge-url.ts";
import { nonPublicReason } from "../../policy/network/public-address.ts";
import { isSecretField } from "../../policy/secrets/names.ts";
import { createChildEnvironment } from "../../policy/shell/environment.ts";
import type { Environment, World } from "../../world/world.ts";
import type { Hook, HookHandler } from "./hook.ts";
import type { HookRun } from "./hook-output.ts";

/** The most bytes of a response that are read. */
const maxResponseBytes = 2 ** 20;

/**
 * Posts the event to the URL of a hook. A 2xx response counts as exit code 0 with its body as output, any other as an
 * error. Redirects are not followed. A public name must lead to public addresses; only a URL that names a local host
 * reaches one, and the connection goes to the address that was checked (no DNS rebinding).
 */
export const runHttpHook = async (
  hook: Hook,
  handler: Extract<HookHandler, { type: "http" }>,
  {
    world,
    input,
    signal,
  }: {
    readonly world: Pick<World, "clock" | "env" | "net">;
    readonly input: string;
    readonly signal: AbortSignal;
  },
): Promise<HookRun> => {
  const url = new URL(handler.url);
  const resolved = await resolveAddresses(url, world);
  if ("refused" in resolved) return { type: "failure", why: resolved.refused };
  const headers = { "content-type": "application/json", ...expandHeaders(handler, variablesFor(hook, world)) };
  const secret = Object.keys(headers).find((name) => name === "authorization" || isSecretField(name));
  if (secret !== undefined && url.protocol === "http:" && !resolved.isLocal)
    return { type: "failure", why: `The header ${secret} holds a secret and is not sent over plain http.` };
  const stop = new AbortController();
  const cancelTimeout = world.clock.after(hook.timeoutMs, () => stop.abort());
  try {
    const response = await world.net.send(
      {
        method: "POST",
        url: url.href,
        headers,
        body: input,
        ...(resolved.addresses === undefined ? {} : { addresses: resolved.addresses }),
      },
      AbortSignal.any([signal, stop.signal]),
    );
    const body = await readBody(response.body);
    if (body === undefined) return { type: "failure", why: "Its response is too long." };
    if (response.status < 200 || response.status > 299)
      return { type: "failure", why: `It answered with HTTP status ${response.status}.` };
    return { type: "exit", code: 0, output: body, error: "" };
  } catch (error) {
    if (stop.signal.aborted)
      return { type: "failure", why: `It was stopped after ${hook.timeoutMs / 1000} s (timeout).` };
    return { type: "failure", why: error instanceof Error ? error.message : String(error) };
  } finally {
    cancelTimeout();
  }
};

/** Replaces `$NAME` in headers by the variables the hook may use. Others stay empty. */
const expandHeaders = (
  { headers, allowedVariables }: Extract<HookHandler, { type: "http" }>,
  env: Environment,
): { readonly [name: string]: string } =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      value.replaceAll(/\$\{?([A-Za-z_]\w*)\}?/g, (_, variable: string) =>
        allowedVariables.includes(variable) ? (env[variable] ?? "") : "",
      ),
    ]),
  );

/** Variables for headers. Only the person's own hooks may send secrets: others would choose where they go. */
const variablesFor = ({ set: { source } }: Hook, { env }: Pick<World, "env">): Environment =>
  source.type === "user" ? env : createChildEnvironment(env);

type ResolvedHost =
  | { readonly addresses: readonly string[] | undefined; readonly isLocal: boolean }
  | { readonly refused: string };

const resolveAddresses = async (url: URL, { env }: Pick<World, "env">): Promise<ResolvedHost> => {
  const host = normalizeHost(url);
  const isLiteral = url.hostname.startsWith("[") || /^[\d.]+$/.test(url.hostname);
  const { needsProxy } = await import("../../world/real/proxy.ts");
  if (!isLiteral && needsProxy(env, url.href)) return { addresses: undefined, isLocal: false };
  const addresses = isLiteral ? [host] : await lookUp(host);
  if (addresses.length === 0) return { refused: `The host ${host} was not found.` };
  const zones = addresses.map((address) => nonPublicReason(address));
  const isLocalName = judgeUrl(url.href).decision === "deny";
  const isAllowed = zones.every(
    (zone) => zone === undefined || (isLocalName && (zone === "this machine" || zone === "a private network")),
  );
  if (!isAllowed)
    return { refused: `${host} leads to ${addresses.join(", ")}, which hooks may not reach by that name.` };
  return { addresses, isLocal: zones.every((zone) => zone === "this machine") };
};

const lookUp = async (host: string): Promise<readonly string[]> => {
  const { lookup } = await import("node:dns/promises");
  const found = await lookup(host, { all: true, verbatim: true }).catch(() => []);
  return found.map(({ address }) => address);
};

const readBody = async (body: AsyncIterable<Uint8Array>): Promise<string | undefined> => {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > maxResponseBytes) return undefined;
    pieces.push(Buffer.from(piece));
  }
  return Buffer.concat(pieces).toString("utf8");
};
