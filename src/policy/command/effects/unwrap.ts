import { findNestedByOptions } from "./launchers.ts";
import {
  nestedInFile,
  nestedInFind,
  nestedInGit,
  nestedInShell,
  type NestedCommands,
  type CommandWords,
} from "./nested.ts";
import { literalText, sourceText } from "../parse/word.ts";

/** Finds the commands that a command runs besides itself. Where that is uncertain, returns every possibility. */
export const findNestedCommands = (words: CommandWords): NestedCommands => {
  const name = commandName(words);
  if (name === undefined) return { runs: [], scripts: [], mayRunUnseen: true };
  if (/^(?:ba|da|z|k|mk|a|fi|c|tc)?sh$/.test(name)) return nestedInShell(words);
  if (name === "source" || name === ".") return nestedInFile(words.slice(1));
  if (/^(?:python|perl|ruby|node|deno|bun|php|lua|osascript|tclsh|expect|[gmn]?awk)[\d.]*$/.test(name))
    return { runs: [], scripts: [], mayRunUnseen: true, code: words.slice(1).map(sourceText) };
  const scriptProgram = Object.hasOwn(scriptPrograms, name) ? scriptPrograms[name] : undefined;
  if (scriptProgram !== undefined) return scriptProgram(words);
  const wrapper = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
  return wrapper === undefined ? (findNestedByOptions(name, words) ?? noNestedCommands) : unwrap(words, wrapper);
};

/** The program name of a command, without its folder, in lower case. */
export const commandName = ([first]: CommandWords): string | undefined =>
  first && literalText(first)?.split("/").at(-1)?.toLowerCase();

const noNestedCommands: NestedCommands = { runs: [], scripts: [], mayRunUnseen: false };

/** The grammar of a wrapper: a command whose arguments are another command. Options are letters, or words without their dashes. */
type WrapperGrammar = {
  readonly flags?: string;
  /** Options followed by a value. */
  readonly values?: string;
  /** Options whose value is a script. */
  readonly scripts?: string;
  /** Whether a script is only split into words, as by `env -S`: redirects, operators and line ends mean nothing in it. */
  readonly splitsWords?: true;
  /** Options with which the wrapper runs nothing. */
  readonly idle?: string;
  /** How many operands come before the command. */
  readonly skips?: number;
  /** Whether `NAME=value` may come before the command. */
  readonly assigns?: true;
};

const wrappers: Readonly<Record<string, WrapperGrammar>> = {
  command: { flags: "p", idle: "v V" },
  builtin: {},
  exec: { flags: "c l", values: "a" },
  nohup: {},
  setsid: { flags: "c f w ctty fork wait" },
  nice: { values: "n adjustment" },
  ionice: { flags: "t ignore", values: "c n class classdata", idle: "p P u pid pgid uid" },
  stdbuf: { values: "i o e input output error" },
  timeout: { flags: "v preserve-status foreground verbose", values: "s k signal kill-after", skips: 1 },
  time: { flags: "p v a q", values: "f o format output" },
  env: {
    flags: "i 0 v ignore-environment null debug",
    values: "u C unset chdir",
    scripts: "S split-string",
    splitsWords: true,
    assigns: true,
  },
  sudo: {
    flags: "A b E H i k K l n P S s v B N preserve-env login shell non-interactive stdin",
    values: "u g h p C r t T D R U user group host prompt close-from role type chdir chroot other-user",
    assigns: true,
  },
  doas: { flags: "n s L", values: "u C a" },
  xargs: {
    flags: "0 r t x p o null no-run-if-empty verbose exit interactive open-tty",
    values: "I n P L s d a E J R S replace max-args max-procs max-lines max-chars delimiter arg-file eof",
  },
  chroot: { values: "u g G userspec groups", skips: 1 },
  unshare: { flags: "m u i n p U C T f r c", values: "S G R w setuid setgid root wd" },
  nsenter: { flags: "a m u i n p U C T r w F Z", values: "t S G target setuid setgid" },
  taskset: { flags: "a c all-tasks cpu-list", idle: "p pid", skips: 1 },
  chrt: { flags: "b f i o r d R a v", values: "T P D", skips: 1 },
  flock: { flags: "s x n u o F e", values: "w E timeout conflict-exit-code", scripts: "c command", skips: 1 },
  strace: { flags: "f ff c C d i k q qq r t tt T v x xx y yy z Z", values: "o e p s a b E I O S u P X" },
  ltrace: { flags: "f c C i r S t tt T L", values: "o e p s a A D E F l n u x" },
  "systemd-run": {
    flags: "d t P q G S r user system scope pty pipe wait quiet collect shell no-block remain-after-exit same-dir",
    values: "u p M H E C unit property machine host slice description uid gid nice setenv working-directory",
  },
  busybox: {},
  toybox: {},
  caffeinate: { flags: "d i m s u", values: "t w" },
  chronic: {},
  unbuffer: { flags: "p" },
  "dbus-run-session": {},
  setarch: { flags: "B F I L R S T U X Z 3 v" },
  parallel: { flags: "0 k u v t X m q bar lb", values: "j P I N n L a S jobs colsep delay timeout arg-file" },
  npx: { flags: "y q yes no quiet", values: "p package w workspace", scripts: "c call" },
};

