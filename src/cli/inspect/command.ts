import type { CommandSpec } from "../command.ts";

/** The spec of `parley inspect`. */
export const inspectCommand: CommandSpec = {
  name: "inspect",
  about: "Open a local page that shows a conversation as people and as models read it",
  usage: "[SESSION|FILE|-] [--port N] [--no-open]",
  positionals: ["[SESSION]"],
  choices: "conversations",
  details: [
    "Shows a session, a saved conversation, or a request body of any API: the conversation for reading;",
    "the same as any model gets it, side by side, with every repair explained; each request against the",
    "one before it; tokens, time and cost; what a switch to another model would mean. A session in use",
    "is followed live. Without an argument, shows the last session of this folder; - reads stdin.",
    "A log of exchanges (JSON Lines) is shown as a list: each request as received and as sent.",
    "The page is served on 127.0.0.1 alone and nothing can be changed through it. Stop it with Ctrl-C.",
  ],
  options: [
    { name: "port", value: "N", about: "Port to listen on (default: any free port)" },
    { name: "no-open", about: "Print the address, and do not open a browser" },
  ],
  example: "parley inspect talk.json",
  exitCodes: ["0  stopped by Ctrl-C", "1  unknown session, or cannot listen", "2  wrong usage, or unreadable input"],
  load: async () => (await import("./run.ts")).inspect,
};
