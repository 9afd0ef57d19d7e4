import type { CommandSpec } from "../command.ts";

/** The spec of `parley hooks`. */
export const hooksCommand: CommandSpec = {
  name: "hooks",
  about: "List, allow, test and import hooks",
  usage: "[ACTION] [NAME] [options]",
  positionals: ["[ACTION]", "[NAME]"],
  choices: ["list", "allow", "deny", "test", "import", "undo"],
  secondChoices: { import: ["claude", "codex", "gemini"] },
  details: [
    "  list           List your hooks and the project's, and which of them run (default)",
    "  allow [EVENT]  Show the hooks of this project in full, and ask to allow them",
    "  deny [EVENT]   Deny hooks of this project, and do not ask again",
    "  test EVENT     Run the hooks of an event without a model, and print input, output and decision",
    "  import AGENT   Show the hooks of claude, codex or gemini, and ask to add them to your settings",
    "  undo           Take the last import back",
    "Hooks are programs that run at events, in the format of Claude Code: see docs/hooks.md.",
  ],
  options: [
    { name: "tool", value: "NAME", about: "test: tool of the call, such as run_shell_command or Bash" },
    { name: "input", value: "JSON", about: "test: arguments of the call, or fields of the event" },
    { name: "yes", short: "y", about: "allow, import: do not ask" },
    { name: "json", about: "list, test: print one JSON object" },
  ],
  example: `parley hooks test PreToolUse --tool Bash --input '{"command": "git push"}'`,
  exitCodes: ["0  done", "1  not allowed, nothing found, or a tested hook failed", "2  wrong usage"],
  load: async () => (await import("./run.ts")).hooks,
};
