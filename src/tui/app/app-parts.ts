import type { AgentEvent } from "../../agent/events.ts";
import type { AgentSession } from "../../agent/open-agent.ts";
import type { Media } from "../../conversation/parts.ts";
import type { Terminal } from "../../world/terminal.ts";
import { CodeColours, type ColourLines } from "../markdown/code-colours.ts";
import { createHighlighter } from "../markdown/highlight.ts";
import type { Theme } from "../screen/theme.ts";
import { AppStatus } from "./app-status.ts";
import type { ServerQuestions } from "./approvals/server-questions.ts";
import { createCommandContext } from "./command-context.ts";
import { CommandCatalog } from "./commands/command-catalog.ts";
import { CommandWork } from "./commands/command-work.ts";
import type { SlashCommandContext } from "./commands/slash-command.ts";
import { createFrontEndHost } from "./front-end-host.ts";
import type { FrontEnd, FrontEndHost, QuitReason } from "./front-ends/front-end.ts";
import { IdeConnection } from "./ide/ide-connection.ts";
import { ArgumentCompletions } from "./input/argument-completions.ts";
import type { InputHistory } from "./input/history.ts";
import { PastedFiles } from "./input/pasted-files.ts";
import { PromptRouter } from "./input/prompt-router.ts";
import { ActiveSession, type SessionSource, type OpenedWhich } from "./session/active-session.ts";
import type { ChatOptions } from "./session/chat-session.ts";
import { UserShell } from "./session/user-shell.ts";
import type { LoadedTheme } from "./theme-file.ts";
import { MarkdownPrinter } from "./transcript/markdown-printer.ts";
import { printMedia } from "./transcript/media.ts";
import { printError, printInfo } from "./transcript/message.ts";
import { diffPath } from "./transcript/event-text.ts";
import { TranscriptView } from "./transcript/transcript-view.ts";

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

/** The start and end of the app, which its parts can reach. */
export type AppLifecycle = {
  readonly quit: (reason?: QuitReason) => void;
  /** Shows a session before it accepts prompts. */
  readonly showSession: (opened: AgentSession, which: OpenedWhich) => Promise<void>;
};

/** Creates a front end for an app. */
export type CreateFrontEnd = (host: FrontEndHost, theme: Theme | undefined) => FrontEnd;

/** The parts of the terminal app, connected. Each has one concern and reaches the others through this. */
export class AppParts {
  readonly options: TerminalAppOptions;
  readonly quit: (reason?: QuitReason) => void;
  readonly frontEnd: FrontEnd;
  readonly active: ActiveSession;
  readonly markdown: MarkdownPrinter;
  readonly #codeColours: CodeColours;
  readonly transcript: TranscriptView;
  readonly status: AppStatus;
  readonly prompts: PromptRouter;
  readonly pastedFiles: PastedFiles;
  readonly argumentCompletions: ArgumentCompletions = new ArgumentCompletions(() => this.commandContext());
  readonly catalog: CommandCatalog;
  readonly work: CommandWork;
  readonly userShell: UserShell;
  readonly ide: IdeConnection;

  constructor(options: TerminalAppOptions, { quit, showSession }: AppLifecycle, createFrontEnd: CreateFrontEnd) {
    const { world, loaded, serverQuestions, openEditor } = options;
    const { settings } = loaded;
    this.options = options;
    this.quit = quit;
    this.prompts = new PromptRouter(this);
    this.frontEnd = createFrontEnd(createFrontEndHost(this), options.theme.theme);
    const frontEnd = this.frontEnd;
    serverQuestions.listen({
      onChange: () => frontEnd.update(),
      info: (text) => printInfo(frontEnd, text),
      showPlan: (plan) => this.markdown.print(plan),
      editPlan: (plan) => frontEnd.suspendFor(() => openEditor(plan, "plan.md")),
      setMode: (mode) => this.active.setMode(mode),
    });
    this.pastedFiles = new PastedFiles(world);
    this.userShell = new UserShell(world.clock, () => frontEnd.update());
    this.work = new CommandWork(world.clock, () => frontEnd.update());
    this.status = new AppStatus(this);
    this.catalog = new CommandCatalog(this);
    this.ide = new IdeConnection(this);
    const highlighter = createHighlighter();
    this.#codeColours = new CodeColours(highlighter);
    this.markdown = new MarkdownPrinter(frontEnd, highlighter, () => this.transcript.flush());
    this.transcript = new TranscriptView({
      clock: world.clock,
      markdown: this.markdown.options,
      frontEnd,
      coloursOf: this.coloursOf,
      showMedia: this.showMedia,
      announcesCalls: settings["ui.screenReader"],
      showsThinking: settings["ui.thinking"] === "full",
    });
    this.active = new ActiveSession(options, {
      transcript: this.transcript,
      frontEnd,
      ide: () => this.ide.client,
      prepare: () => this.markdown.load(),
      sumsUpTurns: settings["ui.turnSummary"] ?? true,
      prepareEvent: (event) => this.#prepareEvent(event),
      openCommandSnapshots: options.openCommandSnapshots,
      onOpen: showSession,
      onClose: () => this.cancelOutsideChat(),
    });
  }

  /** The services slash commands can use. */
  readonly commandContext = (): SlashCommandContext => createCommandContext(this);

  readonly showMedia = (media: Media, above?: string): void =>
    printMedia(this.frontEnd, media, this.active.chat?.opened.agent.conversation().blobs ?? {}, above);

  /** The colours of code in a diff. */
  readonly coloursOf = (path: string): ColourLines | undefined =>
    this.frontEnd.coloursDiffs ? this.#codeColours.of(path) : undefined;

  /** Loads the language of a diff that is about to be shown. */
  #prepareEvent(event: AgentEvent): Promise<void> | undefined {
    const path = this.frontEnd.coloursDiffs ? diffPath(event) : undefined;
    return path === undefined ? undefined : this.#codeColours.load(path);
  }

  /** Reports an error of an action without affecting anything else. */
  readonly reportErrors = async (action: () => Promise<void>): Promise<void> => {
    try {
      await action();
    } catch (error) {
      printError(this.frontEnd, error instanceof Error ? error.message : String(error));
    }
    this.frontEnd.update();
  };

  /** Cancels work outside the chat session. */
  cancelOutsideChat(): void {
    this.userShell.stop();
    this.work.cancel();
    this.options.serverQuestions.cancel();
  }
}
