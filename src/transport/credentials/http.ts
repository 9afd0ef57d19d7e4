import { readBodyText, NetError, type HttpRequest } from "../../world/net.ts";
import type { Clock, World } from "../../world/world.ts";
import { AuthError } from "./api-key.ts";

/** A JSON response; `body` is undefined if it is no JSON. */
export type JsonResponse = { readonly status: number; readonly body: unknown };

/** Sends a request to a token server. Throws an `AuthError` when it cannot be reached or does not respond in time. */
export const requestJson = (
  { net, clock }: Pick<World, "net" | "clock">,
  request: HttpRequest,
  signal?: AbortSignal,
): Promise<JsonResponse> =>
  withDeadline(clock, request, signal, async (limit) => {
    const response = await net.send(request, limit);
    return { status: response.status, body: parseJsonOrUndefined(await readBodyText(response, 2 ** 20)) };
  });

/** Builds a form request for a token endpoint. */
export const formRequest = (url: string, fields: Readonly<Record<string, string | undefined>>): HttpRequest => {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.set(name, value);
  return {
    method: "POST",
    url,
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: form.toString(),
  };
};

/** Creates a `fetch` over this world's network, for libraries that send their own requests. */
export const createFetch =
  ({ net, clock }: Pick<World, "net" | "clock">): typeof fetch =>
  async (input, init) => {
    const asked = new Request(input, init);
    const text = await asked.text();
    const request: HttpRequest = {
      method: asked.method === "GET" ? "GET" : "POST",
      url: asked.url,
      headers: Object.fromEntries(asked.headers),
      ...(text === "" ? {} : { body: text }),
    };
    return withDeadline(clock, request, init?.signal ?? undefined, async (limit) => {
      const { status, headers, body } = await net.send(request, limit);
      return new Response(await readBodyText({ status, headers, body }, 2 ** 20), { status, headers });
    });
  };

/** Returns the value of a field if it is a non-empty text. */
export const getText = (body: unknown, field: string): string | undefined => {
  const value = getField(body, field);
  return typeof value === "string" && value !== "" ? value : undefined;
};

/** Returns the value of a field. */
export const getField = (body: unknown, field: string): unknown =>
  typeof body === "object" && body !== null ? Reflect.get(body, field) : undefined;

/** Parses JSON; undefined if the text is none. */
export const parseJsonOrUndefined = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const deadline = 30_000;

const withDeadline = async <Value>(
  clock: Clock,
  { url }: HttpRequest,
  signal: AbortSignal | undefined,
  work: (limit: AbortSignal) => Promise<Value>,
): Promise<Value> => {
  const { host } = new URL(url);
  const limit = new AbortController();
  const giveUp = (): void => limit.abort(signal?.reason);
  if (signal?.aborted === true) giveUp();
  signal?.addEventListener("abort", giveUp, { once: true });
  const inTime = clock.after(deadline, () =>
    limit.abort(new AuthError("network", `It did not answer within ${deadline / 1000} s.`, host)),
  );
  try {
    return await work(limit.signal);
  } catch (error) {
    throw error instanceof NetError ? new AuthError("network", error.message, host) : error;
  } finally {
    inTime();
    signal?.removeEventListener("abort", giveUp);
  }
};
