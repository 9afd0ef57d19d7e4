import type { JsonObject } from "../../conversation/json.ts";
import { ToolFailure, type AnyTool } from "../../tools/tool.ts";
import type { OfferedTool } from "../catalog.ts";
import type { McpConnection } from "../connection/connect.ts";
import { toToolResult } from "./content.ts";
import { McpServerError } from "../server-error.ts";
import { createLooseSchema } from "./input-schema.ts";

/** What a tool of a server needs to run. */
export type McpToolHost = {
  readonly name: string;
  readonly timeout: number;
  /** Waits for the server to be there. */
  readonly connection: (signal: AbortSignal) => Promise<McpConnection>;
  /** Takes note that a call was stopped before its answer came. */
  readonly onCallStopped: () => void;
  /** Hides what the person's configuration keeps secret. */
  readonly redact: (text: string) => string;
};

/** A server's tool as one of ours. What it says of its own harmlessness is not heard. */
export const createMcpTool = (name: string, offered: OfferedTool, host: McpToolHost): AnyTool => ({
  name,
  originalName: offered.name,
  description: offered.description === "" ? offered.title : offered.description,
  access: "execute",
  input: createLooseSchema(offered.parameters),
  parameters: offered.parameters,
  touches: () => ({}),
  title: () => `${offered.title === "" ? offered.name : offered.title} (${host.name})`,
  run: async (input: JsonObject, { signal, report, files }) => {
    try {
      const connection = await host.connection(signal);
      const asked = { signal, timeout: host.timeout, progress: report };
      return await toToolResult(await connection.callTool(offered.raw, input, asked), { tool: name, files });
    } catch (error) {
      if (signal.aborted) host.onCallStopped();
      throw toToolFailure(error, host);
    }
  },
});

const toToolFailure = (error: unknown, { redact }: McpToolHost): unknown => {
  if (!(error instanceof McpServerError)) return error;
  return new ToolFailure(error.kind === "timeout" ? "timeout" : "mcp_tool_error", redact(error.message), {
    cause: error,
  });
};
