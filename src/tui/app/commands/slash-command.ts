import type { HomeFolders } from "../../../world/home-folders.ts";
import type { AgentSession } from "../../../agent/open-agent.ts";
import type { UserPart } from "../../../conversation/parts.ts";
import type { ApprovalMode } from "../../../policy/gate/approval-mode.ts";
import type { LoadedSettings } from "../../../settings/load/load.ts";
import type { World } from "../../../world/world.ts";
import type { CompletionChoice } from "../../editor/completion.ts";
import type { Theme } from "../../screen/theme.ts";
import type { StyledLine } from "../../text/style.ts";
import type { KeyRemap } from "../../keys/key-file.ts";
import type { PickerOption } from "../../views/picker.ts";
import type { IdeClient } from "../ide/ide-client.ts";
import type { ShellResult } from "../session/user-shell.ts";
import type { RequestUsage } from "../session/chat-session.ts";
import type { CommandSnapshots } from "../session/command-changes.ts";
import type { EditSnapshots } from "../session/edit-snapshots.ts";

/** A command typed after a slash. */
export type SlashCommand = {
  readonly name: string;
  /** Other names, which are listed only once their beginning, and not that of the name, is typed. */
  readonly aliases?: readonly string[];
  /** The arguments, as shown in the help. */
  readonly usage?: string;
  readonly description: string;
  /** Completion of the arguments, one by one. */
  readonly arguments?: readonly CommandArgument[];
  /** Whether prompts wait until it has ended, because it may open another session or changes the conversation. */
  readonly isExclusive?: true;
  readonly run: (words: string, at: SlashCommandContext) => void | Promise<void>;
};

/** An argument: its options, and whether other values are accepted. */
export type CommandArgument = {
  readonly options: (at: SlashCommandContext) => readonly PickerOption[] | Promise<readonly PickerOption[]>;
  readonly acceptsOther?: (word: string) => boolean;
};

/** The name of work that takes a while, and lines shown above the spinner. */
export type CommandWorkView = { readonly label: string; readonly live?: () => readonly StyledLine[] };

/** The session to open. */
export type SessionChoice = { readonly id: string } | "new";

/** The services slash commands can use. */
export type SlashCommandContext = {
  readonly world: World;
  readonly home: HomeFolders;
  readonly folder: string;
  readonly loaded: () => LoadedSettings;
  readonly opened: () => AgentSession;
  readonly snapshots: () => EditSnapshots;
  /** The usage of every response since the session was opened. */
  readonly requests: () => readonly RequestUsage[];
  /** The stored files around commands. */
  readonly commandSnapshots: () => Promise<CommandSnapshots>;
  /** Closes this session and opens another or a new one. Settings are read again. */
  readonly reopen: (resume: SessionChoice) => Promise<void>;
  readonly info: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly print: (lines: readonly StyledLine[]) => void;
  /** Prints Markdown. */
  readonly printMarkdown: (markdown: string) => Promise<void>;
  /** Renders Markdown as the transcript does, for a width. */
  readonly renderMarkdown: (markdown: string, width: number) => Promise<readonly StyledLine[]>;
  /** Opens a picker; resolves to undefined if the user cancels. */
  readonly pick: (
    title: string,
    options: readonly PickerOption[],
    focused?: string,
  ) => Promise<PickerOption | undefined>;
  /** Asks for a decision the user did not initiate; what they type meanwhile is never an answer. */
  readonly confirm: (title: string, options: readonly PickerOption[]) => Promise<PickerOption | undefined>;
  /** Sends a prompt as if it had been typed; parts follow the text. */
  readonly send: (text: string, parts?: readonly UserPart[]) => Promise<void>;
  /** Whether `send` resolves at the end of the turn it starts. */
  readonly sendsWholeTurn: boolean;
  /** Puts a message, a marked text, back into the input. */
  readonly restoreDraft: (marked: string) => void;
  /** Reads the prompts typed in this project, as marked texts. */
  readonly readInputHistory: () => Promise<readonly string[]>;
  /** Opens a text in the user's editor; resolves to undefined if it was left unchanged. */
  readonly openEditor: (text: string, name: string) => Promise<string | undefined>;
  /** Copies text to the terminal's clipboard (OSC 52). */
  readonly copyToClipboard: (text: string) => Promise<void>;
  /** Runs a shell command and shows its output. */
  readonly runShell: (command: string) => Promise<ShellResult>;
  /** Runs work that takes a while: shows a spinner, with a bar once the work reports how much is done. Esc aborts it. */
  readonly runWork: <Result>(
    view: CommandWorkView,
    work: (signal: AbortSignal, report: (done: number, total: number) => void) => Promise<Result>,
  ) => Promise<Result>;
  readonly setTheme: (theme: Theme | undefined) => void;
  /** Applies to later calls and to pending questions. */
  readonly setMode: (mode: ApprovalMode) => Promise<void>;
  /** The connection to the user's editor. */
  readonly ide: () => Promise<IdeClient>;
  /** Returns the output of Parley with these arguments. */
  readonly parley: (args: readonly string[], signal?: AbortSignal) => Promise<string>;
  /** Adds a folder to the workspace of sessions opened from now on. */
  readonly addFolder: (path: string) => void;
  /** Runs `parley login` with these arguments, with the terminal released. Returns its exit code. */
  readonly login: (args: readonly string[]) => Promise<number>;
  readonly commands: () => readonly SlashCommand[];
  readonly width: () => number;
  /** The user's own keys. */
  readonly keyRemap: () => KeyRemap | undefined;
  readonly quit: () => void;
};

/** The services of commands that only send a prompt: those of files and of skills. They need no terminal. */
export type PromptCommandContext = Pick<
  SlashCommandContext,
  | "world"
  | "folder"
  | "opened"
  | "info"
  | "warn"
  | "print"
  | "confirm"
  | "send"
  | "sendsWholeTurn"
  | "runShell"
  | "width"
>;

/** A command that only sends a prompt. */
export type PromptCommand = Omit<SlashCommand, "run"> & {
  readonly run: (words: string, at: PromptCommandContext) => Promise<void>;
};

/** Slash commands as completion choices. */
export const commandChoices = (commands: readonly SlashCommand[], typed: string): readonly CompletionChoice[] =>
  commands.flatMap(({ name, aliases = [], description }) =>
    [name, ...(name.startsWith(typed) ? [] : aliases.filter((alias) => alias.startsWith(typed)))].map((each) => ({
      label: each,
      detail: description,
      insert: each,
    })),
  );
