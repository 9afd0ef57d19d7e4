import type { AgentEvent } from "../../agent/events.ts";
import type { AgentSession } from "../../agent/open-agent.ts";
import { line } from "../text/line.ts";
import { AppParts, type CreateFrontEnd, type TerminalAppOptions } from "./app-parts.ts";
import { askServerConsents } from "./approvals/server-consent.ts";
import { askToTrustFolder } from "./approvals/trust-prompt.ts";
import type { QuitReason } from "./front-ends/front-end.ts";
import { chooseSession } from "./session/choose-session.ts";
import { readGitBranch } from "./transcript/git-branch.ts";
import { viewGreeting, viewHeader } from "./transcript/greeting.ts";
import { printMedia } from "./transcript/media.ts";
import { taskEndHint } from "./transcript/event-text.ts";
import { printInfo } from "./transcript/message.ts";
import type { OpenedWhich } from "./session/active-session.ts";
import { printHistory } from "./transcript/session-history.ts";

/** The terminal app: opens a session, lets its parts send prompts and show events, and closes it. */
export class TerminalApp {
  readonly #options: TerminalAppOptions;
  readonly #parts: AppParts;
  readonly #quitting: Promise<void>;
  #resolveQuit: () => void = () => undefined;
  #isQuitting = false;
  #quitReason: QuitReason | undefined;

  constructor(options: TerminalAppOptions, createFrontEnd: CreateFrontEnd) {
    this.#options = options;
    this.#quitting = new Promise((resolve) => (this.#resolveQuit = resolve));
    const lifecycle = {
      quit: (reason?: QuitReason) => this.quit(reason),
      showSession: (opened: AgentSession, which: OpenedWhich) => this.#showSession(opened, which),
    };
    this.#parts = new AppParts(options, lifecycle, createFrontEnd);
  }

  /** Runs until the user quits; returns the reason if something else ended it. */
  async run(): Promise<QuitReason | undefined> {
    const { folder, loaded } = this.#options;
    const { frontEnd } = this.#parts;
    frontEnd.print(viewHeader(folder, frontEnd.width()));
    for (const problem of this.#options.theme.problems) printInfo(frontEnd, problem);
    frontEnd.update();
    try {
      if (!loaded.policy.trusted) await Promise.race([askToTrustFolder(frontEnd, this.#options), this.#quitting]);
      if (!this.#isQuitting) await Promise.race([askServerConsents(frontEnd, this.#options), this.#quitting]);
      if (!this.#isQuitting) {
        await this.#openFirst();
        await this.#quitting;
      }
    } finally {
      await this.#close();
    }
    return this.#quitReason;
  }

  /** Quits: cancels and records running work and closes the session before `run` returns. */
  quit(reason?: QuitReason): void {
    this.#quitReason ??= this.#isQuitting ? undefined : reason;
    this.#isQuitting = true;
    this.#resolveQuit();
  }

  /** Shows events that come while no turn runs, such as the end of a background task. */
  handleEvent(event: AgentEvent): void {
    const { active, frontEnd, transcript } = this.#parts;
    const chat = active.chat;
    if (chat === undefined || chat.busySince !== undefined) return;
    chat.recordForCache(event);
    if (event.type === "task" || event.type === "agent") transcript.handleEvent(event);
    const hint = event.type === "task" ? taskEndHint(event.task) : undefined;
    if (hint !== undefined) {
      printInfo(frontEnd, hint);
      frontEnd.notifyIfAway("A background task ended");
    }
    frontEnd.update();
  }

  /** Runs a command of the model that may change files, so that a rewind can restore them. The user's own are not rewound. */
  watchCommand<Result>(run: () => Promise<Result>): Promise<Result> {
    const { active, userShell } = this.#parts;
    const chat = active.chat;
    if (chat === undefined || userShell.busySince !== undefined) return run();
    return chat.watchCommand(run);
  }

  /** Opens the first session; asks which one if the user wants to choose. */
  async #openFirst(): Promise<void> {
    const { active, frontEnd, prompts } = this.#parts;
    const asks = this.#options.choosesSession === true;
    const chosen = asks ? await chooseSession(frontEnd, this.#options, this.#quitting) : undefined;
    if (asks && chosen === undefined) this.quit();
    if (this.#isQuitting) return;
    await active.open(chosen);
    prompts.submitWaiting();
  }

  /** Shows a session that was opened. The messages of one that was open before are on the screen. */
  async #showSession(opened: AgentSession, which: OpenedWhich): Promise<void> {
    const { catalog, frontEnd, ide, markdown, reportErrors, status } = this.#parts;
    const { world, folder, history } = this.#options;
    const branch = await readGitBranch(world, folder);
    const isFirst = which === "first";
    frontEnd.print([...viewGreeting(opened, { width: frontEnd.width(), isFirst, branch }), []]);
    await printHistory(which === "same" ? [] : opened.session.entries, {
      frontEnd,
      readInputHistory: history.read,
      showMarkdown: (text) => markdown.print(text),
      showMedia: (media, above) => printMedia(frontEnd, media, opened.agent.conversation().blobs, above),
    });
    // Not earlier: until now the user was waiting.
    if (isFirst) void status.loadCustom();
    void markdown.load();
    catalog.load(opened);
    ide.client?.forget();
    if (isFirst) void reportErrors(() => ide.connectAtStart());
  }

  /** Cancels running work, closes the session and restores the terminal. */
  async #close(): Promise<void> {
    const { frontEnd, ide, active } = this.#parts;
    const { isSaved, history } = this.#options;
    ide.client?.disconnect();
    this.#parts.cancelOutsideChat();
    const id = await active.close();
    if (id !== undefined && this.#quitReason === undefined && isSaved)
      frontEnd.print([line(`Resume this session with: parley -r ${id}`, { tone: "muted" })]);
    await history.flush();
    await frontEnd.close();
  }
}
