import { glob } from "./glob.ts";
import { googleWebSearch } from "./google-web-search.ts";
import { listDirectory } from "./list-directory.ts";
import { readFile } from "./read-file.ts";
import { readManyFiles } from "./read-many-files.ts";
import { replace } from "./replace.ts";
import { runShellCommand } from "./run-shell-command.ts";
import { saveMemory } from "./save-memory.ts";
import { searchFileContent } from "./search-file-content.ts";
import { smartEdit } from "./smart-edit.ts";
import type { AnyTool } from "./tool.ts";
import { webFetch } from "./web-fetch.ts";
import { writeFile } from "./write-file.ts";

/** Every tool that comes with Parley, in the order models see them. */
export const builtins: readonly AnyTool[] = [
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
];
