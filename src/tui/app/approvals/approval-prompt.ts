import type { PendingApproval } from "../../../agent/agent.ts";
import { commandRuleFor, formatPermissionRule } from "../../../policy/gate/permission-rules.ts";
import type { RuleScope } from "../../../policy/gate/listed-rules.ts";
import type { ApprovalDecision } from "../../../scheduler/events.ts";
import type { ApprovalPrompt, ApprovalChoice } from "../../views/approval.ts";

/** Builds the approval prompt for a question of the agent. */
export const createApprovalPrompt = ({ approval, agent }: PendingApproval, waiting: number): ApprovalPrompt => {
  const { title, reason, always, problem, subject, isRoutine } = approval;
  const rules = [...new Set(always.flatMap(ruleTexts))];
  return {
    title: `${agent === undefined ? "" : `Subagent ${agent}: `}${titleOf(subject, title)}`,
    subject: subjectOf(subject),
    ...(subject.type === "execute" ? { effects: subject.effects } : {}),
    ...(rules.length === 0 ? {} : { rule: rules.join(" or ") }),
    isRoutine: isRoutine && problem === undefined,
    reasons: [...(problem === undefined ? [] : [problem]), ...(reason === "" ? [] : [reason])],
    choices: [
      { id: "once", key: "y", label: "Yes" },
      ...always.flatMap(alwaysChoices),
      ...(subject.type === "edit" && subject.isEditable ? [{ id: "edit", key: "e", label: "Edit first" }] : []),
    ],
    waiting,
  };
};

type QuestionSubject = PendingApproval["approval"]["subject"];
type AlwaysOption = PendingApproval["approval"]["always"][number];

/** The question in one line. `title` is the tool's description of its call. */
const titleOf = (subject: QuestionSubject, title: string): string => {
  switch (subject.type) {
    case "execute":
      return "Run this command?";
    case "mcp":
      return `Call ${subject.tool} on MCP server ${subject.server}?`;
    case "agent":
      return `Send this task to the remote agent ${subject.name}?`;
    case "edit":
      return `${subject.before === undefined ? "Create" : "Edit"} ${subject.isLink ? subject.requestedPath : subject.relativePath}?`;
    case "network":
    case "info":
      return `${title}?`;
  }
};

const subjectOf = (subject: QuestionSubject): ApprovalPrompt["subject"] => {
  switch (subject.type) {
    case "edit":
      return {
        type: "diff",
        path: subject.isLink ? subject.requestedPath : subject.relativePath,
        target: subject.relativePath,
        patch: subject.patch,
      };
    case "execute":
      return { type: "command", command: subject.command, folder: subject.relativeFolder };
    case "mcp":
      return {
        type: "text",
        text: `${subject.exposedAs === undefined ? "" : `Exposed as ${subject.exposedAs}. `}Arguments:\n${JSON.stringify(subject.arguments, undefined, 2)}`,
      };
    case "agent":
      return { type: "text", text: `${subject.url}\n\n${subject.prompt}` };
    case "network":
      return { type: "text", text: subject.urls.map(({ url, host }) => `${url}\n  (${host})`).join("\n") };
    case "info":
      return { type: "text", text: subject.text };
  }
};

/** The choices for an answer of "always": one per scope, which the label names. */
const alwaysChoices = (always: AlwaysOption): readonly ApprovalChoice[] =>
  always.scopes.map((scope) => ({
    id: `always:${always.type}:${scope}`,
    key: alwaysKeys[always.type === "server" ? "server" : "other"][scope],
    label: `Yes, and don't ask again for ${alwaysText(always)} ${scopeTexts[scope]}`,
  }));

const alwaysKeys = { other: { session: "a", project: "p" }, server: { session: "s", project: "v" } } as const;

const scopeTexts: { readonly [scope in RuleScope]: string } = { session: "this session", project: "in this project" };

/** The rules of an answer, as written in settings. */
const ruleTexts = (always: AlwaysOption): readonly string[] => {
  switch (always.type) {
    case "edits":
      return ["edits"];
    case "tool":
      return [always.tool];
    case "server":
      return [`server:${always.server}`];
    case "agent":
      return [`agent:${always.agent}`];
    case "command":
      return [always.commands.map((words) => formatPermissionRule(commandRuleFor(words))).join(" and ")];
  }
};

const alwaysText = (always: AlwaysOption): string => {
  switch (always.type) {
    case "edits":
      return "edits";
    case "tool":
      return always.tool;
    case "server":
      return `any tool of ${always.server}`;
    case "agent":
      return `the remote agent ${always.agent}`;
    case "command":
      return always.commands.map((words) => `"${words.join(" ")}"`).join(", ");
  }
};

/** Returns the decision for a choice; undefined for the choice that opens an editor. */
export const decisionFor = (id: string): ApprovalDecision | undefined => {
  if (id === "once") return { type: "once" };
  const [type, rule, scope] = id.split(":");
  return type === "always" ? ({ type, rule, scope } as ApprovalDecision) : undefined;
};
