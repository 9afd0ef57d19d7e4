import { chatCommand } from "../chat/command.ts";
import type { CommandSpec } from "../command.ts";

/** The options of chat that hold for every session of an editor. */
const sharedOptions = [
  "model",
  "profile",
  "approval-mode",
  "allowed-tools",
  "include-directories",
  "max-turns",
  "system-prompt",
  "mcp-config",
  "unsupported-media",
  "sandbox",
  "sandbox-network",
  "debug",
];

/** `parley acp`. */
export const acpCommand: CommandSpec = {
  name: "acp",
  about: "Serve editors as an agent (Agent Client Protocol)",
  usage: "[options]",
  positionals: [],
  details: [
    "Speaks the Agent Client Protocol on stdin and stdout, for Zed, JetBrains IDEs, Neovim, Emacs and",
    "others; the editor starts it. Sessions are the same as in the terminal: parley -c resumes one. It",
    "ends when the editor closes its input. See docs/editors.md.",
  ],
  options: [
    ...chatCommand.options.filter(({ name }) => sharedOptions.includes(name)),
    { name: "login", about: "Set up a key in this terminal as parley login does, then exit; used by editors" },
  ],
  example: "parley acp --model anthropic/claude-sonnet-5",
  exitCodes: ["0  the editor closed its input", "1  the sign-in failed", "2  wrong usage"],
  load: async () => (await import("./run.ts")).runAcp,
};
