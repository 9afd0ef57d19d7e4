import type { Opened } from "../../agent/open.ts";
import type { UserPart } from "../../conversation/parts.ts";
import type { ApprovalMode } from "../../policy/mode.ts";
import type { Loaded } from "../../settings/load.ts";
import type { World } from "../../world/world.ts";
import type { Choice } from "../editor/completion.ts";
import type { Theme } from "../screen/theme.ts";
import type { Line } from "../text/style.ts";
import type { Option } from "../views/picker.ts";
import type { ShellLine } from "./shell-line.ts";
import type { Snapshots } from "./snapshots.ts";

/** A command a person types after a slash. */
export type SlashCommand = {
  readonly name: string;
  /** What follows the name. */
  readonly usage?: string;
  readonly about: string;
  /** What can be written after it, word by word. */
  readonly arguments?: readonly Argument[];
  readonly run: (words: string, at: Desk) => void | Promise<void>;
};

/** A word after a command: what it can be, and whether another word may be meant too. */
export type Argument = {
  readonly options: (at: Desk) => readonly Option[] | Promise<readonly Option[]>;
  readonly mayBe?: (word: string) => boolean;
};

/** Which session to go on with. */
export type Resume = { readonly id: string } | "new";

/** What commands can do. */
export type Desk = {
  readonly world: World;
  readonly home: string;
  readonly folder: string;
  readonly loaded: () => Loaded;
  readonly opened: () => Opened;
  readonly snapshots: () => Snapshots;
  /** Ends this session and goes on with another, or with a new one. Settings are read anew. */
  readonly reopen: (resume: Resume) => Promise<void>;
  readonly say: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly print: (lines: readonly Line[]) => void;
  /** Shows Markdown. */
  readonly show: (markdown: string) => Promise<void>;
  /** Lets the person pick one of several things; undefined where they do not. */
  readonly pick: (title: string, options: readonly Option[], focused?: string) => Promise<Option | undefined>;
  /** Asks the person to decide something they did not ask for; what they type meanwhile is never an answer. */
  readonly confirm: (title: string, options: readonly Option[]) => Promise<Option | undefined>;
  /** Says something to the model, as if it had been typed; parts stand after the words. */
  readonly send: (text: string, parts?: readonly UserPart[]) => Promise<void>;
  /** Opens a text in the person's own editor; undefined where it was left unchanged. */
  readonly edit: (text: string, name: string) => Promise<string | undefined>;
  /** Puts text on the clipboard of the terminal. */
  readonly copy: (text: string) => Promise<void>;
  /** Runs a line in the shell, shown as it goes. */
  readonly shell: (command: string) => Promise<ShellLine>;
  readonly setTheme: (theme: Theme | undefined) => void;
  /** From now on, and for what waits. */
  readonly setMode: (mode: ApprovalMode) => Promise<void>;
  /** What `parley doctor` prints. */
  readonly doctor: () => Promise<string>;
  readonly commands: () => readonly SlashCommand[];
  readonly width: () => number;
  readonly leave: () => void;
};

/** Commands as completion shows them. */
export const commandChoices = (commands: readonly SlashCommand[]): readonly Choice[] =>
  commands.map(({ name, about }) => ({ label: name, detail: about, insert: name }));
