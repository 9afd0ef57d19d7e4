import type { McpRequestHandlers, SamplingAnswer, SamplingRequest } from "../../mcp/requests/handlers.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { Agent } from "../agent.ts";
import { modelName } from "../models/name.ts";

/** How MCP servers reach a person. */
export type ServerRequestHandlers = Pick<McpRequestHandlers, "elicit"> & {
  /**
   * Asks whether a server may have a model's words. `"allowed"` has the session's own model answer, at the person's
   * cost; whoever has words of their own gives those.
   */
  readonly sample?: (request: SamplingRequest, signal: AbortSignal) => Promise<SamplingAnswer | "allowed" | "refused">;
};

/** The session behind the answers. */
export type ServerRequestContext = {
  /** Resolves once there is one. */
  readonly agent: Promise<Agent>;
  /** What the session may cost, in US dollars. */
  readonly limit: number;
};

/** Answers servers: with what a person says, and with the words of the session's model where they may have them. */
export const createServerRequestHandlers = (
  { sample, elicit }: ServerRequestHandlers,
  { agent, limit }: ServerRequestContext,
): Omit<McpRequestHandlers, "roots"> => {
  const answer = async (request: SamplingRequest, signal: AbortSignal): Promise<SamplingAnswer | "refused"> => {
    const session = await agent;
    const tell = (text: string): void => session.emit({ type: "notice", text });
    const server = `The MCP server ${sanitizeForTerminal(request.server, "line")}`;
    if (session.usageTotals().cost >= limit) {
      tell(`${server} was refused an answer: the session has cost as much as it may.`);
      return "refused";
    }
    try {
      const { answerSampling } = await import("./sampling-request.ts");
      const given = await answerSampling(session, request, signal);
      tell(`${server} was answered by ${modelName(session.model())}.`);
      return given;
    } catch (error) {
      if (signal.aborted) throw error;
      tell(`${server} got no answer. ${error instanceof Error ? error.message : String(error)}`);
      // What went wrong between us and a provider is not the server's business.
      throw new Error("The model gave no answer.", { cause: error });
    }
  };
  return {
    ...(elicit === undefined ? {} : { elicit }),
    ...(sample === undefined
      ? {}
      : {
          sample: async (request, signal) => {
            const decided = await sample(request, signal);
            return decided === "allowed" ? answer(request, signal) : decided;
          },
        }),
    sampleWithoutAsking: answer,
    onUnsupported: (server, what) =>
      void agent.then((session) =>
        session.emit({
          type: "notice",
          text: `The MCP server ${sanitizeForTerminal(server, "line")} asked ${requestDescriptions[what]}, and nobody is there to be asked.`,
        }),
      ),
  };
};

const requestDescriptions = { sampling: "for the words of a model", elicitation: "a question" } as const;
