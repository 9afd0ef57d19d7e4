import type { CommandSpec } from "../command.ts";

/** `parley compare`. */
export const compareCommand: CommandSpec = {
  name: "compare",
  about: "Ask two or three models the same, and print answers, time, tokens and price",
  usage: "-m MODEL -m MODEL [-m MODEL] TEXT [options]",
  positionals: ["TEXT"],
  details: [
    "Runs the prompt on each model at the same time, each in a session of its own, which parley -r",
    "resumes. Only read-only tools run; other calls are refused, so that no model changes what another",
    "sees. With -c or -r, each model continues a copy of that session. In the terminal UI: /compare.",
  ],
  options: [
    {
      name: "model",
      short: "m",
      value: "MODEL",
      values: "targets",
      about: "Model to compare: provider/model, a provider, or a part of a name; two or three times",
    },
    { name: "continue", short: "c", about: "From the last session of this folder" },
    { name: "resume", short: "r", value: "SESSION", values: "sessions", about: "From this session" },
    { name: "cwd", value: "FOLDER", about: "Project folder (default: the current one)" },
    { name: "json", about: "Print the result as one JSON object" },
  ],
  example: 'parley compare -m anthropic -m openai "What does this project do?"',
  exitCodes: ["0  all models answered", "1  a model did not", "2  wrong usage", "52 invalid settings", "130 cancelled"],
  load: async () => (await import("./run.ts")).compare,
};
