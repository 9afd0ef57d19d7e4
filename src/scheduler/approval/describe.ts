import { relative, resolve as absolute } from "node:path";
import { toPlainJson, type JsonObject } from "../../conversation/json.ts";
import type { CommandProgram } from "../../policy/command/analysis.ts";
import type { AlwaysAllow, PermissionVerdict } from "../../policy/gate/create.ts";
import { isInside } from "../../policy/workspace/paths.ts";
import { sanitizeForTerminal, displayCommand } from "../../policy/terminal/sanitize.ts";
import { createDiffDisplay } from "../../tools/edit/diff-display.ts";
import type { EditProposal } from "../../tools/tool.ts";
import type { ApprovalRequest, ApprovalSubject } from "../events.ts";
import type { ResolvedResources } from "../call/resolve-resources.ts";
import { sanitizeLine, sanitizeObject } from "../result/sanitize-display.ts";
import type { ValidCall } from "../call/validate.ts";

/** Everything known about a call when the user is asked to approve it. */
export type ApprovalContext = {
  readonly valid: ValidCall;
  readonly resolved: ResolvedResources;
  readonly verdict: PermissionVerdict;
  readonly root: string;
  /** The edit that would be written. `firstProposal` is the model's own, before the user changed it. */
  readonly proposal?: EditProposal | undefined;
  readonly firstProposal?: EditProposal | undefined;
  readonly problem?: string | undefined;
};

/** Describes a call for approval: not what the model claims it does, but what it really touches. */
export const describeApproval = async (question: ApprovalContext): Promise<ApprovalRequest> => {
  const { valid, verdict, problem } = question;
  return {
    title: valid.title,
    // One line each: a line break in a file name must not produce lines of its own.
    reason: sanitizeLine(verdict.reason),
    isRoutine: verdict.details.isRoutine && !isLinked(question),
    always: verdict.details.always.map(sanitizeAlways),
    ...(problem === undefined ? {} : { problem: sanitizeLine(problem) }),
    subject: await describeSubject(question),
  };
};

const describeSubject = async (question: ApprovalContext): Promise<ApprovalSubject> => {
  const { valid, resolved, verdict, proposal } = question;
  if (valid.server !== undefined)
    return {
      type: "mcp",
      server: sanitizeLine(valid.server),
      tool: sanitizeLine(valid.tool.originalName ?? valid.tool.name),
      ...(valid.tool.originalName === undefined || valid.tool.originalName === valid.tool.name
        ? {}
        : { exposedAs: sanitizeLine(valid.tool.name) }),
      description: sanitizeForTerminal(valid.tool.description, "visible"),
      arguments: sanitizeObject(toPlainJson(valid.input).value as JsonObject),
    };
  const agent = valid.tool.remoteAgent?.(valid.input);
  if (agent !== undefined)
    return {
      type: "agent",
      name: sanitizeLine(agent.name),
      url: sanitizeLine(agent.url),
      prompt: sanitizeForTerminal(agent.prompt, "visible"),
    };
  if (proposal !== undefined) return describeEdit(question, proposal);
  const { command } = resolved;
  if (command !== undefined)
    return {
      type: "execute",
      command: displayCommand(command.text),
      commands: verdict.details.commands.map(sanitizeRoot),
      folder: sanitizeLine(command.folder),
      relativeFolder: sanitizeLine(relative(question.root, command.folder)),
      effects: sanitizeLine(describeEffects(verdict, question.root)),
    };
  if (verdict.details.urls.length > 0)
    return {
      type: "network",
      urls: verdict.details.urls.map(({ url, host }) => ({ url: sanitizeLine(url), host: sanitizeLine(host) })),
    };
  return { type: "info", text: valid.title };
};

const sanitizeRoot = ({ name, binary }: CommandProgram): CommandProgram => ({
  name: sanitizeLine(name),
  binary: "path" in binary ? { ...binary, path: sanitizeLine(binary.path) } : binary,
});

/** An answer of "always", sanitized. */
const sanitizeAlways = (always: AlwaysAllow): AlwaysAllow => {
  const { scopes } = always;
  switch (always.type) {
    case "edits":
      return { type: "edits", scopes };
    case "tool":
      return { type: "tool", tool: sanitizeLine(always.tool), scopes };
    case "server":
      return { type: "server", server: sanitizeLine(always.server), scopes };
    case "agent":
      return { type: "agent", agent: sanitizeLine(always.agent), identity: always.identity, scopes };
    case "command":
      return { type: "command", commands: always.commands.map((words) => words.map(sanitizeLine)), scopes };
  }
};

/** Lists what a command does in one line: programs, files it changes, and what leaves the workspace. */
const describeEffects = ({ details: { commands, effects } }: PermissionVerdict, root: string): string => {
  const programs = [...new Set(commands.map(({ name }) => name))];
  const writes = (effects?.writes ?? []).map(({ path }) => (isInside(path, root) ? relative(root, path) || "." : path));
  return [
    ...(programs.length === 0 ? [] : [`runs ${shorten(programs)}`]),
    ...(writes.length === 0 ? [] : [`changes ${shorten([...new Set(writes)])}`]),
    ...(effects?.writes.some(({ place }) => place === "outside") === true
      ? ["changes files outside the workspace"]
      : []),
    ...(effects?.readsOutside === true ? ["reads outside the workspace"] : []),
    ...(effects?.mayRunUnseen === true ? ["may run other commands"] : []),
  ].join(" · ");
};

const shorten = (names: readonly string[]): string =>
  names.length <= 4 ? names.join(", ") : `${names.slice(0, 4).join(", ")} and ${names.length - 4} more`;

/** Whether an edit reaches its file through a link. */
const isLinked = ({ resolved, root, proposal }: ApprovalContext): boolean =>
  proposal !== undefined && absolute(root, requestedPath(resolved, proposal)) !== proposal.path;

const requestedPath = ({ writes }: ResolvedResources, proposal: EditProposal): string =>
  writes.find(({ path }) => path === proposal.path)?.requestedPath ?? proposal.path;

const describeEdit = (question: ApprovalContext, proposal: EditProposal): ApprovalSubject => {
  const { valid, resolved, root, firstProposal } = question;
  const { patch, stat } = createDiffDisplay(proposal, firstProposal?.after ?? proposal.after);
  const { shown } = resolved.writes.find(({ path }) => path === proposal.path) ?? {
    shown: relative(root, proposal.path),
  };
  return {
    type: "edit",
    path: sanitizeLine(proposal.path),
    relativePath: sanitizeLine(shown),
    requestedPath: sanitizeLine(requestedPath(resolved, proposal)),
    isLink: isLinked(question),
    before: proposal.before,
    after: proposal.after,
    patch: sanitizeForTerminal(patch, "visible"),
    stat,
    isEditable: valid.tool.amend !== undefined,
  };
};
