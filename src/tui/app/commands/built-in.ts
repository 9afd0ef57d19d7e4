import type { CommandArgument, SlashCommandContext, SlashCommand } from "./slash-command.ts";

/** Wraps a command so that its file is loaded on first use. */
const lazy =
  (load: () => Promise<(words: string, at: SlashCommandContext) => void | Promise<void>>): SlashCommand["run"] =>
  async (words, at) =>
    (await load())(words, at);

/** Any name is accepted: the catalogue cannot list every model, and a part of a name has a meaning of its own. */
const modelArgument: CommandArgument = {
  options: async (at) => (await import("./built-in/model.ts")).modelOptions(at),
  acceptsOther: () => true,
};

/** An argument with a fixed set of words. */
const oneOf = (...words: readonly string[]): CommandArgument => ({
  options: () => words.map((word) => ({ id: word, label: word })),
});

/** The built-in commands, in the order of the help. */
export const builtInCommands: readonly SlashCommand[] = [
  {
    name: "help",
    aliases: ["commands"],
    description: "Show commands and keys",
    run: lazy(async () => (await import("./built-in/help.ts")).showHelp),
  },
  {
    name: "model",
    aliases: ["models"],
    usage: "[MODEL]",
    description: "Switch model (shows cost and compatibility first)",
    arguments: [modelArgument],
    isExclusive: true,
    run: lazy(async () => (await import("./built-in/model.ts")).switchModel),
  },
  {
    name: "effort",
    usage: "[EFFORT]",
    description: "Change the reasoning effort",
    arguments: [{ options: async () => (await import("./built-in/effort.ts")).effortOptions }],
    run: lazy(async () => (await import("./built-in/effort.ts")).changeEffort),
  },
  {
    name: "compare",
    usage: "[MODEL,MODEL...] [PROMPT]",
    description: "Ask two or three models the same (default: your last prompt), compare, and continue with one",
    arguments: [modelArgument, modelArgument],
    isExclusive: true,
    run: lazy(async () => (await import("./built-in/compare.ts")).compareAnswers),
  },
  {
    name: "pool",
    usage: "[NAME]",
    description: "Switch model pool (failover or round-robin)",
    arguments: [{ options: async (at) => (await import("./built-in/pool.ts")).poolOptions(at) }],
    run: lazy(async () => (await import("./built-in/pool.ts")).switchPool),
  },
  {
    name: "approval",
    usage: "[MODE]",
    description: "Change approval mode (Shift-Tab)",
    arguments: [{ options: async () => (await import("./built-in/approval.ts")).modeOptions }],
    run: lazy(async () => (await import("./built-in/approval.ts")).changeApprovalMode),
  },
  {
    name: "permissions",
    usage: "[allow RULE | ask RULE | deny RULE | remove RULE]",
    description: "Show, add or take back permission rules",
    arguments: [oneOf("allow", "ask", "deny", "remove")],
    run: lazy(async () => (await import("./built-in/permissions.ts")).managePermissions),
  },
  {
    name: "context",
    description: "Show context window use by part",
    run: lazy(async () => (await import("./built-in/context.ts")).showContext),
  },
  {
    name: "inspect",
    description: "Serve the inspector page: this session as every model gets it, live",
    run: lazy(async () => (await import("./built-in/inspect.ts")).inspectSession),
  },
  {
    name: "compact",
    aliases: ["compress"],
    usage: "[FOCUS]",
    description: "Compact the context now; FOCUS says what to keep in detail",
    isExclusive: true,
    run: lazy(async () => (await import("./built-in/compact.ts")).compactContext),
  },
  {
    name: "explain",
    usage: "[PROVIDER/MODEL]",
    description: "Explain the last request (ids, repairs, media), or one to another model",
    arguments: [modelArgument],
    run: lazy(async () => (await import("./built-in/explain.ts")).explainRequest),
  },
  {
    name: "resume",
    aliases: ["sessions", "continue"],
    description: "Resume another session of this folder",
    arguments: [{ options: async (at) => (await import("./built-in/resume.ts")).sessionOptions(at) }],
    isExclusive: true,
    run: lazy(async () => (await import("./built-in/resume.ts")).resumeOther),
  },
  {
    name: "rewind",
    description: "Go back to before one of your messages (conversation and files)",
    isExclusive: true,
    run: lazy(async () => (await import("./built-in/rewind.ts")).rewindConversation),
  },
  {
    name: "undo",
    description: "Undo the last file edit, or what the last command changed",
    run: lazy(async () => (await import("./built-in/undo.ts")).undoLastEdit),
  },
  {
    name: "clear",
    aliases: ["new", "reset"],
    description: "Start a new session",
    isExclusive: true,
    run: async (_, { reopen }) => reopen("new"),
  },
  {
    name: "plugins",
    aliases: ["extensions"],
    description: "Show the plugins you added",
    run: lazy(async () => (await import("./built-in/tools.ts")).showPlugins),
  },
  {
    name: "init",
    description: "Write AGENTS.md for this project",
    run: lazy(async () => (await import("./built-in/project.ts")).initProject),
  },
  {
    name: "review",
    usage: "[WHAT]",
    description: "Review the changes that are not committed",
    run: lazy(async () => (await import("./built-in/project.ts")).reviewChanges),
  },
  {
    name: "diff",
    usage: "[PATH]",
    description: "Show what changed since the last commit",
    run: lazy(async () => (await import("./built-in/project.ts")).showDiff),
  },
  {
    name: "add-dir",
    usage: "FOLDER",
    description: "Add a folder to the workspace",
    isExclusive: true,
    run: lazy(async () => (await import("./built-in/add-dir.ts")).addFolder),
  },
  {
    name: "config",
    aliases: ["settings"],
    usage: "[SETTING [VALUE]]",
    description: "Show or change settings",
    run: lazy(async () => (await import("./built-in/config.ts")).showConfig),
  },
  {
    name: "export",
    usage: "[FORMAT] [FILE]",
    description: "Export the session as JSON, Markdown or an API request body",
    arguments: [{ options: async () => (await import("./built-in/export.ts")).formatOptions }],
    run: lazy(async () => (await import("./built-in/export.ts")).exportSession),
  },
  {
    name: "copy",
    description: "Copy the last answer to the clipboard",
    run: lazy(async () => (await import("./built-in/copy.ts")).copyLastAnswer),
  },
  {
    name: "cost",
    description: "Show what was spent, by model and for the last requests",
    run: lazy(async () => (await import("./built-in/stats.ts")).showCost),
  },
  {
    name: "stats",
    aliases: ["usage"],
    description: "Show token use, cost and tool calls",
    run: lazy(async () => (await import("./built-in/stats.ts")).showStats),
  },
  {
    name: "tools",
    description: "List the tools the model can call",
    run: lazy(async () => (await import("./built-in/tools.ts")).listTools),
  },
  {
    name: "mcp",
    usage: "[restart NAME]",
    description: "Show or restart MCP servers; allow those of this project",
    arguments: [oneOf("restart"), { options: async (at) => (await import("./built-in/mcp.ts")).serverOptions(at) }],
    isExclusive: true,
    run: lazy(async () => (await import("./built-in/mcp.ts")).manageServers),
  },
  {
    name: "agents",
    description: "List subagents",
    run: lazy(async () => (await import("./built-in/tools.ts")).listAgents),
  },
  {
    name: "tasks",
    usage: "[ID | stop ID]",
    description: "Show, read or stop background commands and subagents (Ctrl-B moves one there)",
    arguments: [{ options: async (at) => (await import("./built-in/tasks.ts")).taskOptions(at) }],
    run: lazy(async () => (await import("./built-in/tasks.ts")).manageTasks),
  },
  {
    name: "memory",
    usage: "[add TEXT | edit]",
    description: "Show or edit memory kept between sessions",
    arguments: [oneOf("add", "edit")],
    run: lazy(async () => (await import("./built-in/memory.ts")).manageMemory),
  },
  {
    name: "ide",
    usage: "[off]",
    description: "Connect to your editor: context for prompts, diffs to approve edits",
    arguments: [oneOf("off")],
    run: lazy(async () => (await import("./built-in/ide.ts")).connectToIde),
  },
  {
    name: "theme",
    usage: "[auto | light | dark | NAME]",
    description: "Change the theme",
    arguments: [{ options: async (at) => (await import("./built-in/theme.ts")).themeOptions(at) }],
    run: lazy(async () => (await import("./built-in/theme.ts")).changeTheme),
  },
  {
    name: "trust",
    description: "Trust this folder (settings, context files, commands, agents)",
    isExclusive: true,
    run: lazy(async () => (await import("./built-in/trust.ts")).trustCurrentFolder),
  },
  {
    name: "login",
    usage: "[PROVIDER]",
    description: "Store a key for a provider, or sign in",
    arguments: [{ options: async () => (await import("./built-in/login.ts")).loginOptions }],
    isExclusive: true,
    run: lazy(async () => (await import("./built-in/login.ts")).logIn),
  },
  {
    name: "doctor",
    description: "Check keys, providers and programs",
    run: lazy(async () => (await import("./built-in/doctor.ts")).showDoctor),
  },
  { name: "quit", aliases: ["exit", "q"], description: "Quit (resume with `parley -c`)", run: (_, { quit }) => quit() },
];
