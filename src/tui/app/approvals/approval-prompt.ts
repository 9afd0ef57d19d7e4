import type { PendingApproval } from "../../../agent/agent.ts";
import type { ApprovalDecision } from "../../../scheduler/events.ts";
import type { ApprovalPrompt, ApprovalChoice } from "../../views/approval.ts";

/** Builds the approval prompt for a question of the agent. */
export const createApprovalPrompt = ({ approval, agent }: PendingApproval, waiting: number): ApprovalPrompt => {
  const { title, reason, always, problem, subject } = approval;
  return {
    title: agent === undefined ? "The model" : `The subagent ${agent}`,
    subject: subjectOf(subject, title),
    reasons: [...(problem === undefined ? [] : [problem]), ...(reason === "" ? [] : [reason])],
    choices: [
      { id: "once", key: "y", label: "Yes, this once" },
      ...always.map((each): ApprovalChoice => alwaysChoice(each)),
      ...(subject.type === "edit" && subject.isEditable ? [{ id: "edit", key: "e", label: "Edit it first" }] : []),
    ],
    waiting,
  };
};

type QuestionSubject = PendingApproval["approval"]["subject"];
type AlwaysOption = PendingApproval["approval"]["always"][number];

const subjectOf = (about: QuestionSubject, title: string): ApprovalPrompt["subject"] => {
  switch (about.type) {
    case "edit":
      return {
        type: "diff",
        path: about.isLink ? about.requestedPath : about.path,
        target: about.path,
        patch: about.patch,
      };
    case "execute":
      return { type: "command", command: about.command, folder: about.folder };
    case "mcp":
      return {
        type: "text",
        text: `${about.tool} of the MCP server ${about.server}${about.exposedAs === undefined ? "" : ` (known as ${about.exposedAs})`}, with\n${JSON.stringify(about.arguments, undefined, 2)}`,
      };
    case "network":
      return { type: "text", text: [title, ...about.urls.map(({ url, host }) => `${url}\n  (${host})`)].join("\n") };
    case "info":
      return { type: "text", text: about.text === "" ? title : `${title}\n${about.text}` };
  }
};

const alwaysChoice = (always: AlwaysOption): ApprovalChoice => {
  switch (always.type) {
    case "tool":
      return { id: "always:tool", key: "a", label: `Yes, and always for ${always.tool}` };
    case "server":
      return { id: "always:server", key: "s", label: `Yes, and always for everything of ${always.server}` };
    case "command":
      return {
        id: "always:command",
        key: "a",
        label: `Yes, and always for ${always.commands.map((words) => `"${words.join(" ")}"`).join(", ")}`,
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
