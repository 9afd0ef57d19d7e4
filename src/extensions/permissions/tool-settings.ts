import { isObject } from "../../conversation/json.ts";
import type { ApprovalMode } from "../../policy/gate/approval-mode.ts";
import type { PermissionRule } from "../../policy/gate/permission-rules.ts";
import { findToolName } from "../../policy/gate/tool-names.ts";
import { parseSpecifier } from "../../policy/gate/tool-specifier.ts";
import type { RuleList } from "../../policy/trust/stored-rules.ts";
import { translateClaudePermissions } from "./claude.ts";
import { toolsNamed } from "./gemini.ts";
import { scopeOfCommand, scopeOfTool } from "./restrictions.ts";
import {
  mergeTranslated,
  noPermissions,
  translated,
  untranslated,
  type TranslatedPermissions,
} from "./source-rules.ts";

/**
 * Translates the lists of tools in a settings file of Gemini CLI: `tools.allowed`, `tools.exclude`, `tools.core`, their
 * older names, `mcp.excluded`, and the approval mode.
 */
export const translateToolSettings = (settings: unknown): TranslatedPermissions => {
  const fields = isObject(settings) ? settings : {};
  const [tools, mcp, general] = [fields["tools"], fields["mcp"], fields["general"]].map((each) =>
    isObject(each) ? each : {},
  );
  const core = listTexts(tools?.["core"] ?? fields["coreTools"]);
  return mergeTranslated([
    ...listTexts(tools?.["allowed"] ?? fields["allowedTools"]).map((text) => translateEntry("allow", text)),
    ...listTexts(tools?.["confirmationRequired"]).map((text) => translateEntry("ask", text)),
    ...listTexts(tools?.["exclude"] ?? fields["excludeTools"]).map((text) => translateEntry("deny", text)),
    ...listTexts(mcp?.["excluded"]).map((name) => translated("deny", { type: "server", name }, `mcp.excluded ${name}`)),
    core.length === 0 ? noPermissions : translateCore(core),
    translateMode(general?.["defaultApprovalMode"] ?? tools?.["approvalMode"]),
  ]);
};

/** Translates a settings file of Qwen Code: rules as in Claude Code, and the older lists of tools. */
export const translateQwenSettings = (settings: unknown): TranslatedPermissions => {
  const permissions = isObject(settings) && isObject(settings["permissions"]) ? settings["permissions"] : {};
  const renamed = Object.fromEntries(
    Object.entries(permissions).map(([key, value]) => [
      key,
      Array.isArray(value) ? listTexts(value).map(toClaudeForm) : value,
    ]),
  );
  return mergeTranslated([
    // A pattern that begins with one slash is relative to the project there, in every file.
    translateClaudePermissions({ permissions: renamed }, "project"),
    translateToolSettings(settings),
  ]);
};

/** `WebFetch(example.com)` and names of tools as in Claude Code's rules. */
const toClaudeForm = (text: string): string => {
  const [, name = "", rest = ""] = /^([\w-]+)([\s\S]*)$/.exec(text.trim()) ?? [];
  const own = Object.hasOwn(namesInQwen, name) ? (namesInQwen[name] ?? name) : name;
  return own === "WebFetch" ? own + rest.replace(/^\((?!domain:)/, "(domain:") : own + rest;
};

const namesInQwen: { readonly [name: string]: string } = {
  run_shell_command: "Bash",
  Shell: "Bash",
  ShellTool: "Bash",
  read_file: "Read",
  ReadFile: "Read",
  write_file: "Write",
  WriteFile: "Write",
  edit: "Edit",
  web_fetch: "WebFetch",
};

/** `tool` or `run_shell_command(words)`, which means every command that begins with these words. */
const translateEntry = (list: RuleList, text: string): TranslatedPermissions => {
  const from = `${list} ${text}`;
  const [, tool = "", args] = /^([\w-]+)(?:\(([\s\S]*)\))?$/.exec(text.trim()) ?? [];
  const name = findToolName(tool) ?? tool;
  const scope = name === "run_shell_command" && args !== undefined ? scopeOfCommand(args) : scopeOfTool(name);
  const leaveOut = (reason: string): TranslatedPermissions =>
    untranslated(from, reason, ...(list === "allow" ? [] : [name === "" ? { tool: "*" } : scope]));
  if (name === "") return leaveOut("rules cannot name tools by a pattern");
  if (args === undefined)
    return mergeTranslated(toolsNamed(name, list).map((each) => translated(list, { type: "tool", name: each }, from)));
  if (name !== "run_shell_command") return leaveOut("it has arguments, which count for run_shell_command only");
  const parsed = parseSpecifier(`Bash(${args.trim()}:*)`);
  if (parsed === undefined || "problem" in parsed) return leaveOut(parsed?.problem ?? "it names no command");
  return args.includes("*") ? leaveOut("* is literal there") : translated(list, parsed.rule, from);
};

/** The only tools there are: all others are denied. */
const translateCore = (core: readonly string[]): TranslatedPermissions => {
  const names = new Set(
    core.map((text) => text.replace(/\(.*$/s, "").trim()).map((name) => findToolName(name) ?? name),
  );
  const limited = core.filter((text) => text.includes("("));
  const missing = coreTools.filter((tool) => !names.has(tool));
  return mergeTranslated([
    ...missing.flatMap((tool) =>
      toolsNamed(tool, "deny").map((name) =>
        translated("deny", { type: "tool", name } satisfies PermissionRule, "tools.core"),
      ),
    ),
    ...limited.map((text) =>
      untranslated(`tools.core ${text}`, "nothing else runs there; see permissions.only", {
        tool: scopeOfTool(text.replace(/\(.*$/s, "")).tool,
      }),
    ),
  ]);
};

/** Our tools that Gemini CLI and Qwen Code have as well. */
const coreTools: readonly string[] = [
  "run_shell_command",
  "write_file",
  "replace",
  "read_file",
  "read_many_files",
  "glob",
  "search_file_content",
  "list_directory",
  "web_fetch",
  "google_web_search",
  "save_memory",
];

const modes: { readonly [mode: string]: ApprovalMode } = {
  default: "default",
  plan: "plan",
  auto_edit: "auto_edit",
  "auto-edit": "auto_edit",
  autoEdit: "auto_edit",
  yolo: "yolo",
};

const translateMode = (value: unknown): TranslatedPermissions => {
  if (value === undefined) return noPermissions;
  const mode = typeof value === "string" && Object.hasOwn(modes, value) ? modes[value] : undefined;
  return mode === undefined
    ? untranslated(`approval mode ${JSON.stringify(value)}`, "there is no such approval mode here")
    : { ...noPermissions, mode };
};

const listTexts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
