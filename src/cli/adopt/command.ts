import type { CommandSpec } from "../command.ts";

/** `parley adopt`. */
export const adoptCommand: CommandSpec = {
  name: "adopt",
  about: "Take over what other agents have on this machine",
  usage: "[AGENT] [--all | --only KIND,...] [--yes] [--dry-run] [--json] | --undo",
  positionals: ["[AGENT]"],
  choices: ["claude", "codex", "gemini", "qwen", "opencode", "pi"],
  details: [
    "Lists context files, commands, agents, skills, hooks, MCP servers, permissions, sessions and the",
    "places of keys of Claude Code, Codex, Gemini CLI, Qwen Code, opencode and pi, in your home and in",
    "this folder (if it is trusted), and takes over what you choose. What Parley reads anyway is only",
    "named. Only your own settings are changed; files of the other agents never are. Values of variables",
    "and headers of MCP servers are replaced by references. Permission rules that allow more are taken",
    "over only if you agree to each, or with --yes. KIND: context, commands, agents, skills, hooks,",
    "servers, permissions, keys, sessions.",
  ],
  options: [
    { name: "all", about: "Choose everything that can be taken over" },
    { name: "only", value: "KIND,...", about: "Choose everything of these kinds" },
    { name: "yes", about: "Also take over permission rules that allow more, without asking" },
    { name: "dry-run", about: "Show what would be done, and change nothing" },
    { name: "undo", about: "Reverse the last adoption" },
    { name: "json", about: "Print the result as one JSON object" },
  ],
  example: "parley adopt claude --only servers,permissions",
  exitCodes: ["0  done", "1  nothing to undo, or settings changed since", "2  wrong usage"],
  load: async () => (await import("./run.ts")).adopt,
};
