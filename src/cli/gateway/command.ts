import type { CommandSpec } from "../command.ts";

/** The spec of `parley gateway`. */
export const gatewayCommand: CommandSpec = {
  name: "gateway",
  about: "Put any provider behind Claude Code, Codex, Gemini CLI and other clients",
  usage: "[setup CLIENT] [--port N] [--token TOKEN] [--route FROM=TO] [options]",
  positionals: ["[ACTION]", "[CLIENT]"],
  choices: ["setup"],
  secondChoices: { setup: ["claude", "codex", "gemini", "opencode", "pi", "qwen"] },
  details: [
    "Serves Anthropic Messages, Chat Completions, Responses and Gemini on this machine, and answers from",
    "the providers you have keys for. Keys stay here: a client has only a token of the gateway. A model",
    "named provider/model always works; gateway.routes in your settings maps other names. Settings are",
    "read again when they change. Stop it with Ctrl-C.",
    "",
    "parley gateway setup CLIENT prints the settings a client needs; --write changes them, with a token",
    "of its own, and --undo restores them.",
  ],
  options: [
    { name: "port", value: "N", about: "Port to listen on (default: gateway.port)" },
    { name: "token", value: "TOKEN", about: "Accept this token too (default: a new one if no client is set up)" },
    {
      name: "route",
      value: "PATTERN=TARGET",
      about: "Send models that match to a target, before all routes of settings",
    },
    { name: "log", value: "FILE", about: "Write every exchange to this file, redacted, for parley inspect" },
    {
      name: "seals",
      value: "FILE",
      about: "Keep thinking signatures that clients do not return in this file, over restarts",
    },
    { name: "model", value: "MODEL", about: "With setup: the model the client asks for" },
    { name: "write", about: "With setup: change the client's settings" },
    { name: "undo", about: "With setup: restore the client's settings" },
  ],
  example: "parley gateway --route 'claude-*=openai/gpt-5.6'",
  exitCodes: ["0  stopped by Ctrl-C", "1  cannot listen, or settings cannot be written", "2  wrong usage"],
  load: async () => (await import("./run.ts")).runGateway,
};
