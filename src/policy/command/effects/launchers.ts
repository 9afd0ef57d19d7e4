import type { NestedCommands, CommandWords } from "./nested.ts";
import { literalText, sourceText } from "../parse/word.ts";

/** Finds the commands that a program runs because of its options or arguments; undefined for programs that run none. */
export const findNestedByOptions = (name: string, words: CommandWords): NestedCommands | undefined => {
  if (wrapperPrograms.test(name)) return { runs: listSuffixes(words.slice(1)), scripts: [], mayRunUnseen: false };
  if (packageRunners.test(name)) return nestedInPackageRunner(words);
  if (/^g?sed$/.test(name)) return { runs: [], scripts: words.slice(1).flatMap(scriptsInSed), mayRunUnseen: false };
  const options = Object.hasOwn(optionsByProgram, name) ? optionsByProgram[name] : undefined;
  if (options === undefined) return undefined;
  const texts = words.map(sourceText);
  const isBundle = /^(?:bsd|g)?tar$/.test(name) && /^[a-zA-Z]*[IF]/.test(texts[1] ?? "");
  const scripts = texts.flatMap((text, at) => {
    if (at === 0) return [];
    const attached = options.attached
      .exec(text)
      ?.slice(1)
      .find((group) => group !== undefined);
    if (attached !== undefined) return [attached];
    return options.separate.test(text) || (isBundle && at > 0 && at < texts.length - 1) ? [texts[at + 1] ?? ""] : [];
  });
  return { runs: [], scripts: scripts.map(stripSettingName), mayRunUnseen: false };
};

/** Whether a command's arguments name a program that it runs. */
export const runsOperands = (words: readonly string[]): boolean => {
  const name = words[0] ?? "";
  if (wrapperPrograms.test(name)) return true;
  const subcommands = /^(?:npm|pnpm|yarn)$/.test(name)
    ? /^(?:exec|x|dlx|create|init)$/
    : /^(?:exec|x|dlx|create|run|shell|develop|tool)$/;
  return (
    (packageRunners.test(name) || /^(?:go|cargo|deno)$/.test(name)) && words.some((word) => subcommands.test(word))
  );
};

/** Whether a command runs its standard input, or builds commands from it. */
export const runsInput = (words: readonly string[]): boolean => {
  const [name = "", ...rest] = words;
  if (inputRunners.test(name) || wrapperPrograms.test(name)) return true;
  return interpreters.test(name) && rest.every((word) => /^-(?!-?(?:c|e|p|eval|print|command|r)$)/.test(word));
};

const interpreters =
  /^(?:(?:ba|da|z|k|mk|a|fi|c|tc)?sh|python[\d.]*|perl|ruby|node|deno|bun|php|lua|osascript|tclsh|wish|expect)$/;

/** Programs that run commands from their input, or insert it into commands. */
const inputRunners =
  /^(?:xargs|parallel|at|batch|crontab|ssh|su|sudo|doas|runuser|env|nohup|nice|ionice|stdbuf|timeout|setsid|time|watch|flock|chroot|unshare|nsenter|taskset|chrt|strace|ltrace|busybox|toybox|systemd-run|script|docker|podman|kubectl|npx|pnpx|bunx|uvx|pipx|ed|ex|vi|vim|nvim|view|gdb|lldb|sqlite3|psql|mysql|mariadb|mongosh?|gnuplot|m4|nc|ncat|netcat|socat|telnet|ftp|sftp|curl|wget)$/;

type LauncherOptions = { readonly separate: RegExp; readonly attached: RegExp };

const tar: LauncherOptions = {
  separate:
    /^(?:-[a-zA-Z]*[IF]|--(?:use-compress-program|to-command|checkpoint-action|info-script|new-volume-script|rsh-command|rmt-command))$/,
  attached:
    /^(?:--(?:use-compress-program|to-command|checkpoint-action|info-script|new-volume-script|rsh-command|rmt-command)=(.+)|-[a-zA-Z]*?[IF](.+))$/s,
};
const vim: LauncherOptions = { separate: /^(?:-c|--cmd)$/, attached: /^(?:-c|--cmd=?|\+)(?::?!)?(.+)$/s };
const ssh: LauncherOptions = { separate: /^-[oS]$/, attached: /^-[oS](.+)$/s };
const debuggers: LauncherOptions = {
  separate: /^-{1,2}(?:ex|iex|eval-command|o|one-line|O)$/,
  attached: /^--(?:ex|iex)=(.+)$/s,
};

