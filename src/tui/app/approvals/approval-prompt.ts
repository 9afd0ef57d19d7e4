import type { PendingApproval } from "../../../agent/agent.ts";
import type { ApprovalDecision } from "../../../scheduler/events.ts";
import type { ApprovalPrompt, ApprovalChoice } from "../../views/approval.ts";

/** Builds the approval prompt for a question of the agent. */
export const createApprovalPrompt = ({ approval, agent }: PendingApproval, waiting: number): ApprovalPrompt => {
  const { title, reason, always, problem, subject } = approval;
  return {
    title: `${agent === undefined ? "" : `Subagent ${agent}: `}${titleOf(subject, title)}`,
    subject: subjectOf(subject),
    reasons: [...(problem === undefined ? [] : [problem]), ...(reason === "" ? [] : [reason])],
    choices: [
      { id: "once", key: "y", label: "Yes" },
      ...always.map((each): ApprovalChoice => alwaysChoice(each)),
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
    case "edit":
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
        path: subject.isLink ? subject.requestedPath : subject.path,
        target: subject.path,
        patch: subject.patch,
      };
    case "execute":
      return { type: "command", command: subject.command, folder: subject.folder };
    case "mcp":
      return {
        type: "text",
        text: `${subject.exposedAs === undefined ? "" : `Exposed as ${subject.exposedAs}. `}Arguments:\n${JSON.stringify(subject.arguments, undefined, 2)}`,
      };
    case "network":
      return { type: "text", text: subject.urls.map(({ url, host }) => `${url}\n  (${host})`).join("\n") };
    case "info":
      return { type: "text", text: subject.text };
  }
};

const alwaysChoice = (always: AlwaysOption): ApprovalChoice => {
  switch (always.type) {
    case "tool":
      return { id: "always:tool", key: "a", label: `Yes, and don't ask again for ${always.tool} this session` };
    case "server":
      return {
        id: "always:server",
        key: "s",
        label: `Yes, and don't ask again for any tool of ${always.server} this session`,
      };
    case "command":
      return {
        id: "always:command",
        key: "a",
        label: `Yes, and don't ask again for ${always.commands.map((words) => `"${words.join(" ")}"`).join(", ")} this session`,
      };
  }
};

/** Returns the decision for a choice; undefined for the choice that opens an editor. */
export const decisionFor = (id: string): ApprovalDecision | undefined => {
  switch (id) {
    case "once":
      return { type: "once" };
    case "always:tool":
      return { type: "always", scope: "tool" };
    case "always:server":
      return { type: "always", scope: "server" };
    case "always:command":
      return { type: "always", scope: "command" };
    default:
      return undefined;
  }
};
