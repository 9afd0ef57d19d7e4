import { isObject } from "../../conversation/json.ts";
import type { ApprovalMode } from "../../policy/gate/approval-mode.ts";
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
  if (parsed === undefined)
    return untranslated(
      `${list} ${text}`,
      /^(?:Agent|Task|Skill|SlashCommand)\b/.test(text)
        ? "rules cannot name single subagents, skills or commands"
        : "it names a tool that Parley does not have",
    );
  if ("problem" in parsed) return untranslated(`${list} ${text}`, parsed.problem);
  const problem = list === "allow" ? findAllowProblem(parsed.rule) : undefined;
  return problem === undefined ? translated(list, parsed.rule, text) : untranslated(`${list} ${text}`, problem);
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
