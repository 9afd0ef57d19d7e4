import { isObject, type JsonObject } from "../conversation/json.ts";
import type { WorkspaceFiles } from "../tools/capabilities.ts";
import type { ToolContent } from "../tools/tool.ts";
import { toToolContent, toResourceContent } from "./tools/content.ts";
import type { McpServer } from "./server.ts";

/** Options for reading from a server. Long text is stored in `files`. */
export type McpReadOptions = { readonly signal: AbortSignal; readonly files: Pick<WorkspaceFiles, "keep"> };

export type PromptMessage = { readonly role: "user" | "assistant"; readonly content: readonly ToolContent[] };

/** Maximum contents of one resource. */
const maxContents = 50;

/** Reads a resource. The server opens the URI; we open nothing ourselves. */
export const readResource = async (
  server: McpServer,
  uri: string,
  { signal, files }: McpReadOptions,
): Promise<readonly ToolContent[]> => {
  const connection = await server.connection(signal);
  const answer = await connection.request("resources/read", { uri }, { signal, timeout: server.timeout });
  const contents = isObject(answer) && Array.isArray(answer["contents"]) ? answer["contents"] : [];
  const pieces = await Promise.all(
    contents.slice(0, maxContents).map((piece) => toResourceContent(piece, { tool: server.name, files })),
  );
  return pieces.length > 0 ? pieces.flat() : [{ type: "text", text: `(${uri} is empty.)` }];
};

/** Reads a prompt with its arguments filled in. */
export const readPrompt = async (
  server: McpServer,
  name: string,
  input: JsonObject,
  { signal, files }: McpReadOptions,
): Promise<readonly PromptMessage[]> => {
  const connection = await server.connection(signal);
  const answer = await connection.request(
    "prompts/get",
    { name, arguments: input },
    { signal, timeout: server.timeout },
  );
  const messages = isObject(answer) && Array.isArray(answer["messages"]) ? answer["messages"] : [];
  return Promise.all(
    messages.filter(isObject).map(async ({ role, content }) => ({
      role: role === "assistant" ? ("assistant" as const) : ("user" as const),
      content: await toToolContent([content].flat(), { tool: name, files }),
    })),
  );
};
