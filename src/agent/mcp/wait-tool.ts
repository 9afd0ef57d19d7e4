import { object } from "../../tools/schema.ts";
import type { McpServers } from "../../mcp/servers.ts";
import { defineTool, type AnyTool } from "../../tools/tool.ts";
import { waitDeclaration } from "./wait-declaration.ts";

/** Creates the tool with which a model waits for MCP servers that are still connecting. */
export const createWaitTool = (servers: Pick<McpServers, "settled" | "status">): AnyTool =>
  defineTool({
    name: waitDeclaration.name,
    description: waitDeclaration.description ?? "",
    access: "read",
    input: object({}),
    touches: () => ({}),
    title: () => "wait for MCP servers",
    run: async (_, { signal }) => {
      await servers.settled(signal);
      const statusLines = servers
        .status()
        .map(({ name, status, tools }) =>
          status.state === "failed"
            ? `${name} is not there: ${status.reason}`
            : `${name} is there with ${tools} tools.`,
        )
        .join("\n");
      const text = `${statusLines}\nTheir tools can be called from now on.`;
      return { content: [{ type: "text", text }], display: { type: "text", text: statusLines } };
    },
  });
