import { isObject } from "../../conversation/json.ts";
import type { ApprovalMode } from "../../policy/gate/approval-mode.ts";
import { scopeOfCommand, scopeOfTool, type CallScope } from "./restrictions.ts";
import type { PermissionRule } from "../../policy/gate/permission-rules.ts";
import { parseSpecifier } from "../../policy/gate/tool-specifier.ts";
import type { RuleList } from "../../policy/trust/stored-rules.ts";
import {
  findAllowProblem,
  mergeTranslated,
  noPermissions,
  translated,
  untranslated,
  type TranslatedPermissions,
} from "./source-rules.ts";

/**
 * Translates the `permissions` of a Claude Code settings file. `scope` is where the file is: a pattern that begins with
 * one slash is relative to the project of a project's file, and has no meaning here in the user's own.
 */
export const translateClaudePermissions = (settings: unknown, scope: "user" | "project"): TranslatedPermissions => {
  const permissions = isObject(settings) ? settings["permissions"] : undefined;
  if (!isObject(permissions)) return noPermissions;
  return mergeTranslated([
    ...(["allow", "ask", "deny"] as const).flatMap((list) =>
      listTexts(permissions[list]).map((text) => translateRule(list, text, scope)),
    ),
    translateMode(permissions["defaultMode"]),
    translateFolders(permissions["additionalDirectories"]),
    ...Object.keys(permissions)
      .filter((key) => !knownKeys.has(key))
      .map((key) => untranslated(`permissions.${key}`, "it has no counterpart here")),
  ]);
};

const knownKeys = new Set(["allow", "ask", "deny", "defaultMode", "additionalDirectories"]);

const translateRule = (list: RuleList, text: string, scope: "user" | "project"): TranslatedPermissions => {
  const parsed = parseSpecifier(scope === "project" ? anchorAtProject(text.trim()) : text.trim());
  const leaveOut = (reason: string): TranslatedPermissions =>
    untranslated(`${list} ${text}`, reason, ...(list === "allow" ? [] : [scopeOfText(text.trim())]));
  if (parsed === undefined)
    return leaveOut(
      /^(?:Agent|Task|Skill|SlashCommand)\b/.test(text)
        ? "rules cannot name single subagents, skills or commands"
        : "it names a tool that Parley does not have",
    );
  if ("problem" in parsed) return leaveOut(parsed.problem);
  if (list !== "allow") return translated(list, parsed.rule, text);
  const edits = narrowEdits(text.trim());
  if (typeof edits === "string") return leaveOut(edits);
  const rules = edits?.map((name): PermissionRule => ({ type: "tool", name })) ?? [parsed.rule];
  const problem = rules.map(findAllowProblem).find((each) => each !== undefined);
  return problem === undefined ? mergeTranslated(rules.map((rule) => translated(list, rule, text))) : leaveOut(problem);
};

/**
 * The tools that an allow rule about editing allows, or why it allows none; undefined for other rules. In Claude Code a
 * tool name alone allows that tool only, and paths count for `Edit` only.
 */
const narrowEdits = (text: string): readonly string[] | string | undefined => {
  const [, name = "", specifier] = /^(Edit|Write|MultiEdit|NotebookEdit)(\(.*\))?$/s.exec(text) ?? [];
  const isWhole = specifier === undefined || /^\(\s*\*{1,2}\s*\)$/.test(specifier);
  if (name === "MultiEdit" || name === "NotebookEdit") return "it names a tool that Parley does not have";
  if (name === "Write")
    return isWhole ? ["write_file"] : "Claude Code has paths for Edit only, so it allows nothing there";
  return name === "Edit" && isWhole ? ["replace", "smart_edit"] : undefined;
};

/** The calls that a rule restricts which is not understood in full. */
const scopeOfText = (text: string): CallScope => {
  const [, name = text, specifier] = /^([^(]*)(?:\(([\s\S]*?)\)?)?$/.exec(text) ?? [];
  if (name.includes("*")) return { tool: "*" };
  return name === "Bash" ? scopeOfCommand(specifier ?? "") : scopeOfTool(name);
};

/** `Edit(/docs/**)` in a project's file is relative to the project. */
const anchorAtProject = (text: string): string => text.replace(/^(\w+\()\/(?!\/)/, "$1./");

const modes: { readonly [mode: string]: ApprovalMode } = {
  default: "default",
  plan: "plan",
  acceptEdits: "auto_edit",
  bypassPermissions: "yolo",
};

const translateMode = (value: unknown): TranslatedPermissions => {
  if (value === undefined) return noPermissions;
  const mode = typeof value === "string" && Object.hasOwn(modes, value) ? modes[value] : undefined;
  if (mode !== undefined) return { ...noPermissions, mode };
  return untranslated(`defaultMode ${JSON.stringify(value)}`, "there is no such approval mode here");
};

const translateFolders = (value: unknown): TranslatedPermissions => {
  const folders = listTexts(value);
  return folders.length === 0 ? noPermissions : { ...noPermissions, folders };
};

const listTexts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
