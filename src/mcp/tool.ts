import type { JsonObject } from "../conversation/json.ts";
import { ToolFailure, type AnyTool } from "../tools/tool.ts";
import type { OfferedTool } from "./catalog.ts";
import type { Connection } from "./connection.ts";
import { resultOf } from "./content.ts";
import { ServerFailure } from "./failure.ts";
import { looseInput } from "./input.ts";

/** What a tool of a server needs to run. */
export type ToolHost = {
  readonly server: string;
  readonly timeout: number;
  /** Waits for the server to be there. */
  readonly connection: (signal: AbortSignal) => Promise<Connection>;
  /** Takes note that a call was stopped before its answer came. */
  readonly stopped: () => void;
  /** Hides what the person's configuration keeps secret. */
  readonly redact: (text: string) => string;
};

/** A server's tool as one of ours. What it says of its own harmlessness is not heard. */
export const toolOf = (name: string, offered: OfferedTool, host: ToolHost): AnyTool => ({
  name,
  ownName: offered.name,
  about: offered.description === "" ? offered.title : offered.description,
  access: "execute",
  input: looseInput(offered.parameters),
  parameters: offered.parameters,
  touches: () => ({}),
  title: () => `${offered.title === "" ? offered.name : offered.title} (${host.server})`,
  run: async (input: JsonObject, { signal, report, files }) => {
    try {
      const connection = await host.connection(signal);
      const asked = { signal, timeout: host.timeout, progress: report };
      return await resultOf(await connection.call(offered.raw, input, asked), { tool: name, files });
    } catch (error) {
      if (signal.aborted) host.stopped();
      throw failureOf(error, host);
    }
  },
});

const failureOf = (error: unknown, { redact }: ToolHost): unknown => {
  if (!(error instanceof ServerFailure)) return error;
  return new ToolFailure(error.kind === "timeout" ? "timeout" : "mcp_tool_error", redact(error.message), {
    cause: error,
  });
};
