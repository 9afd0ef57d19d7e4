import type { JsonObject } from "../../conversation/json.ts";
import { ToolFailure, type AnyTool } from "../../tools/tool.ts";
import { formatDisplay } from "./content.ts";
import { McpServerError } from "../server-error.ts";
import { createLooseSchema } from "./input-schema.ts";
import type { McpServers } from "../servers.ts";

export type ResourceHost = {
  readonly resources: McpServers["resources"];
  readonly read: McpServers["readResource"];
  readonly names: () => readonly string[];
};

/** Our own tools that list and read the resources of servers. */
export const createResourceTools = (host: ResourceHost): readonly AnyTool[] => [
  createListTool(host),
  createReadTool(host),
];

const textParameter = (description: string): JsonObject => ({ type: "string", description });

const listParameters: JsonObject = {
  type: "object",
  properties: { server: textParameter("The server whose resources to list. Default: all servers.") },
};

const createListTool = ({ resources }: ResourceHost): AnyTool => ({
  name: "list_mcp_resources",
  description: "Lists the resources of MCP servers with their URIs.",
  access: "read",
  input: createLooseSchema(listParameters),
  parameters: listParameters,
  touches: () => ({}),
  title: () => "Lists the resources of MCP servers",
  run: async ({ server }: { readonly server?: string }) => {
    const found = resources().filter((resource) => server === undefined || resource.server === server);
    const lines = found
      .slice(0, maxLines)
      .map(({ server: name, uri, name: title, mimeType, isTemplate }) =>
        [`${name}: ${uri}`, title, mimeType, isTemplate ? "(a template: fill in the parts in braces)" : ""]
          .filter((part) => part !== "")
          .join("  "),
      );
    const left = found.length - lines.length;
    const all = [...lines, ...(left > 0 ? [`(${left} more)`] : [])].join("\n");
    const shown = found.length === 0 ? "There are no resources." : all;
    return { content: [{ type: "text", text: shown }], display: { type: "text", text: shown } };
  },
});

const maxLines = 300;

const readParameters: JsonObject = {
  type: "object",
  properties: {
    server: textParameter("The server name, as listed by list_mcp_resources."),
    uri: textParameter("The URI of the resource, as listed."),
  },
  required: ["server", "uri"],
};

const createReadTool = ({ read, names }: ResourceHost): AnyTool => ({
  name: "read_mcp_resource",
  description: "Reads a resource of an MCP server by its URI.",
  access: "network",
  input: createLooseSchema(readParameters),
  parameters: readParameters,
  touches: () => ({}),
  title: ({ server, uri }: { readonly server: string; readonly uri: string }) => `Reads ${uri} from ${server}`,
  run: async ({ server, uri }: { readonly server: string; readonly uri: string }, { signal, files }) => {
    if (!names().includes(server))
      throw new ToolFailure(
        "invalid_tool_params",
        `Unknown MCP server ${JSON.stringify(server)}. Available: ${names().join(", ")}.`,
      );
    try {
      const content = await read(server, uri, { signal, files });
      return { content, display: { type: "text", text: formatDisplay(content) } };
    } catch (error) {
      throw error instanceof McpServerError
        ? new ToolFailure("mcp_tool_error", error.message, { cause: error })
        : error;
    }
  },
});
