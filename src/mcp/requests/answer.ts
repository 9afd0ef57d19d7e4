import { ProtocolError, ProtocolErrorCode, type Client, type ClientCapabilities } from "@modelcontextprotocol/client";
import { pathToFileURL } from "node:url";
import { isObject, toPlainJson, type JsonObject } from "../../conversation/json.ts";
import { judgeUrl } from "../../policy/network/judge-url.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { isSecretField } from "../../policy/secrets/names.ts";
import { parseElicitationAnswer, parseSamplingAnswer } from "./parse-answers.ts";
import type { McpRequestHandlers, Elicitation } from "./handlers.ts";

/** The capabilities announced to a server. */
export const clientCapabilities = ({ sample, elicit, roots }: McpRequestHandlers): ClientCapabilities => ({
  ...(roots === undefined ? {} : { roots: { listChanged: true } }),
  ...(sample === undefined ? {} : { sampling: {} }),
  ...(elicit === undefined ? {} : { elicitation: { form: { applyDefaults: true }, url: {} } }),
});

/** Maximum questions of one server that wait at the same time. */
const maxPendingQuestions = 3;

/** Maximum characters of a question: a person cannot agree to what they cannot read. */
const maxQuestionLength = 100_000;

/** Answers a server's requests with the handlers. */
export const answerRequests = (client: Client, server: string, handlers: McpRequestHandlers): void => {
  const { sample, elicit, roots, onUnsupported } = handlers;
  const one = createLimiter();
  client.fallbackRequestHandler = async ({ method }) => {
    if (method === "sampling/createMessage") onUnsupported?.(server, "sampling");
    if (method === "elicitation/create") onUnsupported?.(server, "elicitation");
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
  };
  if (roots !== undefined)
    client.setRequestHandler("roots/list", () => ({
      roots: roots().map((path) => ({ uri: pathToFileURL(path).href })),
    }));
  if (sample !== undefined)
    client.setRequestHandler("sampling/createMessage", ({ params }, { mcpReq: { signal } }) =>
      one(async () => {
        requireShort([params.systemPrompt, ...params.messages.flatMap(({ content }) => content)]);
        const given: unknown = await sample(
          {
            server,
            ...(params.systemPrompt === undefined ? {} : { system: params.systemPrompt }),
            messages: params.messages.map(({ role, content }) => ({ role, content })),
            maxTokens: params.maxTokens,
            raw: toPlainJson(params).value as JsonObject,
          },
          signal,
        );
        const answer = parseSamplingAnswer(given);
        if (answer === "refused") throw new ProtocolError(-1, "The user refused this.");
        return {
          role: "assistant",
          model: answer.model,
          content: { type: "text", text: answer.text },
          stopReason: answer.isTruncated === true ? "maxTokens" : "endTurn",
        };
      }),
    );
  if (elicit !== undefined)
    client.setRequestHandler("elicitation/create", ({ params }, { mcpReq: { signal } }) =>
      one(async () => {
        requireShort([params.message, JSON.stringify("requestedSchema" in params ? params.requestedSchema : "")]);
        const question = toElicitation(server, toPlainJson(params).value as JsonObject);
        if (question === undefined) return { action: "decline" };
        const answer = parseElicitationAnswer(await elicit(question, signal));
        return answer.action === "accept" && answer.content !== undefined
          ? { action: "accept", content: toPlainJson(answer.content).value as Record<string, string> }
          : { action: answer.action };
      }),
    );
};

const createLimiter = (): (<Result>(work: () => Promise<Result>) => Promise<Result>) => {
  let waiting = 0;
  return async (work) => {
    if (waiting >= maxPendingQuestions)
      throw new ProtocolError(ProtocolErrorCode.InternalError, "Too many questions are waiting for an answer.");
    waiting += 1;
    try {
      return await work();
    } finally {
      waiting -= 1;
    }
  };
};

/** Files do not count: only their names are shown. */
const requireShort = (pieces: readonly unknown[]): void => {
  const texts = pieces.map((piece) => (isObject(piece) && "text" in piece ? piece["text"] : piece));
  const length = texts.reduce<number>((sum, text) => sum + (typeof text === "string" ? text.length : 0), 0);
  if (length > maxQuestionLength)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `A question has at most ${maxQuestionLength} characters.`);
};

/** Converts a request to a question that is safe to show; undefined for a URL that is not http or https. */
const toElicitation = (server: string, params: JsonObject): Elicitation | undefined => {
  const { mode, url, requestedSchema } = params;
  const message = sanitizeForTerminal(typeof params["message"] === "string" ? params["message"] : "", "visible");
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
