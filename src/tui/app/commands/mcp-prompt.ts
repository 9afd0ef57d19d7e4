import type { UserPart } from "../../../conversation/parts.ts";
import type { McpServers } from "../../../mcp/servers.ts";
import { storeFile } from "../../../tools/result/store-file.ts";
import type { ToolContent } from "../../../tools/tool.ts";
import type { SlashCommandContext } from "./slash-command.ts";

type McpPrompt = ReturnType<McpServers["prompts"]>[number];

/** Gets a prompt from its MCP server and sends it. Words fill its arguments in order, or by `name=value`. */
export const runMcpPrompt = async (prompt: McpPrompt, words: string, at: SlashCommandContext): Promise<void> => {
  const { servers, services, addBlobs } = at.opened();
  if (servers === undefined) return;
  const given = parseArguments(
    words,
    prompt.arguments.map(({ name }) => name),
  );
  const missing = prompt.arguments.filter(({ name, required }) => required && !(name in given));
  if (missing.length > 0)
    return at.warn(
      `/${prompt.command} needs ${missing.map(({ name, description }) => `${name} (${description})`).join(", ")}.`,
    );
  const { workspace } = await services();
  const asking = { signal: new AbortController().signal, files: workspace };
  const messages = await servers.readPrompt(prompt.server, prompt.name, given, asking);
  const contents = messages.flatMap(({ role, content }) => (role === "user" ? content : []));
  const blobs: Record<string, string> = {};
  const parts = contents.map((content) => partOf(content, blobs));
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  addBlobs(blobs);
  await at.send(
    text,
    parts.filter((part) => part.type === "media"),
  );
};

/** Parses `a b` or `name=value`, with quotes around values with spaces. */
const parseArguments = (words: string, names: readonly string[]): Readonly<Record<string, string>> => {
  const given: Record<string, string> = {};
  let next = 0;
  for (const [word] of words.matchAll(/(?:[\w-]+=)?(?:"[^"]*"|\S+)/g)) {
    const [, name = "", value = ""] = /^([\w-]+)=(.*)$/s.exec(word) ?? [];
    const isNamed = names.includes(name);
    const place = isNamed ? name : names[next++];
    if (place !== undefined) given[place] = (isNamed ? value : word).replace(/^"(.*)"$/s, "$1");
  }
  return given;
};

const partOf = (content: ToolContent, blobs: Record<string, string>): UserPart => {
  switch (content.type) {
    case "text":
      return content;
    case "structured":
      return { type: "text", text: JSON.stringify(content.value) };
    case "file": {
      const { media, blob } = storeFile(content);
      if (blob !== undefined) blobs[blob.hash] = blob.base64;
      return media;
    }
  }
};
