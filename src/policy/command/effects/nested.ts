import { literalText, sourceText, type PossibleWord } from "../parse/word.ts";

/** The words of one command, its name first. */
export type CommandWords = readonly PossibleWord[];

/** The commands that a command runs, and scripts still to be parsed. `mayRunUnseen` if there may be more than its words show. */
export type NestedCommands = {
  readonly runs: readonly CommandWords[];
  readonly scripts: readonly string[];
  readonly mayRunUnseen: boolean;
  /** Whether a shell runs its input. */
  readonly runsInput?: true;
  /** Code in other languages than the shell's, which can run commands too. */
  readonly code?: readonly string[];
  /** The arguments a script gets as `$1` and so on. */
  readonly scriptArguments?: readonly string[];
};

/** Finds what a shell runs: the script after `-c`. The content of a script file is not known. */
export const nestedInShell = (words: CommandWords): NestedCommands => {
  let isScript = false;
  for (let at = 1; at < words.length; at++) {
    const word = literalText(words[at] ?? []);
    if (word === undefined && !isScript)
      return { runs: [], scripts: words.slice(at).map(sourceText), mayRunUnseen: true, runsInput: true };
    if (word !== undefined && /^(?:--rcfile|--init-file)$/.test(word)) at++;
    else if (word !== undefined && /^[-+][A-Za-z]+$/.test(word)) {
      isScript ||= word.startsWith("-") && word.includes("c");
      if (/[oO]/.test(word) && !word.startsWith("-c")) at++;
    } else if (word === undefined || !word.startsWith("-")) {
      return isScript ? nestedInScript(words.slice(at)) : nestedInFile(words.slice(at));
    }
  }
  return { runs: [], scripts: [], mayRunUnseen: true, runsInput: true };
};

/** A script file, which may be standard input under another name. */
export const nestedInFile = ([file = []]: CommandWords): NestedCommands => {
  const path = literalText(file);
  const isInput = path === undefined || path === "-" || /^\/dev\/|^\/proc\//.test(path);
  return { runs: [], scripts: [], mayRunUnseen: true, ...(isInput && { runsInput: true }) };
};

/** A script with its arguments. If it calls one of them as a command, that one runs too. */
const nestedInScript = ([script = [], ...rest]: CommandWords): NestedCommands => {
  const text = sourceText(script);
  const callsArgument = /(?:^|[\s;&|({`!])["']?\$[{"]?[@*\d]/.test(text);
  const runs = callsArgument ? rest.map((_, at) => rest.slice(at)) : [];
  return { runs, scripts: [text], mayRunUnseen: false, scriptArguments: rest.map(sourceText) };
};

/** The commands of `find -exec`, `-ok`, `-execdir` and `-okdir`. */
export const nestedInFind = (words: CommandWords): NestedCommands => {
  const runs = words.flatMap((word, at) => {
    if (!/^-(?:exec|ok)(?:dir)?$/.test(sourceText(word))) return [];
    const rest = words.slice(at + 1);
    const end = rest.findIndex((other) => /^[;+]$/.test(sourceText(other)));
    return [end < 0 ? rest : rest.slice(0, end)];
  });
  return { runs: runs.filter((run) => run.length > 0), scripts: [], mayRunUnseen: false };
};

/** Finds what git executes: by options, by settings on the command line, and by subcommands that run others. */
export const nestedInGit = (words: CommandWords): NestedCommands => {
  const texts = words.map(sourceText);
  const at = texts.findIndex((text, index) => /^(?:bisect run|submodule foreach)$/.test(`${texts[index - 1]} ${text}`));
  const rest = at < 0 ? [] : words.slice(at + 1);
  const scripts = texts.flatMap((text, index) => {
    if (executingOption.test(text)) return [commandInSetting(texts[index + 1] ?? "")];
    const attached = executingOptionWithValue.exec(text)?.[1];
    return attached === undefined ? [] : [commandInSetting(attached)];
  });
  return { runs: rest.length === 0 ? [] : [rest], scripts: [...scripts, ...rest.map(sourceText)], mayRunUnseen: false };
};

const executingOption = /^(?:-c|-x|--(?:exec|extcmd|upload-pack|receive-pack|(?:[a-z]+-)+filter))$/;
const executingOptionWithValue =
  /^(?:-x|-O|ext::|--(?:exec|extcmd|upload-pack|receive-pack|open-files-in-pager|(?:[a-z]+-)+filter)=)(.+)$/s;

/** Strips the setting's name: `alias.x=!command` and `core.pager=command` become the command. */
const commandInSetting = (text: string): string => text.replace(/^[\w.-]+=/, "").replace(/^!/, "");
