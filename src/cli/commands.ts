import type { CommandOption, CommandSpec } from "./command.ts";
import { acpCommand } from "./acp/command.ts";
import { chatCommand } from "./chat/command.ts";
import { compareCommand } from "./compare/command.ts";
import { gatewayCommand } from "./gateway/command.ts";
import { inspectCommand } from "./inspect/command.ts";
import { mcpCommand } from "./mcp/command.ts";
import { pluginsCommand } from "./plugins/command.ts";
import { sessionCommands } from "./sessions/commands.ts";
import { hooksCommand } from "./hooks/command.ts";
import { customCommandsCommand } from "./custom-commands/command.ts";
import { adoptCommand } from "./adopt/command.ts";
import { agentsCommand } from "./agents/command.ts";
import { skillsCommand } from "./skills/command.ts";
import { serveCommand } from "./serve/command.ts";
import { storeCommand } from "./store/command.ts";
import { workerCommand } from "./worker/command.ts";

const targetOption: CommandOption = {
  name: "for",
  value: "PROVIDER/MODEL",
  values: "targets",
  about: "Model that will receive the request; a provider alone means its default model",
};

const signInOptions: readonly CommandOption[] = [
  { name: "provider", value: "PROVIDER", values: "providers", about: "The same as PROVIDER" },
  { name: "profile", value: "NAME", about: "Name of the key, if you have several (default: default)" },
];

const requestOptions: readonly CommandOption[] = [
  { name: "explain", about: "Print the report on every decision to stderr, as JSON" },
  {
    name: "thinking",
    value: "POLICY",
    values: ["own", "text", "none"],
    about: "own (default): what the model can read; text: the rest as text; none",
  },
  {
    name: "unsupported-media",
    value: "POLICY",
    values: ["stub", "error"],
    about: "stub (default): describe media the model cannot take; error: fail",
  },
  {
    name: "tool-response",
    value: "LAYOUT",
    values: ["output", "status"],
    about: "Gemini results as {output} (default) or {status, text_result, structured_result}",
  },
  { name: "max-tokens", value: "N", about: "Limit for the length of the response" },
  { name: "compact", about: "Print the body on one line" },
  { name: "json", about: 'Print {"body", "report"} as one JSON object on stdout' },
];

const requestExitCodes = [
  "0  a body was printed",
  "1  the model cannot take it",
  "2  wrong usage, or unreadable input",
];

