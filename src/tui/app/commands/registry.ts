import type { McpServers } from "../../../mcp/servers.ts";
import type { SlashCommand } from "./slash-command.ts";
import { builtInCommands } from "./built-in.ts";

/** Lists built-in commands, custom commands and MCP prompts. Built-in names take precedence. */
export const listCommands = (
  custom: readonly SlashCommand[],
  servers: Pick<McpServers, "prompts"> | undefined,
): readonly SlashCommand[] => {
  const own = new Set(builtInCommands.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
  const prompts = (servers?.prompts() ?? []).map((prompt): SlashCommand => ({
    name: prompt.command,
    usage: prompt.arguments.map(({ name, required }) => (required ? name : `[${name}]`)).join(" "),
    description: prompt.description,
    run: async (words, at) => (await import("./mcp-prompt.ts")).runMcpPrompt(prompt, words, at),
  }));
  return [...builtInCommands, ...[...custom, ...prompts].filter(({ name }) => !own.has(name))];
};

/** Finds a command by name, or returns an error text with suggestions. */
export const findCommand = async (name: string, all: readonly SlashCommand[]): Promise<SlashCommand | string> => {
  const found = all.find((each) => each.name === name || each.aliases?.includes(name) === true);
  if (found !== undefined) return found;
  const { nearestNames } = await import("../../../conversation/nearest-names.ts");
  const names = all.map((each) => each.name);
  const close = nearestNames(name, names).map((each) => `/${each}`);
  const hint = close.length > 0 ? `Did you mean ${close.join(" or ")}?` : "See /help.";
  return `Unknown command /${name}. ${hint}`;
};
