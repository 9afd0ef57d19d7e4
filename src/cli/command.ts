/** A command as data: its help, arguments and shell completion are generated from it. */
export type CommandSpec = {
  readonly name: string;
  readonly about: string;
  /** The usage line after the command name. */
  readonly usage: string;
  /** Names of the positional arguments: `[X]` is optional, `[X...]` takes any number. */
  readonly positionals: readonly string[];
  /** Possible first arguments, if it is not a file. Checked by the command itself. */
  readonly choices?: Choices;
  /** Possible second arguments, by first argument. */
  readonly secondChoices?: { readonly [first: string]: Choices };
  readonly details: readonly string[];
  readonly options: readonly CommandOption[];
  readonly example: string;
  readonly exitCodes: readonly string[];
  /** Loads the handler. Absent for chat, which main.ts starts itself. */
  readonly load?: () => Promise<CommandHandler>;
};

/** Runs a command and returns the exit code. `commands` are all commands, for completion scripts. */
export type CommandHandler = (args: Arguments, commands: readonly CommandSpec[]) => number | Promise<number>;

/** The arguments of a command, checked against its spec. */
export type Arguments = {
  readonly positionals: readonly string[];
  /** The value of an option; the last one if it was given several times. */
  readonly value: (option: string) => string | undefined;
  /** All values of an option. */
  readonly values: (option: string) => readonly string[];
  /** Whether an option is given. */
  readonly has: (option: string) => boolean;
};

/** An option of a command. Without a `value` it is a boolean flag. */
export type CommandOption = {
  readonly name: string;
  /** One-letter short form. */
  readonly short?: string;
  readonly about: string;
  readonly value?: string;
  /** Whether the value can be left out; it is then the empty text. */
  readonly isValueOptional?: boolean;
  /** Possible values. Only a fixed list is enforced when arguments are parsed. */
  readonly values?: Choices;
};

/** Possible values: a fixed list, a list another folder has, or names read from disk when completing. */
export type Choices =
  | readonly string[]
  | "targets"
  | "sources"
  | "wires"
  | "formats"
  | "providers"
  | "simulators"
  | "settings"
  | "sessions"
  | "conversations"
  | "files";
