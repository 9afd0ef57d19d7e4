/** The names of one of our tools at other agents. */
type ForeignToolNames = {
  /** Its names in Claude Code, the usual one first. */
  readonly claude?: readonly string[];
  /** Our field name to the one in Claude Code, where they differ. */
  readonly claudeFields?: { readonly [field: string]: string };
  /** Its name in newer versions of Gemini CLI, where it differs from ours. */
  readonly gemini?: string;
  /** Further names in permission rules and agent files: of Gemini CLI, Qwen Code and opencode, and older ones. */
  readonly others?: readonly string[];
};

/** Our tools by their names at other agents. Tools without an equivalent are not listed. */
const toolTable: { readonly [tool: string]: ForeignToolNames } = {
  run_shell_command: {
    claude: ["Bash"],
    claudeFields: { background: "run_in_background" },
    others: ["ShellTool", "bash"],
  },
  read_file: { claude: ["Read"], claudeFields: { absolute_path: "file_path" }, others: ["ReadFileTool", "read"] },
  read_many_files: { others: ["ReadManyFilesTool"] },
  write_file: { claude: ["Write"], others: ["WriteFileTool", "write"] },
  // MultiEdit has other fields, so hooks do not see an edit under that name.
  replace: { claude: ["Edit"], others: ["MultiEdit", "EditTool", "edit"] },
  smart_edit: { claude: ["Edit"] },
  glob: { claude: ["Glob"], others: ["GlobTool"] },
  search_file_content: {
    claude: ["Grep"],
    claudeFields: { include: "glob" },
    gemini: "grep_search",
    others: ["GrepTool", "RipGrepTool", "grep"],
  },
  list_directory: { claude: ["LS"], others: ["LSTool", "list"] },
  web_fetch: { claude: ["WebFetch"], others: ["WebFetchTool", "webfetch"] },
  google_web_search: { claude: ["WebSearch"], others: ["WebSearchTool", "websearch"] },
  write_todos: { claude: ["TodoWrite"], others: ["todowrite"] },
  save_memory: { others: ["MemoryTool"] },
  // Newer releases of Claude Code call the same tool Agent.
  task: { claude: ["Task", "Agent"], claudeFields: { agent: "subagent_type", background: "run_in_background" } },
  ask_user: { claude: ["AskUserQuestion"] },
  present_plan: { claude: ["ExitPlanMode"], gemini: "exit_plan_mode" },
  activate_skill: { claude: ["Skill"], claudeFields: { name: "skill", arguments: "args" } },
};

/** Our name of a tool by the name another agent has for it; undefined for other names. */
export const findToolName = (theirs: string): string | undefined =>
  Object.entries(toolTable).find(([, { claude = [], gemini, others = [] }]) =>
    [...claude, gemini, ...others].includes(theirs),
  )?.[0];

/** The names of our tools. */
export const ownToolNames: readonly string[] = [...Object.keys(toolTable), "background_tasks"];

/** Whether a name is of one of our tools, at us or at another agent. */
export const isToolName = (name: string): boolean => Object.hasOwn(toolTable, name) || findToolName(name) !== undefined;

/** The names under which hooks see a tool: those of Claude Code, of Gemini CLI, and ours. */
export const hookToolNames = (tool: string): readonly string[] => {
  const { claude = [], gemini } = namesOf(tool);
  return [...claude, ...(gemini === undefined ? [] : [gemini]), tool];
};

/** Whether a name is the one that Claude Code has for one of our tools. */
export const isClaudeToolName = (tool: string, name: string): boolean => namesOf(tool).claude?.includes(name) === true;

/** Our field names to those a tool has under a name; undefined if all are the same. */
export const fieldsUnderName = (tool: string, name: string): { readonly [field: string]: string } | undefined => {
  return isClaudeToolName(tool, name) ? namesOf(tool).claudeFields : undefined;
};

const namesOf = (tool: string): ForeignToolNames => (Object.hasOwn(toolTable, tool) ? (toolTable[tool] ?? {}) : {});
