import { createHash } from "node:crypto";
import type { HttpRequest, HttpResponse } from "../../world/net.ts";
import { parseRequest } from "./parse-request.ts";
import { isObject, parseJson } from "../json.ts";
import { answerRequest } from "../model.ts";
import { checkRequest, type DemoApiError } from "./check-request.ts";
import { selectScriptedReply, toDemoReply, type DemoScript } from "../script/script.ts";
import { encodeChunks, encodeCompletion, type ReplyContext } from "./encode-reply.ts";

/** Serves a request as a Chat Completions server would. The same request always gets the same bytes. */
export const serve = (request: HttpRequest, script: DemoScript | undefined, signal?: AbortSignal): HttpResponse => {
  signal?.throwIfAborted();
  const text = typeof request.body === "string" ? request.body : new TextDecoder().decode(request.body);
  const body = parseJson(text);
  const refusal = checkRequest(request, body);
  if (refusal !== undefined || !isObject(body)) return errorResponse(refusal ?? notAnObject);
  const parsed = parseRequest(body);
  const scripted = script === undefined ? undefined : selectScriptedReply(script, parsed);
  if (scripted?.error !== undefined) return errorResponse(scriptedError(scripted.error));
  const reply = scripted === undefined ? answerRequest(parsed) : toDemoReply(scripted);
  const id = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return replyResponse({ id, body, reply }, signal);
};

const notAnObject: DemoApiError = {
  status: 400,
  message: "The body is not a JSON object.",
  type: "invalid_request_error",
};

const scriptedError = ({ status, message }: { readonly status: number; readonly message: string }): DemoApiError => ({
  status,
  message,
  type: status < 500 ? "invalid_request_error" : "server_error",
});

const errorResponse = ({ status, message, type, param, code }: DemoApiError): HttpResponse => ({
  status,
  headers: { "content-type": "application/json" },
  body: encodeTexts([JSON.stringify({ error: { message, type, param: param ?? null, code: code ?? null } })]),
});

const replyResponse = (spoken: ReplyContext, signal: AbortSignal | undefined): HttpResponse =>
  spoken.body["stream"] === true
    ? { status: 200, headers: { "content-type": "text/event-stream" }, body: encodeTexts(events(spoken), signal) }
    : {
        status: 200,
        headers: { "content-type": "application/json" },
        body: encodeTexts([JSON.stringify(encodeCompletion(spoken))], signal),
      };

const events = function* (spoken: ReplyContext): Generator<string> {
  for (const event of encodeChunks(spoken)) yield `data: ${JSON.stringify(event)}\n\n`;
  yield "data: [DONE]\n\n";
};

const encodeTexts = async function* (texts: Iterable<string>, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (const text of texts) {
    signal?.throwIfAborted();
    yield encoder.encode(text);
  }
};
