import type { JsonObject } from "../conversation/json.ts";
import { ToolFailure, type AnyTool } from "../tools/tool.ts";
import { displayOf } from "./content.ts";
import { ServerFailure } from "./failure.ts";
import { looseInput } from "./input.ts";
import type { Servers } from "./servers.ts";

export type ResourceHost = {
  readonly resources: Servers["resources"];
  readonly read: Servers["readResource"];
  readonly names: () => readonly string[];
};

/** Tools of ours to list and to read what servers have. */
export const resourceTools = (host: ResourceHost): readonly AnyTool[] => [listTool(host), readTool(host)];

const text = (description: string): JsonObject => ({ type: "string", description });

const listParameters: JsonObject = {
  type: "object",
  properties: { server: text("The server whose resources to list; those of all if not given.") },
};

const listTool = ({ resources }: ResourceHost): AnyTool => ({
  name: "list_mcp_resources",
  about: "Lists the resources MCP servers offer for reading, with their addresses.",
  access: "read",
  input: looseInput(listParameters),
  parameters: listParameters,
  touches: () => ({}),
  title: () => "Lists the resources of MCP servers",
  run: async ({ server }: { readonly server?: string }) => {
    const found = resources().filter((resource) => server === undefined || resource.server === server);
    const lines = found
      .slice(0, mostLines)
      .map(({ server: name, uri, name: title, mimeType, isTemplate }) =>
        [`${name}: ${uri}`, title, mimeType, isTemplate ? "(a template: fill in what is in braces)" : ""]
          .filter((part) => part !== "")
          .join("  "),
      );
    const left = found.length - lines.length;
    const all = [...lines, ...(left > 0 ? [`(${left} more)`] : [])].join("\n");
    const shown = found.length === 0 ? "There are no resources." : all;
    return { content: [{ type: "text", text: shown }], display: { type: "text", text: shown } };
  },
});

const mostLines = 300;

const readParameters: JsonObject = {
  type: "object",
  properties: {
    server: text("The server that has it, as list_mcp_resources names it."),
    uri: text("The address of the resource, as listed."),
  },
  required: ["server", "uri"],
};

const readTool = ({ read, names }: ResourceHost): AnyTool => ({
  name: "read_mcp_resource",
  about: "Reads a resource of an MCP server by its address.",
  access: "network",
  input: looseInput(readParameters),
  parameters: readParameters,
  touches: () => ({}),
  title: ({ server, uri }: { readonly server: string; readonly uri: string }) => `Reads ${uri} from ${server}`,
  run: async ({ server, uri }: { readonly server: string; readonly uri: string }, { signal, files }) => {
    if (!names().includes(server))
      throw new ToolFailure(
        "invalid_tool_params",
        `There is no MCP server ${JSON.stringify(server)}. There are ${names().join(", ")}.`,
      );
    try {
      const content = await read(server, uri, { signal, files });
      return { content, display: { type: "text", text: displayOf(content) } };
    } catch (error) {
      throw error instanceof ServerFailure ? new ToolFailure("mcp_tool_error", error.message, { cause: error }) : error;
    }
  },
});
