import type { Restriction } from "./restrictions.ts";
import type { ApprovalMode } from "../../policy/gate/approval-mode.ts";
import type { PermissionRule } from "../../policy/gate/permission-rules.ts";
import type { RuleList } from "../../policy/trust/stored-rules.ts";

/** The agents whose permission settings can be imported. */
export type PermissionSource = "claude" | "codex" | "gemini" | "qwen" | "opencode";

/** All of them. */
export const permissionSources: readonly PermissionSource[] = ["claude", "codex", "gemini", "qwen", "opencode"];

/** A rule of another agent as one of ours. */
type TranslatedRule = {
  readonly list: RuleList;
  readonly rule: PermissionRule;
  /** The rule as written there. */
  readonly from: string;
  /** Its place in the order of its agent: see `Restriction`. Absent: 0. */
  readonly rank?: number;
};

/** A rule or setting that is not taken over, and why. */
export type UntranslatedRule = { readonly from: string; readonly reason: string };

/** The permissions in one file of another agent, translated. */
export type TranslatedPermissions = {
  readonly rules: readonly TranslatedRule[];
  readonly untranslated: readonly UntranslatedRule[];
  /** The restrictions that are not taken over. */
  readonly restrictions?: readonly Restriction[];
  readonly mode?: ApprovalMode;
  /** More workspace folders, as written. */
  readonly folders?: readonly string[];
};

/** Permissions without any rule. */
export const noPermissions: TranslatedPermissions = { rules: [], untranslated: [] };

/** Merges the results of several rules or files. The stricter of two modes counts last in its file only. */
export const mergeTranslated = (all: readonly TranslatedPermissions[]): TranslatedPermissions => {
  const folders = all.flatMap((each) => each.folders ?? []);
  const mode = all.findLast((each) => each.mode !== undefined)?.mode;
  const restrictions = all.flatMap((each) => each.restrictions ?? []);
  return {
    rules: all.flatMap(({ rules }) => rules),
    untranslated: all.flatMap(({ untranslated }) => untranslated),
    ...(restrictions.length === 0 ? {} : { restrictions }),
    ...(mode === undefined ? {} : { mode }),
    ...(folders.length === 0 ? {} : { folders }),
  };
};

/** A result with one rule. */
export const translated = (
  list: RuleList,
  rule: PermissionRule,
  from: string,
  rank?: number,
): TranslatedPermissions => ({
  rules: [{ list, rule, from, ...(rank === undefined ? {} : { rank }) }],
  untranslated: [],
});

/** A result with one rule that is not taken over, and what it restricts. */
export const untranslated = (
  from: string,
  reason: string,
  ...restricted: readonly Omit<Restriction, "from">[]
): TranslatedPermissions => {
  const short = from.length > 200 ? `${from.slice(0, 199)}…` : from;
  const restrictions = restricted.map((each) => ({ ...each, from: short }));
  return {
    rules: [],
    untranslated: [{ from: short, reason }],
    ...(restrictions.length === 0 ? {} : { restrictions }),
  };
};

/**
 * Why an allow rule would have no effect or mean something else here; undefined if it can be taken over. A command must
 * be named by at least one whole word.
 */
export const findAllowProblem = (rule: PermissionRule): string | undefined => {
  if (rule.type === "files" && rule.access === "read")
    return /^(?:~\/|\/\/)/.test(rule.pattern)
      ? "reading outside the workspace is not allowed by rules; add the folder with context.includeDirectories"
      : "reading in the workspace needs no rule";
  if (rule.type === "files" && /^(?:~\/|\/\/)/.test(rule.pattern))
    return "edits outside the workspace are never allowed";
  if (rule.type === "command" && rule.isPattern && rule.words[0]?.includes("*") === true)
    return "an allow rule must name the program in full";
  return undefined;
};