/** All commands. */
export const commands: readonly CommandSpec[] = [
  chatCommand,
  compareCommand,
  acpCommand,
  serveCommand,
  ...sessionCommands,
  storeCommand,
  workerCommand,
  skillsCommand,
  hooksCommand,
  pluginsCommand,
  inspectCommand,
  gatewayCommand,
  adoptCommand,
  customCommandsCommand,
  agentsCommand,
  {
    name: "render",
    about: "Render a saved conversation or a session as the request body for a model",
    usage: "FILE|SESSION [--turn N] --for PROVIDER/MODEL [options]",
    positionals: ["FILE"],
    choices: "conversations",
    details: [
      "Prints a body that can be sent to that model, whichever models wrote the conversation, even if it is",
      "incomplete. FILE is a saved conversation; - reads stdin. If there is no such file, the argument is a",
      "session id; then --for defaults to the session's own model.",
    ],
    options: [
      {
        name: "turn",
        value: "N",
        about: "Render the session as of its Nth request; --explain says if the bytes are the same",
      },
      targetOption,
      ...requestOptions,
    ],
    example: "parley render talk.json --for anthropic/claude-sonnet-5 --explain",
    exitCodes: requestExitCodes,
    load: async () => (await import("./requests/render.ts")).render,
  },
  {
    name: "convert",
    about: "Convert a request body of one API, even a broken one, to a valid one for another",
    usage: "FILE [--from API] --for PROVIDER/MODEL [options]",
    positionals: ["FILE"],
    details: [
      "FILE is a request body, or only the list of its messages; - reads stdin. Convert to the same API to",
      "repair a body.",
    ],
    options: [
      {
        name: "from",
        value: "API",
        values: "sources",
        about: "API the body was written for, or PROVIDER/MODEL; usually detected",
      },
      targetOption,
      ...requestOptions,
    ],
    example: "parley convert request.json --from openai-chat --for anthropic/claude-sonnet-5",
    exitCodes: requestExitCodes,
    load: async () => (await import("./requests/convert.ts")).convert,
  },
  {
    name: "lint",
    about: "Check a request body for what the API would reject",
    usage: "FILE [--wire API] [--for PROVIDER/MODEL] [--json]",
    positionals: ["FILE"],
    details: [
      "Prints one finding per line: location, rule, message, and how the API reacts.",
      "FILE is a request body; - reads stdin.",
    ],
    options: [
      { name: "wire", value: "API", values: "wires", about: "API the body was written for; usually detected" },
      { ...targetOption, about: "Model that would receive it, for rules that differ by provider or model" },
      { name: "json", about: 'Print {"findings"} as one JSON object' },
    ],
    example: "parley lint request.json --wire anthropic",
    exitCodes: [
      "0  no errors (advice is not an error)",
      "1  findings of level error",
      "2  wrong usage, or unreadable input",
    ],
    load: async () => (await import("./requests/lint.ts")).lint,
  },
  {
    name: "simulate",
    about: "Run a strict local simulator of an API",
    usage: "FAMILY [--port N] [--script FILE] [--log FILE]",
    positionals: ["FAMILY"],
    choices: "simulators",
    details: [
      "FAMILY is gemini, anthropic, bedrock, openai-chat or openai-responses; or a provider, for its",
      "dialect of one of them; or all, each under its own path. Rejects what the real API rejects. Prints",
      "the base URL, and on stderr the variables that point Parley at it. Stop it with Ctrl-C.",
    ],
    options: [
      { name: "port", value: "N", about: "Port to listen on (default: any free port)" },
      {
        name: "script",
        value: "FILE",
        about: "JSON script with the responses; without it, the model repeats what it received",
      },
      { name: "log", value: "FILE", about: "Append every request and its verdict, one JSON object per line" },
    ],
    example: "parley simulate anthropic --port 8080 --log requests.jsonl",
    exitCodes: ["0  stopped by Ctrl-C", "1  cannot listen", "2  wrong usage, or an invalid script"],
    load: async () => (await import("./requests/simulate.ts")).simulate,
  },
  {
    name: "models",
    about: "List the models of every provider, or query one provider",
    usage: "[--provider PROVIDER] [--json]",
    positionals: [],
    details: [
      "Prints context window, input media and price of each model. Providers you have credentials for come",
      "first. With --provider, asks the provider for its list and marks models Parley does not know; if",
      "that fails, stderr says why.",
    ],
    options: [
      { name: "provider", value: "PROVIDER", values: "providers", about: "Query this provider" },
      { name: "json", about: 'Print {"asOf", "providers"} as one JSON object' },
    ],
    example: "parley models --provider anthropic",
    exitCodes: ["0  printed", "2  wrong usage"],
    load: async () => (await import("./providers/models.ts")).models,
  },
  {
    name: "doctor",
    about: "Check which providers can be used, and what is missing",
    usage: "[--provider PROVIDER] [--offline] [--json]",
    positionals: [],
    details: [
      "For every provider: the source of its credentials or what to set, its endpoint and what chose it,",
      "and whether it responds. Only providers with credentials are contacted, with a free request. Keys",
      "and passwords are never printed.",
    ],
    options: [
      { name: "provider", value: "PROVIDER", values: "providers", about: "Check only this provider" },
      { name: "offline", about: "Do not contact providers" },
      { name: "json", about: "Print the report as one JSON object" },
    ],
    example: "parley doctor --provider openai",
    exitCodes: ["0  at least one provider (or the named one) can be used", "1  none can be used", "2  wrong usage"],
    load: async () => (await import("./providers/doctor.ts")).doctor,
  },
  {
    name: "login",
    about: "Store a key for a provider, or sign in to Gemini Code Assist",
    usage: "[PROVIDER] [--profile NAME] [--store file|system] [--yes]",
    positionals: ["[PROVIDER]"],
    choices: "providers",
    details: [
      "Asks for the key without showing it, or reads it from stdin, tests it with one free request, and",
      "stores it: in the system's store of secrets if there is one (keychain, keyring), else in a file only",
      "you can read. A variable such as ANTHROPIC_API_KEY is used before a stored key. With code-assist,",
      "prints the URL to open in a browser on this machine, and waits.",
    ],
    options: [
      ...signInOptions,
      { name: "store", value: "WHERE", values: ["file", "system"], about: "Where to store the key" },
      { name: "yes", short: "y", about: "Store the key even if it cannot be tested" },
    ],
    example: "parley login anthropic",
    exitCodes: ["0  stored, or signed in", "1  refused, or not stored", "2  wrong usage"],
    load: async () => (await import("./providers/login.ts")).login,
  },
  {
    name: "logout",
    about: "Delete a stored key, or sign out of Gemini Code Assist",
    usage: "[PROVIDER] [--profile NAME]",
    positionals: ["[PROVIDER]"],
    choices: "providers",
    details: [
      "Without PROVIDER, signs out of Gemini Code Assist: the tokens are revoked, and deleted even if",
      "Google cannot be reached.",
    ],
    options: signInOptions,
    example: "parley logout anthropic",
    exitCodes: ["0  deleted", "1  there is none, or it could not be deleted", "2  wrong usage"],
    load: async () => (await import("./providers/login.ts")).logout,
  },
  {
    name: "tools",
    about: "List the built-in tools and their parameters",
    usage: "[TOOL] [--json]",
    positionals: ["[TOOL]"],
    details: [
      "Prints each tool with its access (read, write, execute, network), its description and its",
      "parameters. With the name of a tool, prints only that one.",
    ],
    options: [{ name: "json", about: 'Print {"tools"} as one JSON object, with JSON Schemas' }],
    example: "parley tools read_file",
    exitCodes: ["0  printed", "2  wrong usage, or unknown tool"],
    load: async () => (await import("./tools.ts")).tools,
  },
  {
    name: "config",
    about: "Show and change settings",
    usage: "[list | get PATH | set PATH VALUE | unset PATH | edit | path | schema] [--json]",
    positionals: ["[ACTION]", "[PATH]", "[VALUE]"],
    choices: ["list", "get", "set", "unset", "edit", "path", "schema"],
    secondChoices: { get: "settings", set: "settings", unset: "settings" },
    details: [
      "Lists every setting with its value and source. get prints one; set and unset change your own file",
      "and keep its formatting and comments; edit opens the file in your editor; path prints its location;",
      "schema prints a JSON Schema for editors. VALUE is a word, a comma-separated list, or JSON. Headers",
      "and environment variables of MCP servers are not shown.",
    ],
    options: [{ name: "json", about: "Print the result as one JSON object" }],
    example: "parley config set model anthropic/claude-sonnet-5",
    exitCodes: ["0  done", "1  not set, or the file is invalid", "2  wrong usage, or an invalid value"],
    load: async () => (await import("./config/run.ts")).config,
  },
  {
    name: "permissions",
    about: "Show, add, remove and import permission rules",
    usage: "[list | add RULE | remove RULE | import AGENT] [--ask | --deny] [--json]",
    positionals: ["[ACTION]", "[RULE]"],
    choices: ["list", "add", "remove", "import"],
    secondChoices: { import: ["claude", "codex", "gemini", "opencode"] },
    details: [
      "Lists every rule in force here with its source. add and remove change the rules stored for this",
      'folder, in your own files and never in the project; answering an approval with "in this project"',
      "adds them too. Rules: edits, write_file, run_shell_command(npm test), server:NAME, agent:NAME,",
      "host:NAME, path:NAME, or as in Claude Code: Bash(npm test:*), Edit(src/**), Read(.env),",
      "WebFetch(domain:NAME), mcp__SERVER__TOOL. A deny rule wins over an ask rule, an ask rule over",
      "an allow rule.",
      "import takes over the rules of another agent: those that restrict at once, those that allow more",
      "only if you agree to each (or --yes). Its files are never changed.",
    ],
    options: [
      { name: "deny", about: "add, remove: a rule that denies" },
      { name: "ask", about: "add, remove: a rule that asks every time" },
      { name: "yes", about: "import: also take over rules that allow more, without asking" },
      { name: "all", about: "remove: every rule stored for this project" },
      { name: "cwd", value: "FOLDER", values: "files", about: "Project folder (default: the current one)" },
      { name: "json", about: "Print the result as one JSON object" },
    ],
    example: "parley permissions add 'run_shell_command(npm test)'",
    exitCodes: ["0  done", "1  no such rule, or it could not be stored", "2  wrong usage, or an invalid rule"],
    load: async () => (await import("./permissions/run.ts")).permissions,
  },
  mcpCommand,
  {
    name: "tour",
    about: "Run a demo: one difficult conversation, sent to every provider's simulator",
    usage: "[--conversation | --json]",
    positionals: [],
    details: [
      "Runs a conversation in a temporary project with real tools: thinking, a tool call, five parallel",
      "calls of which four are cancelled, an image. Then sends the next prompt to every provider's strict",
      "simulator and prints the results. Takes a few seconds; needs no network and no key.",
    ],
    options: [
      { name: "conversation", about: "Print the conversation as JSON, to experiment with" },
      { name: "json", about: "Print the measurements as one JSON object" },
    ],
    example: "parley tour --conversation > talk.json",
    exitCodes: [
      "0    all requests were accepted",
      "1    a request was rejected or data lost",
      "2    wrong usage",
      "130  stopped",
    ],
    load: async () => (await import("./tour/run.ts")).tour,
  },
  {
    name: "completion",
    about: "Print a completion script for bash, zsh or fish",
    usage: "bash|zsh|fish",
    positionals: ["SHELL"],
    choices: ["bash", "zsh", "fish"],
    details: ["Prints a script that completes commands, options, APIs, providers, models, settings and sessions."],
    options: [],
    example: "source <(parley completion bash)",
    exitCodes: ["0  printed", "2  wrong usage"],
    load: async () => (await import("./completion/run.ts")).completion,
  },
];
