import type { PermissionOption, RequestPermissionRequest, ToolCallContent } from "@agentclientprotocol/sdk";
import { isObject } from "../conversation/json.ts";
import type { Call } from "../conversation/parts.ts";
import type { ApprovalDecision, ApprovalRequest, ApprovalSubject } from "../scheduler/events.ts";
import { diffContent, fence, textContent, viewCall } from "./tool-call.ts";

/** A call that waits for approval, as the client is asked about it. */
export type PermissionQuestion = {
  readonly id: string;
  readonly call: Call;
  readonly approval: ApprovalRequest;
  readonly folder: string;
};

/**
 * Builds the request for one call. There is one option per kind, as some clients show no more: "always" is the narrowest
 * rule, for the session. The diff of an edit comes first.
 */
export const permissionRequest = ({
  id,
  call,
  approval,
  folder,
}: PermissionQuestion): Pick<RequestPermissionRequest, "toolCall" | "options"> => {
  const { title, kind, locations, input } = viewCall(call, folder);
  const { subject } = approval;
  return {
    toolCall: {
      toolCallId: id,
      title: subject.type === "edit" ? approval.title : title,
      kind,
      status: "pending",
      content: [...subjectContent(subject, folder), ...reasonContent(approval)],
      locations: subject.type === "edit" ? [{ path: subject.path }] : locations,
      rawInput: input,
    },
    options: permissionOptions(approval),
  };
};

const subjectContent = (subject: ApprovalSubject, folder: string): readonly ToolCallContent[] => {
  switch (subject.type) {
    case "edit":
      return [diffContent(subject.path, subject.before, subject.after, folder)];
    case "execute":
      return [textContent(`${fence(subject.command)}\nin ${subject.folder}`)];
    case "mcp":
      return [
        textContent(
          `${subject.tool} of the MCP server ${subject.server}\n${fence(JSON.stringify(subject.arguments, undefined, 2))}`,
        ),
      ];
    case "network":
      return [textContent(subject.urls.map(({ url, host }) => `${url} (${host})`).join("\n"))];
    case "info":
      return subject.text === "" ? [] : [textContent(subject.text)];
  }
};

const reasonContent = ({ reason, problem }: ApprovalRequest): readonly ToolCallContent[] =>
  [problem ?? "", reason].filter((each) => each !== "").map(textContent);

const permissionOptions = ({ always: [first] }: ApprovalRequest): PermissionOption[] => [
  { optionId: "once", name: "Allow", kind: "allow_once" },
  ...(first === undefined
    ? []
    : [{ optionId: `always:${first.type}`, name: alwaysLabel(first), kind: "allow_always" } as const]),
  { optionId: "refuse", name: "Reject", kind: "reject_once" },
];

const alwaysLabel = (always: ApprovalRequest["always"][number]): string => {
  switch (always.type) {
    case "edits":
      return "Allow edits for this session";
    case "tool":
      return `Allow ${always.tool} for this session`;
    case "server":
      return `Allow all tools of ${always.server} for this session`;
    case "command":
      return `Allow ${always.commands.map((words) => `"${words.join(" ")}"`).join(", ")} for this session`;
  }
};

/** Reads the client's answer. Anything but an option that was offered refuses the call. */
export const readPermissionAnswer = (answer: unknown, { always: [first] }: ApprovalRequest): ApprovalDecision => {
  const outcome = isObject(answer) && isObject(answer["outcome"]) ? answer["outcome"] : {};
  if (outcome["outcome"] === "cancelled") return { type: "cancel" };
  if (outcome["outcome"] !== "selected") return { type: "refuse" };
  const { optionId } = outcome;
  if (optionId === "once") return { type: "once" };
  if (first !== undefined && optionId === `always:${first.type}`)
    return { type: "always", rule: first.type, scope: "session" };
  return { type: "refuse" };
};
