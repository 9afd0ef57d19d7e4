import type { PendingApproval } from "../../agent/agent.ts";
import { modelName } from "../../agent/models/name.ts";
import type { AgentSession } from "../../agent/open-agent.ts";
import type { Media, UserPart } from "../../conversation/parts.ts";
import type { ApprovalMode } from "../../policy/gate/approval-mode.ts";
import type { Terminal } from "../../world/terminal.ts";
import { createHighlighter } from "../markdown/highlight.ts";
import type { Theme } from "../screen/theme.ts";
import { line } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import {
  commandChoices,
  type SlashCommandContext,
  type SessionChoice,
  type SlashCommand,
} from "./commands/slash-command.ts";
import { ActiveSession, type SessionSource } from "./session/active-session.ts";
import { listCommands, findCommand } from "./commands/registry.ts";
import { ArgumentCompletions } from "./input/argument-completions.ts";
import { completeMention } from "./input/mention-completions.ts";
import { TranscriptView } from "./transcript/transcript-view.ts";
import type { FrontEnd, FrontEndHost, QuitReason } from "./front-ends/front-end.ts";
import { viewGreeting, viewHeader } from "./transcript/greeting.ts";
import type { InputHistory } from "./input/history.ts";
import { MarkdownPrinter } from "./transcript/markdown-printer.ts";
import { printHistory, messageLines } from "./transcript/session-history.ts";
import { PastedFiles } from "./input/pasted-files.ts";
import { printMedia } from "./transcript/media.ts";
import { viewUserPrompt } from "./transcript/user-prompt.ts";
import type { ServerQuestions } from "./approvals/server-questions.ts";
import { shellContextPart, UserShell, viewShellResult, type ShellResult } from "./session/user-shell.ts";
import { chatStatus, viewStatusLine } from "./status-line.ts";
import { themeForSetting } from "./theme-setting.ts";
import { askToTrustFolder } from "./approvals/trust-prompt.ts";
import { askServerConsents } from "./approvals/server-consent.ts";

/** Options of the terminal app. */
export type TerminalAppOptions = SessionSource & {
  readonly terminal: Terminal;
  readonly folder: string;
  readonly isSandboxed: boolean;
  /** Runs the user's editor on a text, with the terminal released. */
  readonly openEditor: (text: string, name: string) => Promise<string | undefined>;
  readonly doctor: () => Promise<string>;
  readonly history: InputHistory;
  /** Questions of MCP servers. */
  readonly serverQuestions: ServerQuestions;
  /** A prompt submitted at start. */
  readonly initialPrompt?: string;
};

/** The terminal app: sends prompts to the agent and shows its events. */
export class TerminalApp {
  readonly #options: TerminalAppOptions;
  readonly #front: FrontEnd;
  readonly #current: ActiveSession;
  readonly #markdown: MarkdownPrinter;
  readonly #feed: TranscriptView;
  readonly #pasted: PastedFiles;
  readonly #shellLines: UserShell;
  readonly #arguments = new ArgumentCompletions(() => this.#desk());
  readonly #ended: Promise<void>;
  #end: () => void = () => undefined;
  #custom: readonly SlashCommand[] = [];
  #finding: Promise<unknown> = Promise.resolve();
  /** Prompts typed before a session was open. */
  #early: string[] = [];
  #isLeaving = false;
  #reason: QuitReason | undefined;

