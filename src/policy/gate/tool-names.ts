/** The names of our tools by those that other agents use for the same work. */
const toolNames: { readonly [theirs: string]: string } = {
  // Claude Code
  Bash: "run_shell_command",
  Edit: "replace",
  Glob: "glob",
  Grep: "search_file_content",
  LS: "list_directory",
  MultiEdit: "replace",
  Read: "read_file",
  Task: "task",
  Agent: "task",
  TodoWrite: "write_todos",
  WebFetch: "web_fetch",
  WebSearch: "google_web_search",
  Write: "write_file",
  // Gemini CLI and Qwen Code, where they differ from ours
  ShellTool: "run_shell_command",
  ReadFileTool: "read_file",
  ReadManyFilesTool: "read_many_files",
  WriteFileTool: "write_file",
  EditTool: "replace",
  GlobTool: "glob",
  GrepTool: "search_file_content",
  RipGrepTool: "search_file_content",
  grep_search: "search_file_content",
  LSTool: "list_directory",
  MemoryTool: "save_memory",
  WebFetchTool: "web_fetch",
  WebSearchTool: "google_web_search",
  edit: "replace",
  // opencode
  bash: "run_shell_command",
  read: "read_file",
  write: "write_file",
  grep: "search_file_content",
  list: "list_directory",
  webfetch: "web_fetch",
  websearch: "google_web_search",
  todowrite: "write_todos",
};

/** Our name of a tool by the name another agent has for it; undefined for other names. */
export const findToolName = (theirs: string): string | undefined =>
  Object.hasOwn(toolNames, theirs) ? toolNames[theirs] : undefined;