/** Commands that take a script, or contain a command among their own arguments. */
const scriptPrograms: Readonly<Record<string, (words: CommandWords) => NestedCommands>> = {
  eval: (words) => ({ runs: [], scripts: [joinWords(words.slice(1))], mayRunUnseen: false }),
  trap: (words) => ({ runs: [], scripts: words.slice(1).map(sourceText), mayRunUnseen: false }),
  alias: (words) => ({
    runs: [],
    scripts: words.slice(1).map((word) => sourceText(word).replace(/^[^=]*=/, "")),
    mayRunUnseen: false,
  }),
  watch: (words) => runsAsScripts(unwrap(words, { flags: "b c d e g p t x", values: "n interval" })),
  ssh: (words) => {
    const { runs, scripts, mayRunUnseen } = runsAsScripts(
      unwrap(words, {
        flags: "4 6 A a C f G g K k M N n q s T t V v X x Y y",
        values: "B b c D E e F I i J L l m O o p Q R S W w",
        skips: 1,
      }),
    );
    return { runs, scripts: [...scripts, ...(findNestedByOptions("ssh", words)?.scripts ?? [])], mayRunUnseen };
  },
  su: (words) => ({ runs: [], scripts: words.slice(1).map(sourceText), mayRunUnseen: true }),
  runuser: (words) => ({ ...unwrap(words, { values: "u g G user group" }), scripts: words.slice(1).map(sourceText) }),
  script: (words) => ({ runs: [], scripts: words.slice(1).map(sourceText), mayRunUnseen: false }),
  find: nestedInFind,
  git: nestedInGit,
};

const joinWords = (words: CommandWords): string => words.map(sourceText).join(" ");

const runsAsScripts = ({ runs, mayRunUnseen }: NestedCommands): NestedCommands => ({
  runs,
  scripts: runs.map(joinWords),
  mayRunUnseen,
});

/** Unwraps the command behind a wrapper's own arguments. After an unknown option, every position where it could begin. */
const unwrap = (words: CommandWords, wrapper: WrapperGrammar): NestedCommands => {
  const runs: CommandWords[] = [];
  const scripts: string[] = [];
  let toSkip = wrapper.skips ?? 0;
  let at = 1;
  for (; at < words.length; at++) {
    const role = classifyWord(literalText(words[at] ?? []), wrapper);
    if (role.is === "idle") return { runs, scripts, mayRunUnseen: false };
    if (role.is === "end") at++;
    if (role.is === "end" || (role.is === "operand" && toSkip === 0)) break;
    if (role.is === "operand") toSkip--;
    if (role.is === "unknown") runs.push(words.slice(at));
    if (role.is === "odd") runs.push(words.slice(at + 2));
    if (role.is === "script") {
      // The words may begin with options of the wrapper itself.
      const lead = wrapper.splitsWords === true ? [sourceText(words[0] ?? [])] : [];
      scripts.push([...lead, role.attached, joinWords(words.slice(at + 1))].join(" "));
    }
    if (role.is === "value" && role.attached === "") at++;
  }
  runs.push(words.slice(at + toSkip));
  const mayRunUnseen = wrapper.splitsWords === true && scripts.some((script) => !plainWords.test(script));
  return { runs: runs.filter((run) => run.length > 0), scripts, mayRunUnseen };
};

/** A script that a shell and a program that splits words read alike: one line without syntax of the shell. */
const plainWords = /^[\w \t./:=@%+,'"-]*$/;

/** The role of a word for a wrapper. `odd` is an unknown option, which may be followed by a value. */
type WordRole =
  | { readonly is: "unknown" | "idle" | "end" | "flag" | "odd" | "operand" }
  | { readonly is: "script" | "value"; readonly attached: string };

const classifyWord = (word: string | undefined, wrapper: WrapperGrammar): WordRole => {
  if (word === undefined) return { is: "unknown" };
  if (word === "--") return { is: "end" };
  if (/^-+\d*$/.test(word)) return { is: "flag" };
  if (!word.startsWith("-")) return { is: wrapper.assigns && /^\w+=/.test(word) ? "flag" : "operand" };
  const [, name = "", value] = /^--([^=]*)(=.*)?$/s.exec(word) ?? [];
  if (name !== "") return classifyOption(name, value?.slice(1), wrapper);
  for (let at = 1; at < word.length; at++) {
    const role = classifyOption(word[at] ?? "", word.slice(at + 1), wrapper);
    if (role.is !== "flag") return role;
  }
  return { is: "flag" };
};

const classifyOption = (name: string, value: string | undefined, wrapper: WrapperGrammar): WordRole => {
  const isListed = (list = ""): boolean => list.split(" ").includes(name);
  if (isListed(wrapper.idle)) return { is: "idle" };
  if (isListed(wrapper.scripts)) return { is: "script", attached: value ?? "" };
  if (isListed(wrapper.values)) return { is: "value", attached: value ?? "" };
  return { is: isListed(wrapper.flags) || (name.length > 1 && value !== undefined) ? "flag" : "odd" };
};