  constructor(options: TerminalAppOptions, front: (host: FrontEndHost, theme: Theme | undefined) => FrontEnd) {
    const { world, loaded, initialPrompt } = options;
    const { settings } = loaded;
    this.#options = options;
    this.#early = initialPrompt === undefined ? [] : [initialPrompt];
    this.#ended = new Promise((resolve) => (this.#end = resolve));
    this.#current = new ActiveSession(options, {
      onEvent: (event) => this.#feed.handleEvent(event),
      info: (text) => this.#say(text),
      warn: (text) => this.#warn(text),
      onChange: () => this.#front.update(),
      waitForDrain: () => this.#front.waitForDrain(),
      onOpen: (opened, isFirst) => this.#begun(opened, isFirst),
      onClose: () => this.#stop(),
    });
    this.#front = front(this.#host(), themeForSetting(settings["ui.theme"]));
    options.serverQuestions.listen({ onChange: () => this.#front.update(), info: (text) => this.#say(text) });
    this.#pasted = new PastedFiles(world);
    this.#shellLines = new UserShell(world.clock, () => this.#front.update());
    this.#markdown = new MarkdownPrinter(this.#front, createHighlighter(), () => this.#feed.flush());
    this.#feed = new TranscriptView({
      clock: world.clock,
      markdown: this.#markdown.options,
      width: () => this.#front.width(),
      print: (lines) => this.#front.print(lines),
      showMedia: (media) => this.#showMedia(media),
      announcesCalls: settings["ui.screenReader"],
    });
  }

  /** Runs until the user quits; returns the reason if something else ended it. */
  async run(): Promise<QuitReason | undefined> {
    const { folder, loaded } = this.#options;
    const front = this.#front;
    front.print(viewHeader(folder, front.width()));
    front.update();
    try {
      if (!loaded.policy.trusted) await Promise.race([askToTrustFolder(front, this.#options), this.#ended]);
      if (!this.#isLeaving) await Promise.race([askServerConsents(front, this.#options), this.#ended]);
      if (!this.#isLeaving) {
        await this.#current.open();
        for (const text of this.#early.splice(0)) this.#submit(text);
        await this.#ended;
      }
    } finally {
      await this.#current.close();
      await this.#options.history.flush();
      await front.close();
    }
    return this.#reason;
  }

  /** Quits: cancels and records running work and closes the session before `run` returns. */
  quit(reason?: QuitReason): void {
    this.#reason ??= this.#isLeaving ? undefined : reason;
    this.#isLeaving = true;
    this.#end();
  }

  /* Sessions. */

  async #begun(opened: AgentSession, isFirst: boolean): Promise<void> {
    const front = this.#front;
    front.print([...viewGreeting(opened, { width: front.width(), isFirst }), []]);
    await printHistory(opened.session.entries, {
      width: () => front.width(),
      print: (lines) => front.print(lines),
      showMarkdown: (markdown) => this.#markdown.print(markdown),
      showMedia: (media) => this.#showMedia(media),
    });
    // Not earlier: until now the user was waiting.
    void this.#markdown.load();
    this.#finding = this.#findCommands();
  }

  async #reopen(resume: SessionChoice): Promise<void> {
    await this.#current.reopen(resume);
    for (const text of this.#early.splice(0)) this.#submit(text);
  }

  /** Cancels work outside the chat session. */
  #stop(): void {
    this.#shellLines.stop();
    this.#options.serverQuestions.cancel();
  }

  async #findCommands(): Promise<readonly SlashCommand[]> {
    const { world, home, folder } = this.#options;
    const { findCommands } = await import("./commands/custom/custom-commands.ts");
    const project = this.#current.loaded.policy.trusted ? { project: folder } : {};
    const places = { disk: world.disk, home, userHome: world.host.home, ...project };
    const { commands, problems } = await findCommands(places);
    for (const note of problems) this.#say(note);
    this.#custom = commands;
    return commands;
  }

  /* Events. */

  #showMedia(media: Media): void {
    printMedia(this.#front, media, this.#current.chat?.opened.agent.conversation().blobs ?? {});
  }

  /* User actions. */

  #submit(text: string): void {
    this.#arguments.clearCache();
    this.#options.history.add(text);
    if (this.#current.chat === undefined) {
      this.#early.push(text);
      return;
    }
    this.#front.print(viewUserPrompt(text, this.#front.width()));
    const [, name, words = ""] = /^\/([\w:.-]+)(?:\s+(.*))?$/s.exec(text.trim()) ?? [];
    if (name !== undefined) void this.#command(name, words.trim());
    else if (text.startsWith("!")) void this.#guarded(async () => this.#aside(await this.#shell(text.slice(1).trim())));
    else void this.#guarded(() => this.#send(text, []));
  }

  async #send(text: string, parts: readonly UserPart[]): Promise<void> {
    const talk = this.#current.chat;
    if (talk === undefined) return;
    await this.#markdown.load();
    if (talk.busySince === undefined) this.#feed.beginTurn();
    const files = this.#pasted.take(text);
    talk.opened.addBlobs(files.blobs);
    for (const part of files.parts) if (part.type === "media") this.#showMedia(part);
    await talk.submit({ text, parts: [...files.parts, ...parts] });
  }

  async #command(name: string, words: string): Promise<void> {
    await this.#finding;
    const command = await findCommand(name, this.#commands());
    if (typeof command === "string") return this.#say(command);
    await this.#guarded(async () => command.run(words, this.#desk()));
    await this.#current.chat?.refreshContextUsage();
  }

  /** Reports an error of a command without affecting anything else. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#warn(error instanceof Error ? error.message : String(error));
    }
    this.#front.update();
  }

  #commands(): readonly SlashCommand[] {
    return listCommands(this.#custom, this.#current.chat?.opened.servers);
  }

  async #shell(command: string): Promise<ShellResult> {
    const ran = await this.#shellLines.run(command, await this.#current.opened().services());
    this.#front.print([...viewShellResult(ran, this.#front.width()), []]);
    return ran;
  }

  #aside(ran: ShellResult): void {
    this.#current.chat?.addToNextPrompt(shellContextPart(ran));
  }

  async #editFirst({ approval: { subject }, call, agent: name }: PendingApproval): Promise<void> {
    if (subject.type !== "edit") return;
    const edited = await this.#front.suspendFor(() => this.#options.openEditor(subject.after, subject.path));
    if (edited !== undefined) this.#current.opened().agent.decide(call, { type: "edit", text: edited }, name);
    this.#front.update();
  }

  #say(text: string): void {
    this.#front.print([...messageLines(text, this.#front.width()), []]);
  }

  #warn(text: string): void {
    this.#front.print([...messageLines(text, this.#front.width(), "error"), []]);
  }

  #status(width: number): StyledLine {
    const { isSandboxed } = this.#options;
    const isTrusted = this.#current.loaded.policy.trusted;
    const talk = this.#current.chat;
    return viewStatusLine(talk && { ...chatStatus(talk), mode: this.#current.mode, isTrusted, isSandboxed }, width);
  }

  /** The state and actions a front end uses. */
  #host(): FrontEndHost {
    const { openEditor, serverQuestions } = this.#options;
    return {
      live: () => [...this.#feed.live(), ...this.#shellLines.live(this.#front.width())],
      status: (width) => this.#status(width),
      busySince: () => this.#current.chat?.busySince ?? this.#shellLines.busySince,
      questions: () => this.#current.chat?.opened.agent.pendingApprovals() ?? [],
      answerApproval: ({ call, agent }, decision) => void this.#current.opened().agent.decide(call, decision, agent),
      serverQuestions: () => serverQuestions.pending(),
      answerServer: (question, answer) => serverQuestions.answer(question, answer),
      model: () =>
        this.#current.chat === undefined ? "the model" : modelName(this.#current.chat.opened.agent.model()),
      editBeforeApproval: (question) => void this.#guarded(() => this.#editFirst(question)),
      complete: (completing) => {
        if (completing.kind === "command") return commandChoices(this.#commands());
        if (completing.kind === "argument") return this.#arguments.complete(completing, this.#commands());
        return this.#current.chat === undefined ? [] : completeMention(completing.query, this.#current.chat.opened);
      },
      resolvePaste: (text) => this.#pasted.paste(text),
      pasteClipboardImage: () => this.#pasted.pasteClipboardImage(),
      submit: (text) => this.#submit(text),
      editPrompt: async (text) =>
        (await this.#front.suspendFor(() => openEditor(text, "message.md")))?.replace(/\n$/, ""),
      cancel: () => {
        this.#shellLines.stop();
        serverQuestions.cancel();
        void this.#current.chat?.cancel();
      },
      quit: (reason) => this.quit(reason),
      expandCollapsed: () => {
        if (!this.#feed.expandCollapsed()) this.#front.print([line("Nothing is folded.", { tone: "muted" })]);
      },
      cycleApprovalMode: () => void this.#guarded(() => this.#current.setMode(modeCycle[this.#current.mode])),
    };
  }

  /** The services slash commands can use. */
  #desk(): SlashCommandContext {
    const { world, home, folder, openEditor, doctor } = this.#options;
    const front = this.#front;
    return {
      world,
      home,
      folder,
      loaded: () => this.#current.loaded,
      opened: () => this.#current.opened(),
      snapshots: () => this.#current.snapshots(),
      reopen: (resume) => this.#reopen(resume),
      info: (text) => this.#say(text),
      warn: (text) => this.#warn(text),
      print: (lines) => front.print(lines),
      printMarkdown: (markdown) => this.#markdown.print(markdown),
      pick: (title, options, focused) => front.pick(title, options, focused),
      confirm: (title, options) => front.confirm(title, options),
      send: (text, parts = []) => this.#send(text, parts),
      openEditor: (text, name) => front.suspendFor(() => openEditor(text, name)),
      copyToClipboard: (text) => front.copyToClipboard(text),
      runShell: (command) => this.#shell(command),
      setTheme: (theme) => front.setTheme(theme),
      setMode: (mode) => this.#current.setMode(mode),
      doctor,
      commands: () => this.#commands(),
      width: () => front.width(),
      quit: () => this.quit(),
    };
  }
}

/** The mode after each mode when cycling; yolo must be chosen by name. */
const modeCycle: Readonly<Record<ApprovalMode, ApprovalMode>> = {
  default: "auto_edit",
  auto_edit: "plan",
  plan: "default",
  yolo: "default",
};
