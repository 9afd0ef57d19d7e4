import type { CommandSpec } from "../command.ts";

/** `parley commands`. */
export const customCommandsCommand: CommandSpec = {
  name: "commands",
  about: "List custom commands and where they come from",
  usage: "[list] [--json]",
  positionals: ["[ACTION]"],
  choices: ["list"],
  details: [
    "Custom commands are Markdown or TOML files in .parley/commands, .agents/commands, .claude/commands,",
    ".gemini/commands, .qwen/commands, .codex/prompts or .opencode/command, of the project (up to the",
    "root of the repository, if it is trusted) or of your home. Lists the file of each, files that are",
    "not used because another has the same name, and fields without effect. Run one with /NAME: in a",
    'terminal, in an editor, or with parley -p "/NAME ARGUMENTS".',
  ],
  options: [{ name: "json", about: "Print JSON" }],
  example: "parley commands list --json",
  exitCodes: ["0  done", "2  wrong usage"],
  load: async () => (await import("./run.ts")).listCustomCommands,
};
