import { commandCases } from "../../src/policy/command/analyze.cases.ts";
import type { Random } from "./random.ts";

/** Stub programs for random scripts. They record their arguments and do nothing else. */
export const stubs: readonly string[] = [
  "git",
  "ls",
  "cat",
  "grep",
  "find",
  "sed",
  "rg",
  "npm",
  "rm",
  "touch",
  "cp",
  "curl",
  "make",
  "foo",
];

/** The stub that fails. */
export const failingStub = "rg";

/** Real programs that run others. */
export const realPrograms: readonly string[] = [
  "env",
  "nohup",
  "nice",
  "timeout",
  "setsid",
  "xargs",
  "stdbuf",
  "bash",
  "sh",
];

/** A random script: plain words, anything a shell can do, or a known attack with a few characters changed. */
export const randomScript = (random: Random): string => {
  const kind = random.next();
  if (kind < 0.35) return plainScript(random);
  if (kind < 0.7) return script(random, 0);
  if (kind < 0.9) return mutateText(random.pick(attacks), random);
  return mutateText(script(random, 1), random);
};

const attacks = commandCases
  .map(({ text }) => text.replaceAll("{OUT}/", "").replaceAll("{HOME}/", ""))
  .filter((text) => text.length < 400);

const repeat = <Item>(random: Random, most: number, make: () => Item): readonly Item[] =>
  Array.from({ length: random.below(most + 1) }, make);

const plainScript = (random: Random): string => {
  const commands = [plainCommand(random), ...repeat(random, 4, () => plainCommand(random))];
  return commands.reduce(
    (text, command) => `${text}${blank(random)}${random.pick(plainOperators)}${blank(random)}${command}`,
  );
};

const plainOperators = ["&&", "||", ";", "|", "\n", "&&\n", "|\n", ";\n", "\n\n"];

const blank = (random: Random): string => random.pick(["", " ", " ", "  ", "\t"]);

const plainCommand = (random: Random): string => {
  const name = random.chance(0.8) ? random.pick(stubs) : random.pick(["echo", "true", "false", "pwd", ":", "nothing"]);
  const words = [quoteWord(name, random), ...repeat(random, 4, () => nearlyPlain(random))];
  const first = random.chance(0.1) ? [random.pick(["A=1", "CI=1", "LC_ALL=C", "B='x y'", 'C="a b"', "D="])] : [];
  const last = random.chance(0.25) ? repeat(random, 2, () => random.pick(quietRedirects)) : [];
  return [...first, ...words, ...last].join(random.pick([" ", "  ", "\t"]));
};

const quietRedirects = [
  "2>&1",
  ">/dev/null",
  "2>/dev/null",
  "2> /dev/null",
  "&>/dev/null",
  "</dev/null",
  "1>&2",
  ">&2",
];

/** Mostly literal words; the others must be detected among them. */
const nearlyPlain = (random: Random): string => (random.chance(0.06) ? random.pick(oddWords) : plainWord(random));

const plainWord = (random: Random): string => {
  const word = random.pick([
    "a",
    "b.txt",
    "src/x",
    "-n",
    "--all",
    "HEAD~1",
    "x=1",
    "a#b",
    "a b",
    "it's",
    '"',
    "\\",
    "ü",
    "$x",
    "*",
    "~",
    "",
    "a\nb",
    "!",
    "{}",
    "]",
    "%",
    "^x",
    ";",
    "&&",
    "`",
    "#c",
  ]);
  return quoteWord(word, random);
};

/** The same word in one of its equivalent quotings. */
const quoteWord = (word: string, random: Random): string => {
  const isBare = /^[\w./=:%+@^~-]+$/.test(word) && !/^[~=]/.test(word);
  const kind = random.below(isBare ? 8 : 3);
  if (kind === 0 && !word.includes("\n")) return word.replace(/[^\w./-]/g, "\\$&") || "''";
  if (kind === 1) return `"${word.replace(/[\\"$`]/g, "\\$&")}"`;
  if (kind === 2 || !isBare) return `'${word.replaceAll("'", String.raw`'\''`)}'`;
  if (kind === 3 && word.length > 1) return `${word[0]}""${word.slice(1)}`;
  return word;
};

const operators = ["; ", " && ", " || ", " | ", "\n", " & ", " |& ", ";", "&&"];

const script = (random: Random, depth: number): string => {
  const commands = [command(random, depth), ...repeat(random, depth > 1 ? 1 : 3, () => command(random, depth))];
  return commands.reduce((text, each) => text + random.pick(operators) + each);
};

