import { RequestBodyError } from "../http/request-body.ts";
import type { Gateway } from "./gateway.ts";
import type { StreamedBody } from "./http-types.ts";

/** Answers a request in the form of the Fetch API, which web frameworks share. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** Turns a gateway into a fetch handler. Host and origin checks are the caller's. */
export const toFetchHandler =
  (gateway: Gateway): FetchHandler =>
  async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    const left = new AbortController();
    request.signal.addEventListener("abort", () => left.abort(), { once: true });
    const { status, headers, body } = await gateway.handle({
      method: request.method,
      path: pathname,
      query: searchParams,
      headers: Object.fromEntries(request.headers),
      body: () => readBody(request, gateway.limits.bodyBytes),
      signal: left.signal,
    });
    const sent =
      typeof body === "string" ? body : body instanceof Uint8Array ? Buffer.from(body) : toStream(body, left);
    return new Response(request.method === "HEAD" ? null : sent, { status, headers });
  };

const readBody = async (request: Request, most: number): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > most) throw new RequestBodyError(413, `The body must not be longer than ${most} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** A stream that fetches the next chunk when the reader wants one. Cancelling it cancels the request to the target. */
const toStream = ({ chunks }: StreamedBody, left: AbortController): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        for (;;) {
          const { value, done } = await chunks.next();
          if (done === true) return controller.close();
          if (value.length === 0) continue;
          return controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
        }
      },
      cancel: async () => {
        left.abort();
        await chunks.return().catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  );
};
