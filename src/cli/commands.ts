import type { Arguments } from "./parse-arguments.ts";
import { chatCommand } from "./chat/command.ts";
import { mcpCommand } from "./mcp/command.ts";
import { sessionCommands } from "./sessions/commands.ts";

/** A command as its help, its arguments and the shells' completion need it. */
export type CommandSpec = {
  readonly name: string;
  readonly about: string;
  /** What follows the name, in usage. */
  readonly usage: string;
  /** The names of the words it takes; a name in brackets may be left out, and one with dots may stand for several. */
  readonly positionals: readonly string[];
  /** What the first word may be, where it is no file. It is the command that enforces it. */
  readonly choices?: Choices;
  /** What the second word may be, after some first words. */
  readonly secondChoices?: { readonly [first: string]: Choices };
  readonly details: readonly string[];
  readonly options: readonly CommandOption[];
  readonly example: string;
  readonly exitCodes: readonly string[];
  /** Absent for what main.ts does itself. */
  readonly load?: () => Promise<CommandHandler>;
};

/** Does what a command is for, and answers the exit code. */
export type CommandHandler = (given: Arguments) => number | Promise<number>;

/** An option of a command. Without a `value` it is a switch. */
export type CommandOption = {
  readonly name: string;
  /** One letter that stands for it. */
  readonly short?: string;
  readonly about: string;
  readonly value?: string;
  /** What the value may be. Only a fixed list is enforced when arguments are read. */
  readonly values?: Choices;
};

/** Words to choose from: a fixed list, something that other folders know, or what is on the disk when it is asked for. */
export type Choices =
  | readonly string[]
  | "targets"
  | "sources"
  | "wires"
  | "formats"
  | "providers"
  | "simulators"
  | "settings"
  | "sessions"
  | "conversations"
  | "files";

const targetOption: CommandOption = {
  name: "for",
  value: "PROVIDER/MODEL",
  values: "targets",
  about: "the model that will receive it; a provider alone is its default model",
};

const signInOption: CommandOption = {
  name: "provider",
  value: "PROVIDER",
  values: ["code-assist"],
  about: "code-assist (default), the one provider with a sign-in of its own",
};

const requestOptions: readonly CommandOption[] = [
  { name: "explain", about: "print the report on every decision to stderr, as JSON" },
  {
    name: "thinking",
    value: "POLICY",
    values: ["own", "text", "none"],
    about: "own (default): what it can read; text: the rest as words; none",
  },
  {
    name: "unsupported-media",
    value: "POLICY",
    values: ["stub", "error"],
    about: "stub (default) names media the model cannot take, error refuses it",
  },
  {
    name: "tool-response",
    value: "LAYOUT",
    values: ["output", "status"],
    about: "Gemini results as {output} (default) or {status, text_result, structured_result}",
  },
  { name: "max-tokens", value: "N", about: "the longest reply to ask for" },
  { name: "compact", about: "print the body on one line" },
  { name: "json", about: 'print {"body", "report"} as one JSON object on stdout' },
];

const requestExitCodes = ["0  a body was printed", "1  the target cannot take it", "2  misuse, or nothing readable"];

