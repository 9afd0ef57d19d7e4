import { resolve as absolute } from "node:path";
import { toPlain, type JsonObject } from "../conversation/json.ts";
import type { RootCommand } from "../policy/command-analysis.ts";
import type { Always, Verdict } from "../policy/gate.ts";
import { plain, shownCommand } from "../policy/plain.ts";
import { diffDisplay } from "../tools/diff-display.ts";
import type { Proposal } from "../tools/tool.ts";
import type { Approval, ApprovalSubject } from "./events.ts";
import type { Resolved } from "./resolve.ts";
import { shownLine, shownObject } from "./shown.ts";
import type { ValidCall } from "./validate.ts";

/** All that is known of a call when a person is asked. */
export type Question = {
  readonly valid: ValidCall;
  readonly resolved: Resolved;
  readonly verdict: Verdict;
  readonly root: string;
  /** What an edit would write. `first` is what the model wanted, before anyone changed it. */
  readonly proposal?: Proposal | undefined;
  readonly first?: Proposal | undefined;
  readonly problem?: string | undefined;
};

/** What a person should know before answering: not what the model says it does, but what it will really touch. */
export const approvalOf = async (question: Question): Promise<Approval> => {
  const { valid, verdict, problem } = question;
  return {
    title: valid.title,
    // One line each: a line break in a file's name must not make lines of its own.
    reason: shownLine(verdict.reason),
    always: verdict.details.always.map(shownAlways),
    ...(problem === undefined ? {} : { problem: shownLine(problem) }),
    about: await subjectOf(question),
  };
};

const subjectOf = async (question: Question): Promise<ApprovalSubject> => {
  const { valid, resolved, verdict, proposal } = question;
  if (valid.server !== undefined)
    return {
      type: "mcp",
      server: shownLine(valid.server),
      tool: shownLine(valid.tool.ownName ?? valid.tool.name),
      ...(valid.tool.ownName === undefined || valid.tool.ownName === valid.tool.name
        ? {}
        : { exposedAs: shownLine(valid.tool.name) }),
      description: plain(valid.tool.about, "visible"),
      arguments: shownObject(toPlain(valid.input).value as JsonObject),
    };
  if (proposal !== undefined) return editOf(question, proposal);
  const { command } = resolved;
  if (command !== undefined)
    return {
      type: "execute",
      command: shownCommand(command.text),
      commands: verdict.details.commands.map(shownRoot),
      folder: shownLine(command.folder),
    };
  if (verdict.details.urls.length > 0)
    return {
      type: "network",
      urls: verdict.details.urls.map(({ url, host }) => ({ url: shownLine(url), host: shownLine(host) })),
    };
  return { type: "info", text: valid.title };
};

const shownRoot = ({ name, binary }: RootCommand): RootCommand => ({
  name: shownLine(name),
  binary: "path" in binary ? { ...binary, path: shownLine(binary.path) } : binary,
});

/** What an answer for always would cover, as a person reads it. */
const shownAlways = (always: Always): Always => {
  switch (always.type) {
    case "tool":
      return { type: "tool", tool: shownLine(always.tool) };
    case "server":
      return { type: "server", server: shownLine(always.server) };
    case "command":
      return { type: "command", commands: always.commands.map((words) => words.map(shownLine)) };
  }
};

const editOf = ({ valid, resolved, root, first }: Question, proposal: Proposal): ApprovalSubject => {
  const { patch, stat } = diffDisplay(proposal, first?.after ?? proposal.after);
  const asked = resolved.writes.find(({ path }) => path === proposal.path)?.asked ?? proposal.path;
  return {
    type: "edit",
    path: shownLine(proposal.path),
    asked: shownLine(asked),
    link: absolute(root, asked) !== proposal.path,
    before: proposal.before,
    after: proposal.after,
    patch: plain(patch, "visible"),
    stat,
    editable: valid.tool.amend !== undefined,
  };
};
