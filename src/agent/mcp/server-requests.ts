import type { McpRequestHandlers, SamplingAnswer, SamplingRequest } from "../../mcp/requests/handlers.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { Agent } from "../agent.ts";
import { modelName } from "../models/name.ts";

/** A front end's handlers for requests of MCP servers. */
export type ServerRequestHandlers = Pick<McpRequestHandlers, "elicit"> & {
  /**
   * Asks the person whether a server may use a model (sampling). `"allowed"` lets the session's model answer, at the
   * person's cost; an answer replaces the model's.
   */
  readonly sample?: (request: SamplingRequest, signal: AbortSignal) => Promise<SamplingAnswer | "allowed" | "refused">;
};

/** The session that server requests belong to. */
export type ServerRequestContext = {
  /** Resolves once the agent is created. */
  readonly agent: Promise<Agent>;
  /** The spending limit of the session, in US dollars. */
  readonly limit: number;
};

/** Creates the handlers for requests of MCP servers: elicitation goes to the person, sampling to the session's model once allowed. */
export const createServerRequestHandlers = (
  { sample, elicit }: ServerRequestHandlers,
  { agent, limit }: ServerRequestContext,
): Omit<McpRequestHandlers, "roots"> => {
  const answer = async (request: SamplingRequest, signal: AbortSignal): Promise<SamplingAnswer | "refused"> => {
    const session = await agent;
    const notify = (text: string): void => session.emit({ type: "notice", text });
    const server = `The MCP server ${sanitizeForTerminal(request.server, "line")}`;
    if (session.usageTotals().cost >= limit) {
      notify(`${server} was refused an answer: the spending limit of the session is reached (limits.spend).`);
      return "refused";
    }
    try {
      const { answerSampling } = await import("./sampling-request.ts");
      const result = await answerSampling(session, request, signal);
      notify(`${server} was answered by ${modelName(session.model())}.`);
      return result;
    } catch (error) {
      if (signal.aborted) throw error;
      notify(`${server} got no answer. ${error instanceof Error ? error.message : String(error)}`);
      // The details of a provider failure are not the server's business.
      throw new Error("The model gave no answer.", { cause: error });
    }
  };
  return {
    ...(elicit === undefined ? {} : { elicit }),
    ...(sample === undefined
      ? {}
      : {
          sample: async (request, signal) => {
            const decision = await sample(request, signal);
            return decision === "allowed" ? answer(request, signal) : decision;
          },
        }),
    sampleWithoutAsking: answer,
    onUnsupported: (server, kind) =>
      void agent.then((session) =>
        session.emit({
          type: "notice",
          text: `The MCP server ${sanitizeForTerminal(server, "line")} ${requestDescriptions[kind]}. There is no person to ask, so it was refused.`,
        }),
      ),
  };
};

const requestDescriptions = { sampling: "asked to use a model", elicitation: "asked a question" } as const;
