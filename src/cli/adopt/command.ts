import type { CommandSpec } from "../command.ts";

/** `parley adopt`. */
export const adoptCommand: CommandSpec = {
  name: "adopt",
  about: "Take over what other agents have on this machine",
  usage: "[AGENT] [--all | --only KIND,... | --pick N,...] [--yes] [--dry-run] | --undo",
  positionals: ["[AGENT]"],
  choices: ["claude", "codex", "gemini", "qwen", "opencode", "pi"],
  details: [
    "Lists context files, commands, agents, skills, plugins, hooks, MCP servers, permissions, sessions",
    "and the places of keys of Claude Code, Codex, Gemini CLI, Qwen Code, opencode and pi, in your home",
    "and in this folder (if it is trusted). In a terminal you tick what to take over, in one list. What",
    "Parley reads anyway is only named. Only your own settings, folders and sessions are added to; files",
    "of the other agents are never changed. Values of variables and headers of MCP servers are replaced",
    "by references. Hooks, plugins and rules that allow more are shown in full and need a second yes.",
    "KIND: context, commands, agents, skills, plugins, hooks, servers, permissions, keys, sessions.",
  ],
  options: [
    { name: "all", about: "Choose everything that can be taken over" },
    { name: "only", value: "KIND,...", about: "Choose everything of these kinds" },
    { name: "pick", value: "N,...", about: "Choose by the numbers of the list" },
    { name: "yes", about: "Also take over hooks, plugins and rules that allow more, without asking" },
    { name: "dry-run", about: "Show what would be done, and change nothing" },
    { name: "undo", about: "Reverse the last adoption; again: the one before" },
    { name: "json", about: "Print the result as one JSON object" },
  ],
  example: "parley adopt claude --only servers,permissions",
  exitCodes: ["0  done", "1  nothing to undo, or settings changed since", "2  wrong usage"],
  load: async () => (await import("./run.ts")).adopt,
};
