import type { CommandSpec } from "../command.ts";

/** The spec of `parley mcp`. */
export const mcpCommand: CommandSpec = {
  name: "mcp",
  about: "Manage MCP servers, or run Parley as one",
  usage: "[ACTION] [NAME] [options] [-- COMMAND...]",
  positionals: ["[ACTION]", "[NAME]", "[COMMAND...]"],
  choices: ["list", "add", "get", "remove", "allow", "deny", "test", "login", "logout", "serve"],
  details: [
    "  list                    List your servers and the project's, and which are used (default)",
    "  add NAME -- COMMAND...  Add a server that is started as a command",
    "  add NAME URL            Add a server at a URL",
    "  get NAME                Print the configuration of a server, without keys",
    "  remove NAME             Remove a server from your settings",
    "  allow NAME              Show the full configuration of a project's server, and ask to allow it",
    "  deny NAME               Deny a project's server, and do not ask again",
    "  test [NAME]             Start servers, and print their tools or why they fail",
    "  login NAME              Sign in to a server that requires it (OAuth)",
    "  logout NAME             Delete the tokens of a sign-in",
    "  serve                   Run as an MCP server with render, convert and lint as tools (stdio)",
  ],
  options: [
    {
      name: "env",
      short: "e",
      value: "NAME=VALUE",
      about: "add: environment variable for the command; $NAME is expanded",
    },
    { name: "header", short: "H", value: "NAME:VALUE", about: "add: HTTP header for every request" },
    { name: "transport", short: "t", value: "KIND", values: ["http", "sse"], about: "add: transport of the URL" },
    { name: "timeout", value: "MS", about: "add: request timeout in milliseconds" },
    { name: "trust", about: "add: run its tools without approval" },
    { name: "include-tools", value: "NAMES", about: "add: offer only these tools (comma-separated)" },
    { name: "exclude-tools", value: "NAMES", about: "add: do not offer these tools (comma-separated)" },
    { name: "yes", short: "y", about: "allow: do not ask; login: also accept a different token issuer" },
    { name: "json", about: "list, get, test: print one JSON object" },
  ],
  example: "parley mcp add files -- npx -y @modelcontextprotocol/server-filesystem .",
  exitCodes: ["0  done", "1  unknown server, it failed to start, or it is not allowed", "2  wrong usage"],
  load: async () => (await import("./run.ts")).mcp,
};
