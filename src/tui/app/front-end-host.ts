import type { PendingApproval } from "../../agent/agent.ts";
import { modelName } from "../../agent/models/name.ts";
import type { ApprovalMode } from "../../policy/gate/approval-mode.ts";
import type { ApprovalDecision } from "../../scheduler/events.ts";
import { line } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import { viewTaskRow } from "../views/task-row.ts";
import { viewTodoList } from "../views/todo-list.ts";
import type { AppParts } from "./app-parts.ts";
import { commandChoices } from "./commands/slash-command.ts";
import type { FrontEndHost } from "./front-ends/front-end.ts";
import { completeMention } from "./input/mention-completions.ts";

/** The state and actions a front end uses. The parts are read on use: the front end is created before the others. */
export const createFrontEndHost = (app: AppParts): FrontEndHost => {
  const { openEditor, serverQuestions } = app.options;
  const { quit, reportErrors } = app;
  return {
    live: () => viewLive(app, app.frontEnd.width()),
    status: (width) => app.status.view(width),
    busySince: () => app.active.chat?.busySince ?? app.userShell.busySince ?? app.work.oldest?.since,
    work: () => app.work.oldest,
    questions: () => app.active.chat?.opened.agent.pendingApprovals() ?? [],
    markPrinted: ({ call, agent, approval: { subject } }) => {
      if (agent === undefined && subject.type === "edit") app.transcript.markPatchPrinted(call, subject.patch);
    },
    answerApproval: (question, decision) => void answerApproval(app, question, decision),
    serverQuestions: () => serverQuestions.pending(),
    answerServer: (question, answer) => serverQuestions.answer(question, answer),
    model: () => (app.active.chat === undefined ? "the model" : modelName(app.active.chat.opened.agent.model())),
    coloursOf: app.coloursOf,
    editBeforeApproval: (question) => void reportErrors(() => editBeforeApproval(app, question)),
    complete: (query) => {
      if (query.kind === "command") return commandChoices(app.catalog.list(), query.query);
      if (query.kind === "argument") return app.argumentCompletions.complete(query, app.catalog.list());
      return app.active.chat === undefined ? [] : completeMention(query.query, app.active.chat.opened);
    },
    resolvePaste: (text) => app.pastedFiles.paste(text),
    pasteClipboardImage: () => app.pastedFiles.pasteClipboardImage(),
    submit: (marked, sendAfter) => app.prompts.submit({ marked, isShown: app.frontEnd.echoesInput, sendAfter }),
    queued: () => [...(app.active.chat?.queued() ?? []), ...app.prompts.waiting()],
    takeBackQueued: () => app.prompts.takeBack() ?? app.active.chat?.takeBackQueued(),
    editPrompt: async (text) =>
      (await app.frontEnd.suspendFor(() => openEditor(text, "message.md")))?.replace(/\n$/, ""),
    cancel: () => {
      app.cancelOutsideChat();
      void app.active.chat?.cancel();
    },
    quit,
    expandCollapsed: () => {
      if (!app.transcript.expandCollapsed()) app.frontEnd.print([line("Nothing to expand.", { tone: "muted" })]);
    },
    canMoveToBackground: () => app.active.chat?.opened.tasks()?.canMoveToBackground ?? false,
    moveToBackground: () => (app.active.chat?.opened.tasks()?.moveToBackground() ?? 0) > 0,
    switchToNextFavourite: () =>
      void reportErrors(async () => {
        if (app.active.chat === undefined) return;
        const { switchToNextFavourite } = await import("./commands/built-in/model.ts");
        await switchToNextFavourite("", app.commandContext());
      }),
    toggleThinking: () =>
      app.frontEnd.print([
        line(app.transcript.toggleThinking() ? "Thinking is shown in full." : "Thinking is shown by its topic.", {
          tone: "muted",
        }),
      ]),
    rewind: () => void app.prompts.runCommand("rewind", ""),
    cycleApprovalMode: () => void reportErrors(() => app.active.setMode(modeCycle[app.active.mode])),
  };
};

/** The lines that may still change: running calls, then the to-do list and background tasks. */
const viewLive = ({ active, transcript, userShell, work }: AppParts, width: number): readonly StyledLine[] => {
  const opened = active.chat?.opened;
  const todos = viewTodoList(opened?.todos() ?? [], width);
  const running = [...transcript.live(), ...userShell.live(width), ...work.live()];
  return [
    ...running,
    // What was printed before ends with an empty line.
    ...(todos.length === 0 || running.length === 0 ? [] : [[]]),
    ...todos,
    ...viewTaskRow(opened?.tasks()?.list() ?? [], width),
  ];
};

/** Decides a question. The editor closes its diff; the user may have changed the text there. */
const answerApproval = async (
  { active, ide }: AppParts,
  question: PendingApproval,
  decision: ApprovalDecision,
): Promise<void> => {
  const { call, agent } = question;
  const decided = ide.client === undefined ? decision : await ide.client.reconsider(question, decision);
  active.chat?.opened.agent.decide(call, decided, agent);
};

const editBeforeApproval = async (
  { active, frontEnd, options }: AppParts,
  { approval: { subject }, call, agent }: PendingApproval,
): Promise<void> => {
  if (subject.type !== "edit") return;
  const edited = await frontEnd.suspendFor(() => options.openEditor(subject.after, subject.path));
  if (edited !== undefined) active.opened().agent.decide(call, { type: "edit", text: edited }, agent);
  frontEnd.update();
};

/** The mode after each mode when cycling; yolo must be chosen by name. */
const modeCycle: Readonly<Record<ApprovalMode, ApprovalMode>> = {
  default: "auto_edit",
  auto_edit: "plan",
  plan: "default",
  yolo: "default",
};
