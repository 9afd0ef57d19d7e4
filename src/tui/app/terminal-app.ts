import type { PendingApproval } from "../../agent/agent.ts";
import type { AgentEvent } from "../../agent/events.ts";
import { modelName } from "../../agent/models/name.ts";
import type { AgentSession } from "../../agent/open-agent.ts";
import type { Media, UserPart } from "../../conversation/parts.ts";
import type { ApprovalMode } from "../../policy/gate/approval-mode.ts";
import type { Terminal } from "../../world/terminal.ts";
import type { SendAfter } from "../editor/keymap.ts";
import { expandMarkedText, isMemory, pastesOf } from "../editor/state.ts";
import { createHighlighter } from "../markdown/highlight.ts";
import type { Theme } from "../screen/theme.ts";
import { line } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import {
  commandChoices,
  type CommandWorkView,
  type SlashCommandContext,
  type SessionChoice,
  type SlashCommand,
} from "./commands/slash-command.ts";
import { viewTaskRow } from "../views/task-row.ts";
import { viewTodoList } from "../views/todo-list.ts";
import { mayHaveIde } from "../../ide/places.ts";
import type { ApprovalDecision } from "../../scheduler/events.ts";
import type { IdeClient } from "./ide/ide-client.ts";
import type { ChatOptions } from "./session/chat-session.ts";
import { ActiveSession, type SessionSource } from "./session/active-session.ts";
import { listCommands, findCommand } from "./commands/registry.ts";
import { ArgumentCompletions } from "./input/argument-completions.ts";
import { completeMention } from "./input/mention-completions.ts";
import { TranscriptView } from "./transcript/transcript-view.ts";
import type { FrontEnd, FrontEndHost, QuitReason, WorkProgress } from "./front-ends/front-end.ts";
import { viewGreeting, viewHeader } from "./transcript/greeting.ts";
import { readGitBranch } from "./transcript/git-branch.ts";
import type { InputHistory } from "./input/history.ts";
import { MarkdownPrinter } from "./transcript/markdown-printer.ts";
import { printError, printInfo } from "./transcript/message.ts";
import { printHistory } from "./transcript/session-history.ts";
import { PastedFiles } from "./input/pasted-files.ts";
import { printMedia } from "./transcript/media.ts";
import { viewUserPrompt } from "./transcript/user-prompt.ts";
import type { ServerQuestions } from "./approvals/server-questions.ts";
import { shellContextPart, UserShell, viewShellResult, type ShellResult } from "./session/user-shell.ts";
import type { CustomStatusLine } from "./custom-status-line.ts";
import { chatStatus, viewStatusLine } from "./status-line.ts";
import type { LoadedTheme } from "./theme-file.ts";
import { askToTrustFolder } from "./approvals/trust-prompt.ts";
import { askServerConsents } from "./approvals/server-consent.ts";

/** Options of the terminal app. */
export type TerminalAppOptions = SessionSource & {
  readonly terminal: Terminal;
  readonly folder: string;
  readonly isSandboxed: boolean;
  /** Runs the user's editor on a text, with the terminal released. */
  readonly openEditor: (text: string, name: string) => Promise<string | undefined>;
  readonly history: InputHistory;
  /** Questions of MCP servers. */
  readonly serverQuestions: ServerQuestions;
  /** Opens the store of files around commands. */
  readonly openCommandSnapshots: ChatOptions["openCommandSnapshots"];
  /** The theme of the settings. */
  readonly theme: LoadedTheme;
  /** Whether sessions are saved. */
  readonly isSaved: boolean;
  /** Returns the output of Parley with these arguments. */
  readonly parley: (args: readonly string[], signal?: AbortSignal) => Promise<string>;
  /** Adds a folder to the workspace of sessions opened from now on. */
  readonly addFolder: (path: string) => void;
  /** Stores a key as `parley login` does, with the terminal released. Returns the exit code. */
  readonly login: (args: readonly string[]) => Promise<number>;
  /** Whether the user chooses the first session from a list. */
  readonly choosesSession?: boolean;
  /** A prompt submitted at start. */
  readonly initialPrompt?: string;
};

/** A submitted marked text. `isShown` is true if the terminal echoed it, or if it is the prompt of a command that was shown. */
type SubmittedPrompt = {
  readonly marked: string;
  readonly isShown: boolean;
  readonly sendAfter?: SendAfter | undefined;
  /** Sends it as a message with these parts after its text, whatever it looks like. */
  readonly parts?: readonly UserPart[];
};

