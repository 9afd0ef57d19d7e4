import type { JsonObject } from "../../conversation/json.ts";
import { ToolFailure, type AnyTool } from "../../tools/tool.ts";
import type { OfferedTool } from "../catalog.ts";
import type { McpConnection } from "../connection/connect.ts";
import { toToolResult } from "./content.ts";
import { McpServerError } from "../server-error.ts";
import { createLooseSchema } from "./input-schema.ts";

/** The server of a tool. */
export type McpToolHost = {
  readonly name: string;
  readonly timeout: number;
  /** Waits for the connection. */
  readonly connection: (signal: AbortSignal) => Promise<McpConnection>;
  /** Called when a call was stopped before its response came. */
  readonly onCallStopped: () => void;
  /** Redacts the secrets of the server's configuration. */
  readonly redact: (text: string) => string;
};

/** Wraps a server's tool as one of ours. Annotations such as readOnlyHint are ignored: nothing guarantees them. */
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
      const options = { signal, timeout: host.timeout, onProgress: report };
      return await toToolResult(await connection.callTool(offered.raw, input, options), { tool: name, files });
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
