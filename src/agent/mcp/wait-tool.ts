import { z } from "zod";
import type { McpServers } from "../../mcp/servers.ts";
import { defineTool, type AnyTool } from "../../tools/tool.ts";
import { waitDeclaration } from "./wait-declaration.ts";

/** The tool with which a model waits for servers that were not there when it was first asked. */
export const createWaitTool = (servers: Pick<McpServers, "settled" | "status">): AnyTool =>
  defineTool({
    name: waitDeclaration.name,
    description: waitDeclaration.description ?? "",
    access: "read",
    input: z.object({}),
    touches: () => ({}),
    title: () => "wait for MCP servers",
    run: async (_, { signal }) => {
      await servers.settled(signal);
      const said = servers
        .status()
        .map(({ name, status, tools }) =>
          status.state === "failed"
            ? `${name} is not there: ${status.reason}`
            : `${name} is there with ${tools} tools.`,
        )
        .join("\n");
      const text = `${said}\nTheir tools can be called from now on.`;
      return { content: [{ type: "text", text }], display: { type: "text", text: said } };
    },
  });
