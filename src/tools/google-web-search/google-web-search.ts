import { object, string } from "../schema.ts";
import { truncateText } from "../result/truncate.ts";
import { addCitations } from "./citations.ts";
import { defineTool, ToolFailure, type AnyTool, type ToolResult } from "../tool.ts";

const input = object({
  query: string({
    isTrimmed: true,
    minLength: 1,
    emptyMessage: "The 'query' parameter cannot be empty.",
    description: "What to search the web for.",
  }),
});

export const googleWebSearch: AnyTool = defineTool({
  name: "google_web_search",
  description:
    "Searches the web with Google and returns an answer with numbered sources. To read a page with a known URL, use web_fetch.",
  access: "network",
  input,
  aliases: { query: ["q", "search_query"] },
  touches: () => ({}),
  title: ({ query }) => `Searching the web for: "${query}"`,
  run: async ({ query }, capabilities): Promise<ToolResult> => {
    const { signal, files, model } = capabilities;
    const answer = await model?.google?.(query, "search", signal).catch((error: unknown) => {
      signal.throwIfAborted();
      if (error instanceof ToolFailure) throw error;
      const words = error instanceof Error ? error.message : String(error);
      throw new ToolFailure("web_search_failed", `Error during web search for query "${query}": ${words}`, {
        cause: error,
      });
    });
    if (answer === undefined) throw new ToolFailure("web_search_failed", noCredentialsMessage);
    if (answer.text.trim() === "")
      return textResult(`No search results or information found for query: "${query}"`, "No information found.");
    const text = `Web search results for "${query}":\n\n${addCitations(answer)}`;
    return textResult(await truncateText(text, { files, name: "search" }), `Search results for "${query}" returned.`);
  },
});

const noCredentialsMessage =
  "Web search runs on Google's models and there are no credentials for them. Set GEMINI_API_KEY (or GOOGLE_API_KEY, or GOOGLE_CLOUD_PROJECT with a Vertex AI login), or sign in to Gemini Code Assist with parley login, and try again. Pages with a known URL can be read with web_fetch.";

const textResult = (text: string, display: string): ToolResult => ({
  content: [{ type: "text", text }],
  display: { type: "text", text: display },
});
