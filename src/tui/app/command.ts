import type { Opened } from "../../agent/open.ts";
import type { World } from "../../world/index.ts";
import type { Choice } from "../editor/completion.ts";
import type { Line } from "../text/style.ts";
import type { Option } from "../views/picker.ts";

/** A command a person types after a slash. */
export type SlashCommand = {
  readonly name: string;
  /** What follows the name. */
  readonly usage?: string;
  readonly about: string;
  readonly run: (words: string, at: Desk) => void | Promise<void>;
};

/** What commands can do. */
export type Desk = {
  readonly world: World;
  readonly home: string;
  readonly folder: string;
  readonly opened: () => Opened;
  /** Ends this session and goes on with another, or with a new one. */
  readonly reopen: (resume?: { readonly id: string }) => Promise<void>;
  readonly say: (text: string) => void;
  readonly print: (lines: readonly Line[]) => void;
  /** Shows Markdown. */
  readonly show: (markdown: string) => void;
  readonly warn: (text: string) => void;
  /** Lets the person pick one of several things; undefined where they do not. */
  readonly pick: (title: string, options: readonly Option[], focused?: string) => Promise<Option | undefined>;
  /** Says something to the model, as if it had been typed. */
  readonly send: (text: string) => void;
  /** Opens a text in the person's own editor; undefined where it was left unchanged. */
  readonly edit: (text: string, name: string) => Promise<string | undefined>;
  /** Puts text on the clipboard of the terminal. */
  readonly copy: (text: string) => Promise<void>;
  readonly setTheme: (theme: "auto" | "light" | "dark") => void;
  readonly commands: () => readonly SlashCommand[];
  readonly width: () => number;
  readonly leave: () => void;
};

/** Commands as completion shows them. */
export const commandChoices = (commands: readonly SlashCommand[]): readonly Choice[] =>
  commands.map(({ name, about }) => ({ label: name, detail: about, insert: name }));
