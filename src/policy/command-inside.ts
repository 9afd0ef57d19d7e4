import { literalOf, spelled, type PossibleWord } from "./command-word.ts";

/** The words of one command, its name first. */
export type Words = readonly PossibleWord[];

/** What a command would run: commands, and scripts still to be read. `unseen` where there may be more than its words tell. */
export type Inside = {
  readonly runs: readonly Words[];
  readonly scripts: readonly string[];
  readonly unseen: boolean;
  /** Whether a shell runs its input. */
  readonly input?: true;
  /** Texts in another language than the shell's, which can run commands too. */
  readonly code?: readonly string[];
  /** Arguments that a script finds in `$1` and so on. */
  readonly given?: readonly string[];
};

/** What a shell runs: the script after `-c`; a script in a file cannot be seen. */
export const shellInside = (words: Words): Inside => {
  let isScript = false;
  for (let at = 1; at < words.length; at++) {
    const word = literalOf(words[at] ?? []);
    if (word === undefined && !isScript)
      return { runs: [], scripts: words.slice(at).map(spelled), unseen: true, input: true };
    if (word !== undefined && /^(?:--rcfile|--init-file)$/.test(word)) at++;
    else if (word !== undefined && /^[-+][A-Za-z]+$/.test(word)) {
      isScript ||= word.startsWith("-") && word.includes("c");
      if (/[oO]/.test(word) && !word.startsWith("-c")) at++;
    } else if (word === undefined || !word.startsWith("-")) {
      return isScript ? scriptInside(words.slice(at)) : fileInside(words.slice(at));
    }
  }
  return { runs: [], scripts: [], unseen: true, input: true };
};

/** A script in a file, which may be the input by another name. */
export const fileInside = ([file = []]: Words): Inside => {
  const path = literalOf(file);
  const isInput = path === undefined || path === "-" || /^\/dev\/|^\/proc\//.test(path);
  return { runs: [], scripts: [], unseen: true, ...(isInput && { input: true }) };
};

/** A script with its arguments. Where it calls one of them as a command, that one runs. */
const scriptInside = ([script = [], ...rest]: Words): Inside => {
  const text = spelled(script);
  const callsArgument = /(?:^|[\s;&|({`!])["']?\$[{"]?[@*\d]/.test(text);
  const runs = callsArgument ? rest.map((_, at) => rest.slice(at)) : [];
  return { runs, scripts: [text], unseen: false, given: rest.map(spelled) };
};

/** The commands of `find -exec` and its kin. */
export const findInside = (words: Words): Inside => {
  const runs = words.flatMap((word, at) => {
    if (!/^-(?:exec|ok)(?:dir)?$/.test(spelled(word))) return [];
    const rest = words.slice(at + 1);
    const end = rest.findIndex((other) => /^[;+]$/.test(spelled(other)));
    return [end < 0 ? rest : rest.slice(0, end)];
  });
  return { runs: runs.filter((run) => run.length > 0), scripts: [], unseen: false };
};

/** What git is told to execute: by its options, by settings given on the line, and by the commands that run others. */
export const gitInside = (words: Words): Inside => {
  const texts = words.map(spelled);
  const at = texts.findIndex((text, index) => /^(?:bisect run|submodule foreach)$/.test(`${texts[index - 1]} ${text}`));
  const rest = at < 0 ? [] : words.slice(at + 1);
  const scripts = texts.flatMap((text, index) => {
    if (executing.test(text)) return [settingOf(texts[index + 1] ?? "")];
    const attached = executingAttached.exec(text)?.[1];
    return attached === undefined ? [] : [settingOf(attached)];
  });
  return { runs: rest.length === 0 ? [] : [rest], scripts: [...scripts, ...rest.map(spelled)], unseen: false };
};

const executing = /^(?:-c|-x|--(?:exec|extcmd|upload-pack|receive-pack|(?:[a-z]+-)+filter))$/;
const executingAttached =
  /^(?:-x|-O|ext::|--(?:exec|extcmd|upload-pack|receive-pack|open-files-in-pager|(?:[a-z]+-)+filter)=)(.+)$/s;

/** `alias.x=!command` and `core.pager=command` as the command. */
const settingOf = (text: string): string => text.replace(/^[\w.-]+=/, "").replace(/^!/, "");