/** What this version can do. */
export const commands: readonly CommandSpec[] = [
  chatCommand,
  ...sessionCommands,
  {
    name: "render",
    about: "a saved conversation or a session as the request body for a model",
    usage: "FILE|SESSION [--turn N] --for PROVIDER/MODEL [options]",
    positionals: ["FILE"],
    choices: "conversations",
    details: [
      "Prints the body that can be sent to that model, whatever models the conversation was held with",
      "and in whatever state it was left. FILE is a saved conversation; - reads stdin. Where there is no",
      "such file, it is the id of a session; then --for may be left out for the session's own model.",
    ],
    options: [
      {
        name: "turn",
        value: "N",
        about: "a session as its Nth request had it; --explain says if it is just what was sent",
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
    about: "a request body of one API, however broken, as a valid one for another",
    usage: "FILE [--from WIRE] --for PROVIDER/MODEL [options]",
    positionals: ["FILE"],
    details: [
      "FILE is a request body, or the bare list of its messages; - reads stdin. Convert to the same API",
      "to repair a body.",
    ],
    options: [
      {
        name: "from",
        value: "WIRE",
        values: "sources",
        about: "the API it was written for, or PROVIDER/MODEL; needless when obvious",
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
    about: "what an API would refuse in a request body",
    usage: "FILE [--wire WIRE] [--for PROVIDER/MODEL] [--json]",
    positionals: ["FILE"],
    details: [
      "Prints one finding per line: where it is, the rule, the complaint, and what the API does about it.",
      "FILE is a request body; - reads stdin.",
    ],
    options: [
      { name: "wire", value: "WIRE", values: "wires", about: "the API it is written for; needless when obvious" },
      { ...targetOption, about: "the model that would receive it, where providers and models differ" },
      { name: "json", about: 'print {"findings"} as one JSON object' },
    ],
    example: "parley lint request.json --wire anthropic",
    exitCodes: ["0  clean; advice alone is clean", "1  findings of level error", "2  misuse, or nothing readable"],
    load: async () => (await import("./requests/lint.ts")).lint,
  },
  {
    name: "simulate",
    about: "a strict local API that refuses what the real one refuses",
    usage: "FAMILY [--port N] [--script FILE] [--log FILE]",
    positionals: ["FAMILY"],
    choices: "simulators",
    details: [
      "FAMILY is gemini, anthropic, bedrock, openai-chat or openai-responses; or a provider, for its own",
      "way of speaking one of them; or all, each under its own path. Prints the base URL, says on stderr",
      "what to set so that Parley asks there, and answers until Ctrl-C.",
    ],
    options: [
      { name: "port", value: "N", about: "the port to listen on; without it, a free one" },
      { name: "script", value: "FILE", about: "what the model says, as JSON; without it, it says what it received" },
      { name: "log", value: "FILE", about: "append every request and its verdict, one JSON object per line" },
    ],
    example: "parley simulate anthropic --port 8080 --log requests.jsonl",
    exitCodes: ["0  stopped by Ctrl-C", "1  cannot listen", "2  misuse, or a script nobody can read"],
    load: async () => (await import("./requests/simulate.ts")).simulate,
  },
  {
    name: "models",
    about: "the models of every provider, or those one provider lists now",
    usage: "[--provider PROVIDER] [--json]",
    positionals: [],
    details: [
      "Prints what is known of models: context, what they take, what they cost. Providers you have",
      "credentials for come first. With a provider, it is asked for its own list, and models that are",
      "not known here are marked; when it cannot be asked, stderr says why.",
    ],
    options: [
      { name: "provider", value: "PROVIDER", values: "providers", about: "ask this one" },
      { name: "json", about: 'print {"asOf", "providers"} as one JSON object' },
    ],
    example: "parley models --provider anthropic",
    exitCodes: ["0  printed", "2  misuse"],
    load: async () => (await import("./providers/models.ts")).models,
  },
  {
    name: "doctor",
    about: "which providers can be used from here, and what is missing",
    usage: "[--provider PROVIDER] [--offline] [--json]",
    positionals: [],
    details: [
      "For every provider: where its credentials come from or what to set, its address and what chose it,",
      "and whether it answers, which is asked of those with credentials only and costs nothing. Keys and",
      "passwords are never printed.",
    ],
    options: [
      { name: "provider", value: "PROVIDER", values: "providers", about: "look at this one alone" },
      { name: "offline", about: "ask nobody" },
      { name: "json", about: "print the findings as one JSON object" },
    ],
    example: "parley doctor --provider openai",
    exitCodes: ["0  at least one provider can be used, or the named one", "1  none can", "2  misuse"],
    load: async () => (await import("./providers/doctor.ts")).doctor,
  },
  {
    name: "login",
    about: "sign in to Gemini Code Assist with a Google account",
    usage: "[--provider code-assist]",
    positionals: [],
    details: [
      "Prints the address to open in a browser on this machine, and waits for it. Other providers take keys",
      "from variables; parley doctor names them.",
    ],
    options: [signInOption],
    example: "parley login",
    exitCodes: ["0  signed in", "1  not signed in", "2  misuse"],
    load: async () => (await import("./providers/login.ts")).login,
  },
  {
    name: "logout",
    about: "forget that sign-in, and make its tokens worthless",
    usage: "[--provider code-assist]",
    positionals: [],
    details: ["The tokens are forgotten even when Google cannot be reached."],
    options: [signInOption],
    example: "parley logout",
    exitCodes: ["0  nobody is signed in any more", "1  the tokens could not be removed", "2  misuse"],
    load: async () => (await import("./providers/login.ts")).logout,
  },
  {
    name: "tools",
    about: "what a model may do: the built-in tools, with their parameters",
    usage: "[TOOL] [--json]",
    positionals: ["[TOOL]"],
    details: [
      "Prints each tool with what it touches (read, write, execute, network), what it is for and its",
      "parameters. With the name of a tool, that one alone.",
    ],
    options: [{ name: "json", about: 'print {"tools"} as one JSON object, with JSON Schemas' }],
    example: "parley tools read_file",
    exitCodes: ["0  printed", "2  misuse, or no such tool"],
    load: async () => (await import("./tools.ts")).tools,
  },
  {
    name: "config",
    about: "the settings: what they are, where they come from, and how to change them",
    usage: "[list | get PATH | set PATH VALUE | unset PATH | edit | path | schema] [--json]",
    positionals: ["[ACTION]", "[PATH]", "[VALUE]"],
    choices: ["list", "get", "set", "unset", "edit", "path", "schema"],
    secondChoices: { get: "settings", set: "settings", unset: "settings" },
    details: [
      "Lists every setting, its value and what it comes from. get prints one, set and unset change it",
      "in your own file and leave the rest of it as you wrote it, edit opens the file in your editor,",
      "path prints where it is, and schema prints a JSON Schema for editors. VALUE is a word, a list",
      "with commas, or JSON. Headers and variables of servers are not shown.",
    ],
    options: [{ name: "json", about: "print what was asked for as one JSON object" }],
    example: "parley config set model anthropic/claude-sonnet-5",
    exitCodes: [
      "0  done",
      "1  it is not set, or the file could not be used",
      "2  misuse, or a value that does not fit",
    ],
    load: async () => (await import("./config/run.ts")).config,
  },
  mcpCommand,
  {
    name: "tour",
    about: "one difficult conversation, held here and sent to every provider's simulator",
    usage: "[--conversation | --json]",
    positionals: [],
    details: [
      "Holds a conversation in a temporary project with real tools: thinking, a call, five at once of which",
      "four are cancelled, an image. Then asks every provider's strict simulator the next question and",
      "prints what became of it. Takes some seconds, and needs no network and no key.",
    ],
    options: [
      { name: "conversation", about: "print the conversation itself, as JSON, to try things with" },
      { name: "json", about: "print what was measured as one JSON object" },
    ],
    example: "parley tour --conversation > talk.json",
    exitCodes: ["0    everything was accepted", "1    something was refused or lost", "2    misuse", "130  stopped"],
    load: async () => (await import("./tour/run.ts")).tour,
  },
  {
    name: "completion",
    about: "a completion script for bash, zsh or fish",
    usage: "bash|zsh|fish",
    positionals: ["SHELL"],
    choices: ["bash", "zsh", "fish"],
    details: ["Prints a script that completes commands, options, APIs, providers, models, settings and sessions."],
    options: [],
    example: "source <(parley completion bash)",
    exitCodes: ["0  printed", "2  misuse"],
    load: async () => (await import("./completion/run.ts")).completion,
  },
];
