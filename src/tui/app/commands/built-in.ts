import type { CommandArgument, SlashCommandContext, SlashCommand } from "./slash-command.ts";

/** Wraps a command so that its file is loaded on first use. */
const lazy =
  (load: () => Promise<(words: string, at: SlashCommandContext) => void | Promise<void>>): SlashCommand["run"] =>
  async (words, at) =>
    (await load())(words, at);

/** The catalogue cannot list every model, so other names are accepted. */
const modelArgument: CommandArgument = {
  options: async (at) => (await import("./built-in/model.ts")).modelOptions(at),
  acceptsOther: (word) => word.includes("/"),
};

/** An argument with a fixed set of words. */
const oneOf = (...words: readonly string[]): CommandArgument => ({
  options: () => words.map((word) => ({ id: word, label: word })),
});

/** The built-in commands, in the order of the help. */
export const builtInCommands: readonly SlashCommand[] = [
  {
    name: "help",
    description: "what can be typed",
    run: lazy(async () => (await import("./built-in/help.ts")).showHelp),
  },
  {
    name: "model",
    usage: "[PROVIDER/MODEL]",
    description: "go on with another model, after a look at what that means",
    arguments: [modelArgument],
    run: lazy(async () => (await import("./built-in/model.ts")).switchModel),
  },
  {
    name: "pool",
    usage: "[NAME]",
    description: "models that stand in for each other",
    arguments: [{ options: async (at) => (await import("./built-in/pool.ts")).poolOptions(at) }],
    run: lazy(async () => (await import("./built-in/pool.ts")).switchPool),
  },
  {
    name: "approval",
    usage: "[MODE]",
    description: "what runs without being asked about (Shift-Tab)",
    arguments: [{ options: async () => (await import("./built-in/approval.ts")).modeOptions }],
    run: lazy(async () => (await import("./built-in/approval.ts")).changeApprovalMode),
  },
  {
    name: "context",
    description: "what fills the model's context, by part",
    run: lazy(async () => (await import("./built-in/context.ts")).showContext),
  },
  {
    name: "compress",
    description: "make room in the context now",
    run: lazy(async () => (await import("./built-in/compress.ts")).compactContext),
  },
  {
    name: "explain",
    usage: "[PROVIDER/MODEL]",
    description: "the last request: ids, repairs, where files went; or as another model would get it",
    arguments: [modelArgument],
    run: lazy(async () => (await import("./built-in/explain.ts")).explainRequest),
  },
  {
    name: "resume",
    description: "go on with another session of this folder",
    arguments: [{ options: async (at) => (await import("./built-in/resume.ts")).sessionOptions(at) }],
    run: lazy(async () => (await import("./built-in/resume.ts")).resumeOther),
  },
  {
    name: "rewind",
    description: "back to before one of your messages: the conversation, and the files",
    run: lazy(async () => (await import("./built-in/rewind.ts")).rewindConversation),
  },
  {
    name: "undo",
    description: "put back the file of the last edit",
    run: lazy(async () => (await import("./built-in/undo.ts")).undoLastEdit),
  },
  {
    name: "clear",
    description: "begin a new session",
    run: async (_, { reopen }) => reopen("new"),
  },
  {
    name: "export",
    usage: "[FORMAT] [FILE]",
    description: "the session as json, markdown or the body of an API",
    arguments: [{ options: async () => (await import("./built-in/export.ts")).formatOptions }],
    run: lazy(async () => (await import("./built-in/export.ts")).exportSession),
  },
  {
    name: "copy",
    description: "the last answer, to the clipboard",
    run: lazy(async () => (await import("./built-in/copy.ts")).copyLastAnswer),
  },
  {
    name: "stats",
    description: "what this session used",
    run: lazy(async () => (await import("./built-in/stats.ts")).showStats),
  },
  {
    name: "tools",
    description: "what the model may use",
    run: lazy(async () => (await import("./built-in/tools.ts")).listTools),
  },
  {
    name: "mcp",
    usage: "[restart NAME]",
    description: "MCP servers: how they are, and those this project wants",
    arguments: [oneOf("restart"), { options: async (at) => (await import("./built-in/mcp.ts")).serverOptions(at) }],
    run: lazy(async () => (await import("./built-in/mcp.ts")).manageServers),
  },
  {
    name: "agents",
    description: "agents that can be given work",
    run: lazy(async () => (await import("./built-in/agents.ts")).listAgents),
  },
  {
    name: "memory",
    usage: "[add TEXT | edit]",
    description: "what is remembered between sessions",
    arguments: [oneOf("add", "edit")],
    run: lazy(async () => (await import("./built-in/memory.ts")).manageMemory),
  },
  {
    name: "theme",
    usage: "[auto | light | dark]",
    description: "the colours",
    arguments: [{ options: async () => (await import("./built-in/theme.ts")).themeOptions }],
    run: lazy(async () => (await import("./built-in/theme.ts")).changeTheme),
  },
  {
    name: "trust",
    description: "let this folder's files tell Parley what to do",
    run: lazy(async () => (await import("./built-in/trust.ts")).trustCurrentFolder),
  },
  {
    name: "doctor",
    description: "what can be used from here, and what is missing",
    run: lazy(async () => (await import("./built-in/doctor.ts")).showDoctor),
  },
  { name: "quit", description: "leave; the session can be gone on with", run: (_, { quit }) => quit() },
];