const optionsByProgram: Readonly<Record<string, LauncherOptions>> = {
  tar,
  gtar: tar,
  bsdtar: tar,
  sort: { separate: /^--compress-program$/, attached: /^--compress-program=(.+)$/s },
  man: { separate: /^(?:-P|-H|--pager|--html)$/, attached: /^(?:-P|-H|--pager=|--html=)(.+)$/s },
  rg: { separate: /^--(?:pre|hostname-bin)$/, attached: /^--(?:pre|hostname-bin)=(.+)$/s },
  ssh,
  scp: ssh,
  sftp: ssh,
  rsync: { separate: /^(?:-[a-zA-Z]*e|--rsh|--rsync-path)$/, attached: /^--(?:rsh|rsync-path)=(.+)$/s },
  zip: { separate: /^(?:-TT|--unzip-command)$/, attached: /^(?:-TT|--unzip-command=?)(.+)$/s },
  vi: vim,
  vim,
  nvim: vim,
  view: vim,
  ex: vim,
  less: { separate: /^$/, attached: /^\+{1,2}(?:[^!]*!)?(.+)$/s },
  more: { separate: /^$/, attached: /^\+(?:[^!]*!)?(.+)$/s },
  make: { separate: /^--eval$/, attached: /^(?:--eval=|SHELL=)(.+)$/s },
  gdb: debuggers,
  lldb: debuggers,
  socat: { separate: /^$/, attached: /^(?:exec|system):(.+)$/is },
};

/** Strips the setting's name: `exec=command`, `ProxyCommand=command` and `shell command` become the command. */
const stripSettingName = (text: string): string => text.replace(/^(?:\w+=|(?:!|shell|system)\s*)/, "");

/** Wrapper programs: from some argument on, their arguments are a command. */
const wrapperPrograms =
  /^(?:tmux|screen|entr|hyperfine|faketime|fakeroot|xvfb-run|dbus-run-session|valgrind|perf|prlimit|setarch|linux(?:32|64)|numactl|proot|bwrap|firejail|caffeinate|unbuffer|start-stop-daemon|cpulimit|daemonize|chpst|sg|torsocks|proxychains4?|direnv|nsjail|runcon|capsh|setpriv|pkexec|rlwrap|dtach|abduco|choom|uclampset|catchsegv|ltrace|xtrace|ftrace|gosu|su-exec|tini|dumb-init)$/;

const packageRunners =
  /^(?:npm|pnpm|yarn|bun|bunx|pnpx|uv|uvx|pipx|pipenv|poetry|hatch|pdm|rye|conda|mamba|bundle|rbenv|pyenv|asdf|mise|nix|rustup|opam)$/;

/** Finds what a package runner runs after `exec`, `run` and similar subcommands. */
const nestedInPackageRunner = (words: CommandWords): NestedCommands => {
  const at = words.findIndex((word) => /^(?:exec|x|dlx|run|shell|develop)$/.test(sourceText(word)));
  const rest = at < 0 ? [] : words.slice(at + 1);
  const scripts = words.flatMap((word, index) =>
    /^(?:-c|--call|--shell-mode|--command)$/.test(sourceText(word)) ? [sourceText(words[index + 1] ?? [""])] : [],
  );
  return { runs: listSuffixes(rest), scripts, mayRunUnseen: false };
};

const maxSuffixes = 12;

/** Lists the words from every position where a command could begin. */
const listSuffixes = (words: CommandWords): readonly CommandWords[] =>
  words
    .map((_, at) => words.slice(at))
    .filter(([first]) => first !== undefined && !(literalText(first) ?? "").startsWith("-"))
    .slice(0, maxSuffixes);

/** The command after sed's `e` command. */
const scriptsInSed = (word: CommandWords[number]): readonly string[] =>
  [...sourceText(word).matchAll(/(?:^|[;}\n\d$/])\s*e\s+([^\n]+)/g)].map(([, command = ""]) => command);
