import { createHash } from "node:crypto";
import type { HttpRequest, HttpResponse } from "../world/net.ts";
import { hear } from "./hear.ts";
import { isObject, jsonOf } from "./json.ts";
import { answer } from "./model.ts";
import { refusalOf, type Refusal } from "./refuse.ts";
import { replyOf, saidBy, type OfflineScript } from "./script.ts";
import { streamedAnswer, wholeAnswer, type Spoken } from "./speak.ts";

/** Answers a request as a server of the API would. The same request always gets the same bytes. */
export const serve = (request: HttpRequest, script: OfflineScript | undefined, signal?: AbortSignal): HttpResponse => {
  signal?.throwIfAborted();
  const text = typeof request.body === "string" ? request.body : new TextDecoder().decode(request.body);
  const body = jsonOf(text);
  const refusal = refusalOf(request, body);
  if (refusal !== undefined || !isObject(body)) return refused(refusal ?? notAnObject);
  const heard = hear(body);
  const reply = script === undefined ? undefined : replyOf(script, heard);
  if (reply?.error !== undefined) return refused(failure(reply.error));
  const said = reply === undefined ? answer(heard) : saidBy(reply);
  const id = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return respond({ id, body, said }, signal);
};

const notAnObject: Refusal = { status: 400, message: "The body is not a JSON object.", type: "invalid_request_error" };

const failure = ({ status, message }: { readonly status: number; readonly message: string }): Refusal => ({
  status,
  message,
  type: status < 500 ? "invalid_request_error" : "server_error",
});

const refused = ({ status, message, type, param, code }: Refusal): HttpResponse => ({
  status,
  headers: { "content-type": "application/json" },
  body: bytesOf([JSON.stringify({ error: { message, type, param: param ?? null, code: code ?? null } })]),
});

const respond = (spoken: Spoken, signal: AbortSignal | undefined): HttpResponse =>
  spoken.body["stream"] === true
    ? { status: 200, headers: { "content-type": "text/event-stream" }, body: bytesOf(events(spoken), signal) }
    : {
        status: 200,
        headers: { "content-type": "application/json" },
        body: bytesOf([JSON.stringify(wholeAnswer(spoken))], signal),
      };

const events = function* (spoken: Spoken): Generator<string> {
  for (const event of streamedAnswer(spoken)) yield `data: ${JSON.stringify(event)}\n\n`;
  yield "data: [DONE]\n\n";
};

const bytesOf = async function* (texts: Iterable<string>, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (const text of texts) {
    signal?.throwIfAborted();
    yield encoder.encode(text);
  }
};
