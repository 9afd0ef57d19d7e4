import { isObject, type JsonObject } from "../conversation/json.ts";
import type { Files } from "../tools/capabilities.ts";
import type { ToolContent } from "../tools/tool.ts";
import { contentOf, resourceOf } from "./content.ts";
import type { Server } from "./server.ts";

/** How something is read from a server. What is too long is kept in `files`. */
export type Reading = { readonly signal: AbortSignal; readonly files: Pick<Files, "keep"> };

export type PromptMessage = { readonly role: "user" | "assistant"; readonly content: readonly ToolContent[] };

/** Pieces of one resource, at most. */
const mostPieces = 50;

/** What a resource of a server holds. The server reads it: whatever the address says, we open nothing. */
export const readResource = async (
  server: Server,
  uri: string,
  { signal, files }: Reading,
): Promise<readonly ToolContent[]> => {
  const connection = await server.connection(signal);
  const answer = await connection.ask("resources/read", { uri }, { signal, timeout: server.timeout });
  const contents = isObject(answer) && Array.isArray(answer["contents"]) ? answer["contents"] : [];
  const pieces = await Promise.all(
    contents.slice(0, mostPieces).map((piece) => resourceOf(piece, { tool: server.server, files })),
  );
  return pieces.length > 0 ? pieces.flat() : [{ type: "text", text: `(${uri} is empty.)` }];
};

/** A prompt of a server, with its blanks filled in. */
export const readPrompt = async (
  server: Server,
  name: string,
  given: JsonObject,
  { signal, files }: Reading,
): Promise<readonly PromptMessage[]> => {
  const connection = await server.connection(signal);
  const answer = await connection.ask("prompts/get", { name, arguments: given }, { signal, timeout: server.timeout });
  const messages = isObject(answer) && Array.isArray(answer["messages"]) ? answer["messages"] : [];
  return Promise.all(
    messages.filter(isObject).map(async ({ role, content }) => ({
      role: role === "assistant" ? ("assistant" as const) : ("user" as const),
      content: await contentOf([content].flat(), { tool: name, files }),
    })),
  );
};
