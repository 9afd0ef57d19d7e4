import { askUser } from "./session/ask-user.ts";
import { backgroundTasks } from "./session/background-tasks.ts";
import { glob } from "./search/glob.ts";
import { googleWebSearch } from "./google-web-search/google-web-search.ts";
import { listDirectory } from "./files/list-directory.ts";
import { presentPlan } from "./session/present-plan.ts";
import { readFile } from "./files/read-file.ts";
import { readManyFiles } from "./files/read-many-files.ts";
import { replace } from "./edit/replace.ts";
import { runShellCommand } from "./run-shell-command.ts";
import { saveMemory } from "./save-memory.ts";
import { searchFileContent } from "./search/search-file-content.ts";
import { smartEdit } from "./edit/smart-edit.ts";
import type { AnyTool } from "./tool.ts";
import { webFetch } from "./web-fetch/web-fetch.ts";
import { writeFile } from "./files/write-file.ts";
import { writeTodos } from "./session/write-todos.ts";

/** The built-in tools, in the order models see them. Adding a tool: its file, and its line here. */
export const builtinTools: readonly AnyTool[] = [
  listDirectory,
  readFile,
  searchFileContent,
  glob,
  readManyFiles,
  replace,
  smartEdit,
  writeFile,
  webFetch,
  runShellCommand,
  saveMemory,
  googleWebSearch,
  backgroundTasks,
  writeTodos,
  askUser,
  presentPlan,
];