const command = (random: Random, depth: number): string => {
  const inner = (): string => (depth > 2 ? simple(random, depth) : script(random, depth + 1));
  const kinds: readonly (() => string)[] = [
    () => `(${inner()})`,
    () => `{ ${inner()}; }`,
    () => `if ${inner()}; then ${inner()}; fi`,
    () => `for x in a b; do ${inner()}; done`,
    () => `while false; do ${inner()}; done`,
    () => `case x in x) ${inner()};; esac`,
    () => `f() { ${inner()}; }; f`,
    () => `function g { ${inner()}; }\ng`,
    () => `! ${simple(random, depth)}`,
    () => `time ${simple(random, depth)}`,
    () => `coproc ${simple(random, depth)}`,
    () => `eval ${quoteWord(inner(), random)}`,
    () => `bash -c ${quoteWord(inner(), random)}`,
    () => `sh -ec ${quoteWord(inner(), random)} a b`,
    () => `trap ${quoteWord(inner(), random)} EXIT`,
    () =>
      `${random.pick(["env", "env -i PATH=$PATH LOG=$LOG", "env A=1", "nohup", "nice -n 5", "timeout 5", "setsid -w", "stdbuf -o0", "xargs", "command", "exec", "builtin"])} ${simple(random, depth)}`,
    () => `x=${random.pick(stubs)}; $x ${word(random, depth)}`,
    () =>
      `${simple(random, depth)} ${random.pick([">", ">>", "<", "2>", "&>", ">|", "<>"])} ${random.pick(["out", "b.txt", "/dev/null"])}`,
    () => `cat <<E\n${inner()}\n$(${inner()})\nE`,
    () => `cat <<< ${word(random, depth)}`,
    () => `${random.pick(["sh", "bash", "bash -s", "env sh"])} <<< ${quoteWord(inner(), random)}`,
    () => `sh <<'E'\n${inner()}\nE`,
    () => `echo ${quoteWord(plainCommand(random), random)} | ${random.pick(["sh", "bash", "xargs"])}`,
    () => `${random.pick(stubs)}${random.pick(["${IFS}", "$IFS", "${x}", "$x"])}${random.pick(["a", "-n", "b.txt"])}`,
    () => `${random.pick(["$x", "${x}", "$(true)", "${IFS}"])} ${simple(random, depth)}`,
    () => `h() { ${random.pick(["$1 a", '"$@"', "$*", "foo; $2"])}; }; h ${simple(random, depth)}`,
    () => `x=${quoteWord(plainCommand(random), random)}; ${random.pick(["$x", "eval $x", "${x} a", "$y$x"])}`,
    () => `[[ ${word(random, depth)} == ${word(random, depth)} ]]`,
    () => `cd sub`,
  ];
  return random.chance(0.45) ? simple(random, depth) : random.pick(kinds)();
};

const simple = (random: Random, depth: number): string => {
  const name = random.chance(0.9) ? quoteWord(random.pick(stubs), random) : word(random, depth);
  const first = random.chance(0.08)
    ? `${random.pick(["A", "PATH", "a[0]"])}=${random.pick(["1", "$PATH", "'x y'"])} `
    : "";
  return first + [name, ...repeat(random, 3, () => word(random, depth))].join(" ");
};

const word = (random: Random, depth: number): string => {
  if (depth < 3 && random.chance(0.12)) return `$(${script(random, depth + 2)})`;
  if (depth < 3 && random.chance(0.05)) return `\`${plainCommand(random)}\``;
  if (depth < 3 && random.chance(0.05)) return `<(${plainCommand(random)})`;
  return random.chance(0.6) ? plainWord(random) : random.pick(oddWords);
};

const oddWords = [
  "$x",
  "${x}",
  "${x:-rm}",
  "${x:=rm}",
  "${HOME:+rm}",
  "${x-${y-rm}}",
  "rm${IFS}a",
  "$HOME",
  "r$@m",
  "$'\\x72m'",
  "$'a\\nb'",
  '$"rm"',
  "{rm,ls}",
  "{a,b}c",
  "r{m..m}",
  "*",
  "?",
  "[ab]",
  "~",
  "$((1+1))",
  "$[1]",
  "a\\\nb",
  "#x",
  "a\u000bb",
  "a\rb",
  "\u00a0",
  "a\u200bb",
  "${x@P}",
  "${!x}",
  "$#",
  "$?",
  "$$",
  "\\$x",
  '"$x"',
  "'$x'",
  "@(a|b)",
  "!(a)",
  "2",
  "-",
  "--",
  "=ls",
  "a=~",
  "x:~",
  "$",
  '"$"',
  '"a$b"',
];

const specials = [
  ..."'\"\\$`;&|<>(){}*?[]~#!=^ \t\n\r\u000b%,:@/-r".split(""),
  "\\\n",
  "$(",
  "${",
  "&&",
  "||",
  ";;",
  "<<",
  "rm ",
  "\u00a0",
];

const mutateText = (text: string, random: Random): string => {
  let result = text;
  for (let left = 1 + random.below(3); left > 0; left--) {
    const at = random.below(result.length + 1);
    const cut = random.pick([0, 0, 1, 1, 2, 5]);
    const put = random.chance(0.7)
      ? random.pick(specials)
      : result.slice(random.below(result.length + 1)).slice(0, random.below(8));
    result = result.slice(0, at) + put + result.slice(at + cut);
  }
  return result;
};

/** Whether a script is safe to run: no absolute path that could be written, no fork bomb, no signals. */
export const isSafeToRun = (text: string): boolean =>
  !text.includes("\0") &&
  text.isWellFormed() &&
  !/\/(?:dev\/(?!null)|tmp|var|proc|bin|usr|etc|home|root|sys|run|mnt|opt|lib)|kill|suspend|:\s*\(|:\s*\||ulimit|\bwhile (?!false)|until|\byes\b|sleep/.test(
    text,
  );
