import type { Argument, Desk, SlashCommand } from "./command.ts";

/** A command whose file is loaded when it is given. */
const late =
  (load: () => Promise<(words: string, at: Desk) => void | Promise<void>>): SlashCommand["run"] =>
  async (words, at) =>
    (await load())(words, at);

/** Models are named in full, and there are more of them than anybody knows. */
const models: Argument = {
  options: async (at) => (await import("./commands/model.ts")).modelOptions(at),
  mayBe: (word) => word.includes("/"),
};

/** Words that are all there is. */
const oneOf = (...words: readonly string[]): Argument => ({
  options: () => words.map((word) => ({ id: word, label: word })),
});

/** Every command, in the order of the help. */
export const commands: readonly SlashCommand[] = [
  {
    name: "help",
    about: "what can be typed",
    run: late(async () => (await import("./commands/help.ts")).help),
  },
  {
    name: "model",
    usage: "[PROVIDER/MODEL]",
    about: "go on with another model, after a look at what that means",
    arguments: [models],
    run: late(async () => (await import("./commands/model.ts")).model),
  },
  {
    name: "pool",
    usage: "[NAME]",
    about: "models that stand in for each other",
    arguments: [{ options: async (at) => (await import("./commands/pool.ts")).poolOptions(at) }],
    run: late(async () => (await import("./commands/pool.ts")).pool),
  },
  {
    name: "approval",
    usage: "[MODE]",
    about: "what runs without being asked about (Shift-Tab)",
    arguments: [{ options: async () => (await import("./commands/approval.ts")).modeOptions }],
    run: late(async () => (await import("./commands/approval.ts")).approval),
  },
  {
    name: "context",
    about: "what fills the model's context, by part",
    run: late(async () => (await import("./commands/context.ts")).context),
  },
  {
    name: "compress",
    about: "make room in the context now",
    run: late(async () => (await import("./commands/compress.ts")).compress),
  },
  {
    name: "explain",
    usage: "[PROVIDER/MODEL]",
    about: "the last request: ids, repairs, where files went; or as another model would get it",
    arguments: [models],
    run: late(async () => (await import("./commands/explain.ts")).explain),
  },
  {
    name: "resume",
    about: "go on with another session of this folder",
    arguments: [{ options: async (at) => (await import("./commands/resume.ts")).sessionOptions(at) }],
    run: late(async () => (await import("./commands/resume.ts")).resume),
  },
  {
    name: "rewind",
    about: "back to before one of your messages: the conversation, and the files",
    run: late(async () => (await import("./commands/rewind.ts")).rewind),
  },
  {
    name: "undo",
    about: "put back the file of the last edit",
    run: late(async () => (await import("./commands/undo.ts")).undo),
  },
  {
    name: "clear",
    about: "begin a new session",
    run: async (_, { reopen }) => reopen("new"),
  },
  {
    name: "export",
    usage: "[FORMAT] [FILE]",
    about: "the session as json, markdown or the body of an API",
    arguments: [{ options: async () => (await import("./commands/export.ts")).formatOptions }],
    run: late(async () => (await import("./commands/export.ts")).exportSession),
  },
  {
    name: "copy",
    about: "the last answer, to the clipboard",
    run: late(async () => (await import("./commands/copy.ts")).copy),
  },
  {
    name: "stats",
    about: "what this session used",
    run: late(async () => (await import("./commands/stats.ts")).stats),
  },
  {
    name: "tools",
    about: "what the model may use",
    run: late(async () => (await import("./commands/tools.ts")).tools),
  },
  {
    name: "mcp",
    usage: "[restart NAME]",
    about: "MCP servers: how they are, and those this project wants",
    arguments: [oneOf("restart"), { options: async (at) => (await import("./commands/mcp.ts")).serverOptions(at) }],
    run: late(async () => (await import("./commands/mcp.ts")).mcp),
  },
  {
    name: "agents",
    about: "agents that can be given work",
    run: late(async () => (await import("./commands/agents.ts")).agents),
  },
  {
    name: "memory",
    usage: "[add TEXT | edit]",
    about: "what is remembered between sessions",
    arguments: [oneOf("add", "edit")],
    run: late(async () => (await import("./commands/memory.ts")).memory),
  },
  {
    name: "theme",
    usage: "[auto | light | dark]",
    about: "the colours",
    arguments: [{ options: async () => (await import("./commands/theme.ts")).themeOptions }],
    run: late(async () => (await import("./commands/theme.ts")).theme),
  },
  {
    name: "trust",
    about: "let this folder's files tell Parley what to do",
    run: late(async () => (await import("./commands/trust.ts")).trust),
  },
  {
    name: "doctor",
    about: "what can be used from here, and what is missing",
    run: late(async () => (await import("./commands/doctor.ts")).doctor),
  },
  { name: "quit", about: "leave; the session can be gone on with", run: (_, { leave }) => leave() },
];