/** Running work of a slash command. */
type CommandWork = WorkProgress & {
  readonly live?: (() => readonly StyledLine[]) | undefined;
  readonly stop: AbortController;
  readonly since: number;
  share?: number;
};

/** The terminal app: sends prompts to the agent and shows its events. */
export class TerminalApp {
  readonly #options: TerminalAppOptions;
  readonly #frontEnd: FrontEnd;
  readonly #active: ActiveSession;
  readonly #markdown: MarkdownPrinter;
  readonly #transcript: TranscriptView;
  readonly #pastedFiles: PastedFiles;
  readonly #userShell: UserShell;
  readonly #argumentCompletions = new ArgumentCompletions(() => this.#commandContext());
  /** Work of slash commands that takes a while. */
  readonly #commandWork = new Set<CommandWork>();
  readonly #quitting: Promise<void>;
  #resolveQuit: () => void = () => undefined;
  #customCommands: readonly SlashCommand[] = [];
  #loadingCommands: Promise<unknown> = Promise.resolve();
  /** Prompts that wait until a session is open and no command runs that may replace it. */
  #waitingPrompts: SubmittedPrompt[] = [];
  /** Commands that are looked up, or that run and make prompts wait. */
  #exclusiveCommands = 0;
  #statusCommand: CustomStatusLine | undefined;
  #isQuitting = false;
  #ide: IdeClient | undefined;
  #quitReason: QuitReason | undefined;

