import type { CommandSpec } from "../command.ts";

/** `parley agents`. */
export const agentsCommand: CommandSpec = {
  name: "agents",
  about: "List the subagents that files define",
  usage: "[list] [--json]",
  positionals: ["[ACTION]"],
  choices: ["list"],
  details: [
    "Subagents are Markdown files in .parley/agents, .agents/agents, .gemini/agents, .claude/agents or",
    ".qwen/agents, of the project (if it is trusted) or of your home, and files of plugins. Lists the",
    "model, tools and file of each, files that are not used because another has the same name, tools",
    "that do not exist here, and fields without effect. A file with kind: remote is an agent on another",
    "server (docs/a2a.md).",
  ],
  options: [{ name: "json", about: "Print JSON" }],
  example: "parley agents list --json",
  exitCodes: ["0  done", "2  wrong usage"],
  load: async () => (await import("./run.ts")).listAgents,
};
