import type { CommandSpec } from "../commands.ts";

/** Servers with tools for models, and Parley as one. */
export const mcpCommand: CommandSpec = {
  name: "mcp",
  about: "MCP servers: whose tools models may use; and Parley as one",
  usage: "[ACTION] [NAME] [options] [-- COMMAND...]",
  positionals: ["[ACTION]", "[NAME]", "[COMMAND...]"],
  choices: ["list", "add", "get", "remove", "allow", "deny", "test", "login", "logout", "serve"],
  details: [
    "  list                    your servers and this project's, and which are used (the default)",
    "  add NAME -- COMMAND...  a program to start, with its arguments, for your settings",
    "  add NAME URL            an address to ask instead",
    "  get NAME                how one is configured; keys are not shown",
    "  remove NAME             takes one out of your settings",
    "  allow NAME              shows all a server of this project would be started with, and asks you",
    "  deny NAME               takes that back",
    "  test [NAME]             starts them, and says what they offer or why they do not come up",
    "  login NAME              signs in at a server that wants to know who you are",
    "  logout NAME             forgets that sign-in",
    "  serve                   offers render, convert and lint as tools to other agents, over stdio",
  ],
  options: [
    { name: "env", short: "e", value: "NAME=VALUE", about: "add: a variable for the program; $NAME takes yours" },
    { name: "header", short: "H", value: "NAME:VALUE", about: "add: a header of every request" },
    { name: "transport", short: "t", value: "KIND", values: ["http", "sse"], about: "add: what the address speaks" },
    { name: "timeout", value: "MS", about: "add: the longest a request may take, in milliseconds" },
    { name: "trust", about: "add: run its tools without asking" },
    { name: "include-tools", value: "NAMES", about: "add: the only tools to offer, with commas between" },
    { name: "exclude-tools", value: "NAMES", about: "add: tools not to offer, with commas between" },
    { name: "yes", short: "y", about: "allow: agree without being asked; login: also to where tokens come from" },
    { name: "json", about: "list, get, test: print one JSON object" },
  ],
  example: "parley mcp add files -- npx -y @modelcontextprotocol/server-filesystem .",
  exitCodes: ["0  done", "1  no such server, it does not come up, or nobody agreed to it", "2  misuse"],
  load: async () => (await import("./run.ts")).mcp,
};
