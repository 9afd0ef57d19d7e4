import { createHash } from "node:crypto";
import { withTrace, type SessionService } from "../fleet/service.ts";
import { sendBytes } from "../http/answer.ts";
import type { DoorExtension } from "../server/front-door.ts";
import { createAgentCard } from "./agent-card.ts";
import { answerRpc } from "./json-rpc.ts";
import { createOperations } from "./operations.ts";
import { answerRest } from "./rest.ts";

const cardPaths: ReadonlySet<string> = new Set(["/.well-known/agent-card.json", "/.well-known/agent.json"]);

/** Adds A2A to the front door: the agent card for everyone, JSON-RPC at /a2a and REST below /a2a/rest for tenants. */
export const createA2aExtension = (
  service: SessionService,
  { url }: { readonly url?: string } = {},
): DoorExtension => ({
  isPublic: (path) => cardPaths.has(path),
  answer: async ({ request, response, url: { pathname, searchParams }, tenant, closing, readBody, trace }) => {
    if (cardPaths.has(pathname)) {
      if (request.method !== "GET") return false;
      // The host was checked against the names of this server.
      const card = JSON.stringify(createAgentCard(url ?? `http://${request.headers.host ?? ""}`));
      const tag = `"${createHash("sha256").update(card).digest("hex").slice(0, 32)}"`;
      sendBytes(response, 200, card, { "content-type": "application/json", "cache-control": "max-age=300", etag: tag });
      return true;
    }
    const isRest = pathname.startsWith("/a2a/rest/");
    if (tenant === undefined || (!isRest && pathname !== "/a2a")) return false;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const header = request.headers["a2a-version"] ?? searchParams.get("A2A-Version") ?? undefined;
    const call = {
      operations: createOperations(withTrace(service, trace), tenant),
      response,
      signal: AbortSignal.any([gone.signal, closing]),
      version: typeof header === "string" ? header : undefined,
    };
    if (isRest) {
      const path = decodeURIComponent(pathname.slice("/a2a/rest".length));
      await answerRest({ ...call, method: request.method ?? "", path, query: searchParams, readBody });
    } else if (request.method === "POST") await answerRpc(await readBody(), call);
    else return false;
    return true;
  },
});
