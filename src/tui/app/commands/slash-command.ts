import type { AgentSession } from "../../../agent/open-agent.ts";
import type { UserPart } from "../../../conversation/parts.ts";
import type { ApprovalMode } from "../../../policy/gate/approval-mode.ts";
import type { LoadedSettings } from "../../../settings/load/load.ts";
import type { World } from "../../../world/world.ts";
import type { CompletionChoice } from "../../editor/completion.ts";
import type { Theme } from "../../screen/theme.ts";
import type { StyledLine } from "../../text/style.ts";
import type { PickerOption } from "../../views/picker.ts";
import type { ShellResult } from "../session/user-shell.ts";
import type { EditSnapshots } from "../session/edit-snapshots.ts";

/** A command a person types after a slash. */
export type SlashCommand = {
  readonly name: string;
  /** What follows the name. */
  readonly usage?: string;
  readonly description: string;
  /** What can be written after it, word by word. */
  readonly arguments?: readonly CommandArgument[];
  readonly run: (words: string, at: SlashCommandContext) => void | Promise<void>;
};

/** A word after a command: what it can be, and whether another word may be meant too. */
export type CommandArgument = {
  readonly options: (at: SlashCommandContext) => readonly PickerOption[] | Promise<readonly PickerOption[]>;
  readonly acceptsOther?: (word: string) => boolean;
};

/** Which session to go on with. */
export type SessionChoice = { readonly id: string } | "new";

/** What commands can do. */
export type SlashCommandContext = {
  readonly world: World;
  readonly home: string;
  readonly folder: string;
  readonly loaded: () => LoadedSettings;
  readonly opened: () => AgentSession;
  readonly snapshots: () => EditSnapshots;
  /** Ends this session and goes on with another, or with a new one. Settings are read anew. */
  readonly reopen: (resume: SessionChoice) => Promise<void>;
  readonly info: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly print: (lines: readonly StyledLine[]) => void;
  /** Shows Markdown. */
  readonly printMarkdown: (markdown: string) => Promise<void>;
  /** Lets the person pick one of several things; undefined where they do not. */
  readonly pick: (
    title: string,
    options: readonly PickerOption[],
    focused?: string,
  ) => Promise<PickerOption | undefined>;
  /** Asks the person to decide something they did not ask for; what they type meanwhile is never an answer. */
  readonly confirm: (title: string, options: readonly PickerOption[]) => Promise<PickerOption | undefined>;
  /** Says something to the model, as if it had been typed; parts stand after the words. */
  readonly send: (text: string, parts?: readonly UserPart[]) => Promise<void>;
  /** Opens a text in the person's own editor; undefined where it was left unchanged. */
  readonly openEditor: (text: string, name: string) => Promise<string | undefined>;
  /** Puts text on the clipboard of the terminal. */
  readonly copyToClipboard: (text: string) => Promise<void>;
  /** Runs a line in the shell, shown as it goes. */
  readonly runShell: (command: string) => Promise<ShellResult>;
  readonly setTheme: (theme: Theme | undefined) => void;
  /** From now on, and for what waits. */
  readonly setMode: (mode: ApprovalMode) => Promise<void>;
  /** What `parley doctor` prints. */
  readonly doctor: () => Promise<string>;
  readonly commands: () => readonly SlashCommand[];
  readonly width: () => number;
  readonly quit: () => void;
};

/** Commands as completion shows them. */
export const commandChoices = (commands: readonly SlashCommand[]): readonly CompletionChoice[] =>
  commands.map(({ name, description: about }) => ({ label: name, detail: about, insert: name }));
