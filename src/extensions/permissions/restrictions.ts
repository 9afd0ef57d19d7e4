import type { ApprovalMode } from "../../policy/gate/approval-mode.ts";
import type { PermissionRule } from "../../policy/gate/permission-rules.ts";
import { findToolName } from "../../policy/gate/tool-names.ts";

/**
 * Calls that another agent asks about or denies, by a rule that is not taken over. What allows such a call there only
 * because that rule is an exception to it must not be taken over either.
 */
export type Restriction = CallScope & {
  /** The rule as written there. */
  readonly from: string;
  /** Its place in the order of its agent: it limits rules of the same or a lower rank. Absent: all. */
  readonly rank?: number;
};

/** Calls of one tool by our name, or of all (`*`). `edit` and `read` are all tools that do so. */
export type CallScope = {
  readonly tool: string;
  /** For commands: they begin with this text. */
  readonly prefix?: string;
};

/** The scope of a tool under any of its names. */
export const scopeOfTool = (name: string): CallScope => {
  const tool = findToolName(name) ?? name;
  if (editTools.includes(tool) || name === "NotebookEdit") return { tool: "edit" };
  return { tool: readTools.includes(tool) ? "read" : tool };
};

/** The scope of commands that match a pattern: up to its first `*`, they begin with the same text. */
export const scopeOfCommand = (pattern: string): CallScope => {
  const prefix = pattern.replace(/:\*$/, "").split(/[*?]/, 1)[0]?.trim();
  return { tool: "run_shell_command", ...(prefix === undefined || prefix === "" ? {} : { prefix }) };
};

const editTools: readonly string[] = ["write_file", "replace", "smart_edit"];
const readTools: readonly string[] = ["read_file", "read_many_files", "glob", "search_file_content", "list_directory"];

/** The scope of a rule of ours. */
const scopeOfRule = (rule: PermissionRule): CallScope => {
  switch (rule.type) {
    case "edits":
    case "path":
      return { tool: "edit" };
    case "files":
      return { tool: rule.access };
    case "command":
      return scopeOfCommand(rule.words.join(" "));
    case "host":
      return { tool: "web_fetch" };
    case "server":
      return { tool: `mcp__${rule.name}` };
    case "agent":
      return { tool: "task" };
    case "tool":
      return rule.server === undefined ? scopeOfTool(rule.name) : { tool: `mcp__${rule.server}__${rule.name}` };
  }
};

/** A change that allows more. */
export type Widening =
  | { readonly type: "rule"; readonly rule: PermissionRule; readonly rank?: number | undefined }
  | { readonly type: "mode"; readonly mode: ApprovalMode }
  | { readonly type: "folder" };

/** The restriction that is not taken over and may limit what an import would allow; undefined if there is none. */
export const findRestriction = (widening: Widening, restrictions: readonly Restriction[]): Restriction | undefined => {
  const scope = scopeOf(widening);
  const rank = widening.type === "rule" ? (widening.rank ?? 0) : 0;
  return restrictions.find((each) => (each.rank ?? Infinity) >= rank && mayOverlap(each, scope));
};

const scopeOf = (widening: Widening): CallScope => {
  switch (widening.type) {
    case "rule":
      return scopeOfRule(widening.rule);
    case "mode":
      return { tool: widening.mode === "yolo" ? "*" : "edit" };
    case "folder":
      return { tool: "read" };
  }
};

const mayOverlap = (one: CallScope, other: CallScope): boolean =>
  (one.tool === "*" || other.tool === "*" || isWithin(one.tool, other.tool) || isWithin(other.tool, one.tool)) &&
  (one.prefix === undefined ||
    other.prefix === undefined ||
    one.prefix.startsWith(other.prefix) ||
    other.prefix.startsWith(one.prefix));

/** Whether a tool is another, or one of a server. */
const isWithin = (tool: string, other: string): boolean => tool === other || tool.startsWith(`${other}__`);
