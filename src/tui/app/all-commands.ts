import type { Servers } from "../../mcp/servers.ts";
import type { SlashCommand } from "./command.ts";
import { commands } from "./commands.ts";

/** Our commands, those people wrote, and the prompts of servers. Nobody else's takes the place of ours. */
export const allCommands = (
  custom: readonly SlashCommand[],
  servers: Pick<Servers, "prompts"> | undefined,
): readonly SlashCommand[] => {
  const own = new Set(commands.map(({ name }) => name));
  const prompts = (servers?.prompts() ?? []).map((prompt): SlashCommand => ({
    name: prompt.command,
    usage: prompt.arguments.map(({ name, required }) => (required ? name : `[${name}]`)).join(" "),
    about: prompt.description,
    run: async (words, at) => (await import("./prompt-commands.ts")).runPrompt(prompt, words, at),
  }));
  return [...commands, ...[...custom, ...prompts].filter(({ name }) => !own.has(name))];
};

/** The command of a name, or what to tell a person who mistyped it. */
export const commandNamed = async (name: string, all: readonly SlashCommand[]): Promise<SlashCommand | string> => {
  const found = all.find((each) => each.name === name);
  if (found !== undefined) return found;
  const { nearest } = await import("../../conversation/nearest.ts");
  const names = all.map((each) => each.name);
  const close = nearest(name, names).map((each) => `/${each}`);
  const hint = close.length > 0 ? `Did you mean ${close.join(" or ")}?` : "See /help.";
  return `There is no command /${name}. ${hint}`;
};
