import { ProtocolError, ProtocolErrorCode, type Client, type ClientCapabilities } from "@modelcontextprotocol/client";
import { pathToFileURL } from "node:url";
import { isObject, toPlain, type JsonObject } from "../conversation/json.ts";
import { judgeUrl } from "../policy/network.ts";
import { plain } from "../policy/plain.ts";
import { isSecretField } from "../policy/redact-names.ts";
import { readElicitationAnswer, readSamplingAnswer } from "./answers.ts";
import type { Asking, Elicitation } from "./asking.ts";

/** What a server is told that it may ask. */
export const capabilitiesFor = ({ sample, elicit, roots }: Asking): ClientCapabilities => ({
  ...(roots === undefined ? {} : { roots: { listChanged: true } }),
  ...(sample === undefined ? {} : { sampling: {} }),
  ...(elicit === undefined ? {} : { elicitation: { form: { applyDefaults: true }, url: {} } }),
});

/** Questions of one server that wait at the same time, at most. */
const mostQuestions = 3;

/** The longest question a person is asked, in characters: what cannot be read cannot be agreed to. */
const longest = 100_000;

/** Answers what a server asks, through whoever can. */
export const answerRequests = (client: Client, server: string, asking: Asking): void => {
  const { sample, elicit, roots, unanswered } = asking;
  const one = oneOfFew();
  client.fallbackRequestHandler = async ({ method }) => {
    if (method === "sampling/createMessage") unanswered?.(server, "sampling");
    if (method === "elicitation/create") unanswered?.(server, "elicitation");
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
  };
  if (roots !== undefined)
    client.setRequestHandler("roots/list", () => ({
      roots: roots().map((path) => ({ uri: pathToFileURL(path).href })),
    }));
  if (sample !== undefined)
    client.setRequestHandler("sampling/createMessage", ({ params }, { mcpReq: { signal } }) =>
      one(async () => {
        demandShort([params.systemPrompt, ...params.messages.flatMap(({ content }) => content)]);
        const given: unknown = await sample(
          {
            server,
            ...(params.systemPrompt === undefined ? {} : { system: params.systemPrompt }),
            messages: params.messages.map(({ role, content }) => ({ role, content })),
            maxTokens: params.maxTokens,
            raw: toPlain(params).value as JsonObject,
          },
          signal,
        );
        const answer = readSamplingAnswer(given);
        if (answer === "refused") throw new ProtocolError(-1, "The user refused this.");
        return {
          role: "assistant",
          model: answer.model,
          content: { type: "text", text: answer.text },
          stopReason: answer.isCut === true ? "maxTokens" : "endTurn",
        };
      }),
    );
  if (elicit !== undefined)
    client.setRequestHandler("elicitation/create", ({ params }, { mcpReq: { signal } }) =>
      one(async () => {
        demandShort([params.message, JSON.stringify("requestedSchema" in params ? params.requestedSchema : "")]);
        const question = questionOf(server, toPlain(params).value as JsonObject);
        if (question === undefined) return { action: "decline" };
        const answer = readElicitationAnswer(await elicit(question, signal));
        return answer.action === "accept" && answer.content !== undefined
          ? { action: "accept", content: toPlain(answer.content).value as Record<string, string> }
          : { action: answer.action };
      }),
    );
};

const oneOfFew = (): (<Result>(work: () => Promise<Result>) => Promise<Result>) => {
  let waiting = 0;
  return async (work) => {
    if (waiting >= mostQuestions)
      throw new ProtocolError(ProtocolErrorCode.InternalError, "Too many questions wait for an answer already.");
    waiting += 1;
    try {
      return await work();
    } finally {
      waiting -= 1;
    }
  };
};

/** Files do not count: they are named, not read. */
const demandShort = (pieces: readonly unknown[]): void => {
  const texts = pieces.map((piece) => (isObject(piece) && "text" in piece ? piece["text"] : piece));
  const length = texts.reduce<number>((sum, text) => sum + (typeof text === "string" ? text.length : 0), 0);
  if (length > longest)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `A person is asked at most ${longest} characters.`);
};

/** A question as a person may be shown it; an address that is not one of the web is not even asked about. */
const questionOf = (server: string, params: JsonObject): Elicitation | undefined => {
  const { mode, url, requestedSchema } = params;
  const message = plain(typeof params["message"] === "string" ? params["message"] : "", "visible");
  if (mode !== "url") {
    const schema = isObject(requestedSchema) ? (requestedSchema as JsonObject) : {};
    return { type: "form", server, message, schema, seemsSecret: asksForSecret(message, schema) };
  }
  const judged = judgeUrl(typeof url === "string" ? url : "");
  return typeof url === "string" && /^https?:/.test(judged.url)
    ? { type: "url", server, message, url: new URL(url).href }
    : undefined;
};

const asksForSecret = (message: string, { properties }: JsonObject): boolean =>
  /\b(api.?key|password|passphrase|secret|token|credential)s?\b/i.test(message) ||
  (isObject(properties) &&
    Object.entries(properties).some(
      ([name, field]) => isSecretField(name) || (isObject(field) && isSecretText(field["title"])),
    ));

const isSecretText = (title: unknown): boolean => typeof title === "string" && isSecretField(title);