  constructor(options: TerminalAppOptions, createFrontEnd: (host: FrontEndHost, theme: Theme | undefined) => FrontEnd) {
    const { world, loaded, initialPrompt } = options;
    const { settings } = loaded;
    this.#options = options;
    this.#waitingPrompts = initialPrompt === undefined ? [] : [{ marked: initialPrompt, isShown: false }];
    this.#quitting = new Promise((resolve) => (this.#resolveQuit = resolve));
    this.#frontEnd = createFrontEnd(this.#host(), options.theme.theme);
    const frontEnd = this.#frontEnd;
    options.serverQuestions.listen({
      onChange: () => frontEnd.update(),
      info: (text) => printInfo(frontEnd, text),
      showPlan: (plan) => this.#markdown.print(plan),
      editPlan: (plan) => frontEnd.suspendFor(() => options.openEditor(plan, "plan.md")),
      setMode: (mode) => this.#active.setMode(mode),
    });
    this.#pastedFiles = new PastedFiles(world);
    this.#userShell = new UserShell(world.clock, () => frontEnd.update());
    this.#markdown = new MarkdownPrinter(frontEnd, createHighlighter(), () => this.#transcript.flush());
    this.#transcript = new TranscriptView({
      clock: world.clock,
      markdown: this.#markdown.options,
      frontEnd,
      showMedia: (media) => this.#showMedia(media),
      announcesCalls: settings["ui.screenReader"],
      showsThinking: settings["ui.thinking"] === "full",
    });
    this.#active = new ActiveSession(options, {
      transcript: this.#transcript,
      frontEnd,
      ide: () => this.#ide,
      prepare: () => this.#markdown.load(),
      openCommandSnapshots: options.openCommandSnapshots,
      onOpen: (opened, isFirst) => this.#showSession(opened, isFirst),
      onClose: () => this.#cancelOutsideChat(),
    });
  }

  /** Runs until the user quits; returns the reason if something else ended it. */
  async run(): Promise<QuitReason | undefined> {
    const { folder, loaded } = this.#options;
    const frontEnd = this.#frontEnd;
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
      this.#ide?.disconnect();
      this.#cancelOutsideChat();
      const id = await this.#active.close();
      if (id !== undefined && this.#quitReason === undefined && this.#options.isSaved)
        frontEnd.print([line(`Resume this session with: parley -r ${id}`, { tone: "muted" })]);
      await this.#options.history.flush();
      await frontEnd.close();
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
    const chat = this.#active.chat;
    if (chat === undefined || chat.busySince !== undefined) return;
    chat.recordForCache(event);
    if (event.type === "task" || event.type === "agent") this.#transcript.handleEvent(event);
    this.#frontEnd.update();
  }

  /** Runs a command of the model that may change files, so that a rewind can restore them. The user's own are not rewound. */
  watchCommand<Result>(run: () => Promise<Result>): Promise<Result> {
    const chat = this.#active.chat;
    if (chat === undefined || this.#userShell.busySince !== undefined) return run();
    return chat.watchCommand(run);
  }

  /* Sessions. */

  /** Opens the first session; asks which one if the user wants to choose. */
  async #openFirst(): Promise<void> {
    const chosen = this.#options.choosesSession === true ? await this.#chooseSession() : undefined;
    if (this.#isQuitting) return;
    await this.#active.open(chosen);
    this.#submitWaiting();
  }

  async #chooseSession(): Promise<SessionChoice> {
    const { world, home, folder } = this.#options;
    const { importReference, listSessionOptions } = await import("./commands/built-in/resume.ts");
    const { parseForeignReference } = await import("../../foreign/agents.ts");
    const root = (await world.disk.canonicalPath(folder)) ?? folder;
    const options = await listSessionOptions(world, home.data, root);
    if (options.length === 0) {
      printInfo(this.#frontEnd, "No session in this folder yet. This is a new one.");
      return "new";
    }
    const picked = await Promise.race([this.#frontEnd.pick("Resume which session?", options), this.#quitting]);
    if (picked === undefined) this.quit();
    if (picked === undefined) return "new";
    const reference = parseForeignReference(picked.id);
    if (reference === undefined) return { id: picked.id };
    const info = (text: string): void => printInfo(this.#frontEnd, text);
    return { id: await importReference(world, home.data, root, reference, info) };
  }

  async #showSession(opened: AgentSession, isFirst: boolean): Promise<void> {
    const frontEnd = this.#frontEnd;
    const { world, folder } = this.#options;
    const branch = await readGitBranch(world, folder);
    frontEnd.print([...viewGreeting(opened, { width: frontEnd.width(), isFirst, branch }), []]);
    await printHistory(opened.session.entries, {
      frontEnd,
      showMarkdown: (markdown) => this.#markdown.print(markdown),
      showMedia: (media) => printMedia(frontEnd, media, opened.agent.conversation().blobs),
    });
    // Not earlier: until now the user was waiting.
    if (isFirst) void this.#loadStatusCommand();
    void this.#markdown.load();
    this.#loadingCommands = this.#findCommands(opened);
    this.#ide?.forget();
    if (isFirst) void this.#reportErrors(() => this.#connectIde());
  }

  /** Connects to the user's editor at start. Loads nothing if there is none. */
  async #connectIde(): Promise<void> {
    const { settings, policy } = this.#active.loaded;
    if (settings["ide.connect"] === "off" || !policy.trusted || !(await mayHaveIde(this.#options.world))) return;
    await (await this.#openIde()).connectAutomatically();
  }

  async #openIde(): Promise<IdeClient> {
    const { world, folder } = this.#options;
    const { IdeClient } = await import("./ide/ide-client.ts");
    return (this.#ide ??= new IdeClient({
      world,
      folder,
      opened: () => this.#active.chat?.opened,
      info: (text) => printInfo(this.#frontEnd, text),
      onChange: () => this.#frontEnd.update(),
    }));
  }

  /** Cancels work outside the chat session. */
  #cancelOutsideChat(): void {
    this.#userShell.stop();
    for (const { stop } of this.#commandWork) stop.abort();
    this.#options.serverQuestions.cancel();
  }

  async #findCommands(opened: AgentSession): Promise<readonly SlashCommand[]> {
    const { world, home, folder } = this.#options;
    const { findCommands } = await import("./commands/custom/custom-commands.ts");
    const project = this.#active.loaded.policy.trusted ? { project: folder } : {};
    const plugins = this.#active.chat?.opened.plugins?.commands ?? [];
    const { openTrustStore } = await import("../../policy/trust/folders.ts");
    const { isTrusted } = openTrustStore(world.disk, home.config);
    const places = { disk: world.disk, home: home.config, userHome: world.host.home, isTrusted, plugins, ...project };
    const { commands, problems } = await findCommands(places);
    for (const problem of problems) printInfo(this.#frontEnd, problem);
    this.#customCommands = [...(await this.#skillCommands(opened, commands)), ...commands];
    return this.#customCommands;
  }

  /** Skills the person can activate, without those whose names a custom command has. */
  async #skillCommands(opened: AgentSession, commands: readonly SlashCommand[]): Promise<readonly SlashCommand[]> {
    const skills = opened
      .skills()
      .filter(({ name, isForPeople }) => isForPeople && !commands.some((command) => command.name === name));
    if (skills.length === 0) return [];
    const { skillCommand } = await import("./commands/custom/skill-command.ts");
    return skills.map(skillCommand);
  }

  #showMedia(media: Media): void {
    printMedia(this.#frontEnd, media, this.#active.chat?.opened.agent.conversation().blobs ?? {});
  }

  /* User actions. */

  /** Handles a submitted text, or keeps it until a session is open and no command may replace it. */
  #submit(prompt: SubmittedPrompt): void {
    this.#argumentCompletions.clearCache();
    if (prompt.parts === undefined) this.#options.history.add(prompt.marked);
    if (this.#active.chat !== undefined && this.#exclusiveCommands === 0) return this.#handle(prompt);
    if (isQuitCommand(prompt.marked)) return this.quit();
    this.#waitingPrompts.push(prompt);
    this.#frontEnd.update();
  }

  /** Handles the prompts that waited, until one of them makes the others wait again. */
  #submitWaiting(): void {
    while (this.#active.chat !== undefined && this.#exclusiveCommands === 0) {
      const prompt = this.#waitingPrompts.shift();
      if (prompt === undefined) return;
      this.#handle(prompt);
    }
  }

  #handle(prompt: SubmittedPrompt): void {
    const { marked, isShown } = prompt;
    const text = expandMarkedText(marked);
    const isMessage = prompt.parts !== undefined || !/^(?:\s*\/[\w:.-]+(?:\s|$)|!)/.test(text);
    if (prompt.parts === undefined && isMemory(text))
      return void this.#reportErrors(() => this.#addToMemory(text.slice(1).trim()));
    if (isMessage) return void this.#reportErrors(() => this.#send(prompt));
    if (!isShown) this.#showPrompt(marked);
    const [, name, args = ""] = /^\/([\w:.-]+)(?:\s+(.*))?$/s.exec(text.trim()) ?? [];
    if (name !== undefined) void this.#runCommand(name, args.trim());
    else void this.#reportErrors(() => this.#runPromptShell(text.slice(1).trim()));
  }

  async #addToMemory(fact: string): Promise<void> {
    const { addToMemory } = await import("./commands/built-in/memory.ts");
    await addToMemory(fact, this.#commandContext());
  }

  #showPrompt(marked: string): void {
    this.#frontEnd.print(viewUserPrompt(marked, this.#frontEnd.width()));
  }

  /** Sends a message, or queues it; without a session it waits for one. Nothing is awaited before the session has it. */
  async #send(prompt: SubmittedPrompt): Promise<void> {
    const { marked, isShown, sendAfter, parts = [] } = prompt;
    const chat = this.#active.chat;
    if (chat === undefined) return void this.#waitingPrompts.push(prompt);
    const files = this.#pastedFiles.take(marked);
    chat.opened.addBlobs(files.blobs);
    const show = (): void => {
      this.#transcript.beginTurn(pastesOf(marked));
      if (!isShown) this.#showPrompt(marked);
      for (const part of files.parts) if (part.type === "media") this.#showMedia(part);
    };
    await chat.submit({ marked, parts: [...files.parts, ...parts], show, restore: files.restore }, sendAfter);
  }

  /** Runs a command. Prompts wait while it is looked up, and while it runs if it is exclusive. */
  async #runCommand(name: string, args: string): Promise<void> {
    this.#exclusiveCommands += 1;
    const release = once(() => {
      this.#exclusiveCommands -= 1;
      this.#submitWaiting();
    });
    try {
      await this.#loadingCommands;
      const command = await findCommand(name, this.#commands());
      if (typeof command === "string") return printInfo(this.#frontEnd, command);
      const running = this.#reportErrors(async () => command.run(args, this.#commandContext()));
      if (command.isExclusive !== true) release();
      await running;
    } finally {
      release();
    }
    await this.#active.chat?.refreshContextUsage();
  }

  /** Reports an error of a command without affecting anything else. */
  async #reportErrors(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      printError(this.#frontEnd, error instanceof Error ? error.message : String(error));
    }
    this.#frontEnd.update();
  }

  #commands(): readonly SlashCommand[] {
    return listCommands(this.#customCommands, this.#active.chat?.opened.servers);
  }

  /** Runs a shell command the user typed. The session that was open gets its output with the next prompt. */
  async #runPromptShell(command: string): Promise<void> {
    const chat = this.#active.chat;
    chat?.addToNextPrompt(shellContextPart(await this.#runShell(command)));
  }

  async #runShell(command: string): Promise<ShellResult> {
    const result = await this.#userShell.run(command, await this.#active.opened().services());
    this.#frontEnd.print([...viewShellResult(result, this.#frontEnd.width()), []]);
    return result;
  }

  /** Runs the work of a command, with its lines and a spinner, until it ends or the user cancels it. */
  async #runWork<Result>(
    { label, live }: CommandWorkView,
    work: (signal: AbortSignal, report: (done: number, total: number) => void) => Promise<Result>,
  ): Promise<Result> {
    const stop = new AbortController();
    const running: CommandWork = { label, live, stop, since: this.#options.world.clock.elapsed() };
    this.#commandWork.add(running);
    this.#frontEnd.update();
    try {
      return await work(stop.signal, (done, total) => {
        if (total > 0) running.share = done / total;
        this.#frontEnd.update();
      });
    } catch (error) {
      throw stop.signal.aborted ? new Error("Cancelled.", { cause: error }) : error;
    } finally {
      this.#commandWork.delete(running);
      this.#frontEnd.update();
    }
  }

  async #editBeforeApproval({ approval: { subject }, call, agent }: PendingApproval): Promise<void> {
    if (subject.type !== "edit") return;
    const edited = await this.#frontEnd.suspendFor(() => this.#options.openEditor(subject.after, subject.path));
    if (edited !== undefined) this.#active.opened().agent.decide(call, { type: "edit", text: edited }, agent);
    this.#frontEnd.update();
  }

  /** The lines that may still change: running calls, then the to-do list and background tasks. */
  #live(width: number): readonly StyledLine[] {
    const opened = this.#active.chat?.opened;
    const todos = viewTodoList(opened?.todos() ?? [], width);
    return [
      ...this.#transcript.live(),
      ...this.#userShell.live(width),
      ...[...this.#commandWork].flatMap(({ live }) => live?.() ?? []),
      ...(todos.length === 0 ? [] : [[], ...todos]),
      ...viewTaskRow(opened?.tasks()?.list() ?? [], width),
    ];
  }

  /** Decides a question. The editor closes its diff; the user may have changed the text there. */
  async #answerApproval(question: PendingApproval, decision: ApprovalDecision): Promise<void> {
    const { call, agent } = question;
    const decided = this.#ide === undefined ? decision : await this.#ide.reconsider(question, decision);
    this.#active.chat?.opened.agent.decide(call, decided, agent);
  }

  #status(width: number): StyledLine {
    const { isSandboxed } = this.#options;
    const isTrusted = this.#active.loaded.policy.trusted;
    const chat = this.#active.chat;
    const status = chat && {
      ...chatStatus(chat),
      mode: this.#active.mode,
      isTrusted,
      isSandboxed,
      ide: this.#ide?.status,
    };
    if (status !== undefined) this.#statusCommand?.update({ folder: this.#options.folder, ...status });
    return viewStatusLine(status && { ...status, custom: this.#statusCommand?.text }, width);
  }

  /** Loads the user's own status line, if they have set one. A project cannot. */
  async #loadStatusCommand(): Promise<void> {
    const { world, folder, loaded } = this.#options;
    const command = loaded.settings["ui.statusLine"];
    if (command === undefined || command === "") return;
    const { CustomStatusLine } = await import("./custom-status-line.ts");
    this.#statusCommand = new CustomStatusLine({ world, command, folder, onChange: () => this.#frontEnd.update() });
    this.#frontEnd.update();
  }

  /** The state and actions a front end uses. */
  #host(): FrontEndHost {
    const { openEditor, serverQuestions } = this.#options;
    return {
      live: () => this.#live(this.#frontEnd.width()),
      status: (width) => this.#status(width),
      busySince: () => this.#active.chat?.busySince ?? this.#userShell.busySince ?? [...this.#commandWork].at(0)?.since,
      work: () => [...this.#commandWork].at(0),
      questions: () => this.#active.chat?.opened.agent.pendingApprovals() ?? [],
      markPrinted: ({ call, agent, approval: { subject } }) => {
        if (agent === undefined && subject.type === "edit") this.#transcript.markPatchPrinted(call, subject.patch);
      },
      answerApproval: (question, decision) => void this.#answerApproval(question, decision),
      serverQuestions: () => serverQuestions.pending(),
      answerServer: (question, answer) => serverQuestions.answer(question, answer),
      model: () => (this.#active.chat === undefined ? "the model" : modelName(this.#active.chat.opened.agent.model())),
      editBeforeApproval: (question) => void this.#reportErrors(() => this.#editBeforeApproval(question)),
      complete: (query) => {
        if (query.kind === "command") return commandChoices(this.#commands());
        if (query.kind === "argument") return this.#argumentCompletions.complete(query, this.#commands());
        return this.#active.chat === undefined ? [] : completeMention(query.query, this.#active.chat.opened);
      },
      resolvePaste: (text) => this.#pastedFiles.paste(text),
      pasteClipboardImage: () => this.#pastedFiles.pasteClipboardImage(),
      submit: (marked, sendAfter) => this.#submit({ marked, isShown: this.#frontEnd.echoesInput, sendAfter }),
      queued: () => [
        ...(this.#active.chat?.queued() ?? []),
        ...this.#waitingPrompts.map(({ marked }) => ({
          marked,
          sendAfter: this.#exclusiveCommands > 0 ? ("command" as const) : ("start" as const),
        })),
      ],
      takeBackQueued: () => this.#waitingPrompts.pop()?.marked ?? this.#active.chat?.takeBackQueued(),
      editPrompt: async (text) =>
        (await this.#frontEnd.suspendFor(() => openEditor(text, "message.md")))?.replace(/\n$/, ""),
      cancel: () => {
        this.#userShell.stop();
        for (const { stop } of this.#commandWork) stop.abort();
        serverQuestions.cancel();
        void this.#active.chat?.cancel();
      },
      quit: (reason) => this.quit(reason),
      expandCollapsed: () => {
        if (!this.#transcript.expandCollapsed()) this.#frontEnd.print([line("Nothing to expand.", { tone: "muted" })]);
      },
      canMoveToBackground: () => this.#active.chat?.opened.tasks()?.canMoveToBackground ?? false,
      moveToBackground: () => (this.#active.chat?.opened.tasks()?.moveToBackground() ?? 0) > 0,
      switchToNextFavourite: () =>
        void this.#reportErrors(async () => {
          if (this.#active.chat === undefined) return;
          const { switchToNextFavourite } = await import("./commands/built-in/model.ts");
          await switchToNextFavourite("", this.#commandContext());
        }),
      toggleThinking: () =>
        this.#frontEnd.print([
          line(this.#transcript.toggleThinking() ? "Thinking is shown in full." : "Thinking is shown by its topic.", {
            tone: "muted",
          }),
        ]),
      rewind: () => void this.#runCommand("rewind", ""),
      cycleApprovalMode: () => void this.#reportErrors(() => this.#active.setMode(modeCycle[this.#active.mode])),
    };
  }

  /** The services slash commands can use. */
  #commandContext(): SlashCommandContext {
    const { home, folder, openEditor, login, parley, addFolder } = this.#options;
    const frontEnd = this.#frontEnd;
    return {
      world: this.#active.world,
      home,
      folder,
      loaded: () => this.#active.loaded,
      opened: () => this.#active.opened(),
      snapshots: () => this.#active.snapshots(),
      requests: () => this.#active.chat?.requests ?? [],
      commandSnapshots: () => this.#active.commandSnapshots(),
      reopen: async (resume) => {
        await this.#active.reopen(resume).catch((error: unknown) => {
          // Neither the wanted session nor the one before could be opened.
          if (this.#active.chat === undefined) this.quit();
          throw error;
        });
        this.#submitWaiting();
      },
      info: (text) => printInfo(this.#frontEnd, text),
      warn: (text) => printError(this.#frontEnd, text),
      print: (lines) => frontEnd.print(lines),
      printMarkdown: (markdown) => this.#markdown.print(markdown),
      pick: (title, options, focused) => frontEnd.pick(title, options, focused),
      confirm: (title, options) => frontEnd.confirm(title, options),
      sendsWholeTurn: true,
      send: (marked, parts = []) => this.#send({ marked, parts, isShown: true }),
      restoreDraft: (text) => frontEnd.restoreDraft(text),
      openEditor: (text, name) => frontEnd.suspendFor(() => openEditor(text, name)),
      copyToClipboard: (text) => frontEnd.copyToClipboard(text),
      runShell: (command) => this.#runShell(command),
      runWork: (view, work) => this.#runWork(view, work),
      setTheme: (theme) => frontEnd.setTheme(theme),
      setMode: (mode) => this.#active.setMode(mode),
      ide: () => this.#openIde(),
      parley,
      addFolder,
      login: (args) => frontEnd.suspendFor(() => login(args)),
      commands: () => this.#commands(),
      width: () => frontEnd.width(),
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

const isQuitCommand = (marked: string): boolean => /^\s*\/(?:quit|exit|q)\s*$/.test(marked);

/** Returns a function that does its work on the first call only. */
const once = (work: () => void): (() => void) => {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
};
