import type { PermissionOption, RequestPermissionRequest, ToolCallContent } from "@agentclientprotocol/sdk";
import { isObject } from "../conversation/json.ts";
import type { Call } from "../conversation/parts.ts";
import type { RuleScope } from "../policy/gate/listed-rules.ts";
import type { PermissionRule } from "../policy/gate/permission-rules.ts";
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
 * Builds the request for one call. There is one option per kind, as some clients show no more: "always" and "never" add
 * the narrowest rule, for the project where it can be stored, else for the session. The diff of an edit comes first.
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
    case "agent":
      return [textContent(`Remote agent ${subject.name} at ${subject.url}\n${fence(subject.prompt)}`)];
    case "network":
      return [textContent(subject.urls.map(({ url, host }) => `${url} (${host})`).join("\n"))];
    case "info":
      return subject.text === "" ? [] : [textContent(subject.text)];
  }
};

const reasonContent = ({ reason, problem }: ApprovalRequest): readonly ToolCallContent[] =>
  [problem ?? "", reason].filter((each) => each !== "").map(textContent);

const permissionOptions = ({ always: [first] }: ApprovalRequest): PermissionOption[] => {
  const scope = first === undefined ? "session" : scopeOf(first);
  return [
    { optionId: "once", name: "Allow", kind: "allow_once" },
    ...(first === undefined
      ? []
      : [
          {
            optionId: `always:${first.type}`,
            name: `Always allow ${ruleName(first)} ${scopeNames[scope]}`,
            kind: "allow_always",
          } as const,
        ]),
    { optionId: "refuse", name: "Reject", kind: "reject_once" },
    ...(first === undefined || denyRule(first) === undefined
      ? []
      : [
          {
            optionId: `never:${first.type}`,
            name: `Never allow ${ruleName(first)} ${scopeNames[scope]}`,
            kind: "reject_always",
          } as const,
        ]),
  ];
};

type AlwaysOffer = ApprovalRequest["always"][number];

const scopeOf = ({ scopes }: AlwaysOffer): RuleScope => (scopes.includes("project") ? "project" : "session");

const scopeNames: { readonly [scope in RuleScope]: string } = {
  session: "in this session",
  project: "in this project",
};

const ruleName = (always: AlwaysOffer): string => {
  switch (always.type) {
    case "edits":
      return "edits";
    case "tool":
      return always.tool;
    case "server":
      return `all tools of ${always.server}`;
    case "agent":
      return `the remote agent ${always.agent}`;
    case "command":
      return always.commands.map((words) => `"${words.join(" ")}"`).join(", ");
  }
};

/**
 * The rule that denies what an offer would allow; undefined where none says it. Of several commands it is unknown which
 * one is meant; without any edits there is plan mode.
 */
const denyRule = (always: AlwaysOffer): PermissionRule | undefined => {
  switch (always.type) {
    case "edits":
      return undefined;
    case "tool":
      return { type: "tool", name: always.tool };
    case "server":
      return { type: "server", name: always.server };
    case "agent":
      return { type: "agent", name: always.agent };
    case "command": {
      const [words, ...others] = always.commands;
      return words === undefined || others.length > 0 ? undefined : { type: "command", words };
    }
  }
};

/** An answer of the client: a decision about the call, or a rule that denies it and calls like it. */
export type PermissionAnswer =
  | ApprovalDecision
  | { readonly type: "never"; readonly rule: PermissionRule; readonly scope: RuleScope };

/** Reads the client's answer. Anything but an option that was offered refuses the call. */
export const readPermissionAnswer = (answer: unknown, { always: [first] }: ApprovalRequest): PermissionAnswer => {
  const outcome = isObject(answer) && isObject(answer["outcome"]) ? answer["outcome"] : {};
  if (outcome["outcome"] === "cancelled") return { type: "cancel" };
  if (outcome["outcome"] !== "selected") return { type: "refuse" };
  const { optionId } = outcome;
  if (optionId === "once") return { type: "once" };
  if (first === undefined) return { type: "refuse" };
  if (optionId === `always:${first.type}`) return { type: "always", rule: first.type, scope: scopeOf(first) };
  const rule = optionId === `never:${first.type}` ? denyRule(first) : undefined;
  return rule === undefined ? { type: "refuse" } : { type: "never", rule, scope: scopeOf(first) };
};
