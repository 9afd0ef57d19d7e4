import { bodyText, NetError, type HttpRequest } from "../world/net.ts";
import type { Clock, World } from "../world/world.ts";
import { AuthProblem } from "./credentials-key.ts";

/** An answer with JSON in it; `body` is undefined when it holds none. */
export type JsonAnswer = { readonly status: number; readonly body: unknown };

/** One small question to a server that hands out tokens. Throws an `AuthProblem` when it cannot be reached or stays silent. */
export const askJson = (
  { net, clock }: Pick<World, "net" | "clock">,
  request: HttpRequest,
  signal?: AbortSignal,
): Promise<JsonAnswer> =>
  within(clock, request, signal, async (limit) => {
    const response = await net.send(request, limit);
    return { status: response.status, body: jsonOf(await bodyText(response, 2 ** 20)) };
  });

/** A form, as token endpoints want it. */
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

/** This world's network in the shape of `fetch`, for libraries that bring their own requests. */
export const fetchOver =
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
    return within(clock, request, init?.signal ?? undefined, async (limit) => {
      const { status, headers, body } = await net.send(request, limit);
      return new Response(await bodyText({ status, headers, body }, 2 ** 20), { status, headers });
    });
  };

/** The value of a field that is a non-empty text. */
export const textIn = (body: unknown, field: string): string | undefined => {
  const value = fieldIn(body, field);
  return typeof value === "string" && value !== "" ? value : undefined;
};

/** The value of a field, whatever it is. */
export const fieldIn = (body: unknown, field: string): unknown =>
  typeof body === "object" && body !== null ? Reflect.get(body, field) : undefined;

/** A JSON text as a value, or undefined when it is none. */
export const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const longestWait = 30_000;

const within = async <Value>(
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
  const inTime = clock.after(longestWait, () =>
    limit.abort(new AuthProblem("network", `It did not answer within ${longestWait / 1000} s.`, host)),
  );
  try {
    return await work(limit.signal);
  } catch (error) {
    throw error instanceof NetError ? new AuthProblem("network", error.message, host) : error;
  } finally {
    inTime();
    signal?.removeEventListener("abort", giveUp);
  }
};
