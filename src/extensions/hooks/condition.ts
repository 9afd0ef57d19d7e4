import type { HookedTool } from "./hooked-call.ts";
import { namesOfTool } from "./hooked-call.ts";

/**
 * Whether a call matches the `if` of a hook: a tool name, or `Name(pattern)` where `*` in the pattern stands for any
 * text and a final `:*` for any further words. The pattern is tested against the command of a shell call, the path of
 * a file, or the URL or query. A condition that cannot be read matches, so that a hook that guards is not skipped.
 */
export const matchesCondition = (condition: string, call: HookedTool): boolean => {
  const parsed = /^\s*([\w*.-]+)\s*(?:\(([\s\S]*)\))?\s*$/.exec(condition);
  if (parsed === null) return true;
  const [, name = "", pattern] = parsed;
  if (!namesOfTool(call).some((each) => toPattern(name).test(each))) return false;
  if (pattern === undefined || pattern === "" || pattern === "*") return true;
  const subjects = subjectsOf(call);
  return (
    subjects.length === 0 || subjects.some((subject) => isVariable(subject, call) || matchesSubject(pattern, subject))
  );
};

const matchesSubject = (pattern: string, subject: string): boolean => {
  const prefix = pattern.endsWith(":*") ? pattern.slice(0, -2) : undefined;
  if (prefix !== undefined) return subject === prefix || subject.startsWith(`${prefix} `);
  return toPattern(pattern.replace(/^domain:/, "*")).test(subject);
};

/**
 * A shell line counts with each of its commands: `cd x && A=1 "git" push` and `(git push)` match `git *`. Text in quotes
 * is split, too: one hook too many may run, but none that guards is skipped.
 */
const subjectsOf = ({ tool, input }: HookedTool): readonly string[] => {
  const texts = ["command", "file_path", "absolute_path", "path", "prompt", "query", "pattern"]
    .map((field) => input[field])
    .filter((value) => typeof value === "string");
  const [first] = texts;
  if (first === undefined) return [];
  if (tool !== "run_shell_command") return [first];
  const commands = first.split(/[;|&\n(){}`]/).map((each) => each.trim());
  return [first, ...commands.flatMap((each) => [each, unwrap(each)])];
};

/** A command as written plainly: without quotes, variables before it, keywords, the folder of its program, and programs that run it. */
const unwrap = (command: string): string => {
  const plain = command.replaceAll(/["'\\]/g, "").trim();
  const wrapper = new RegExp(wrapperPattern, "y");
  let start = 0;
  while (wrapper.test(plain)) start = wrapper.lastIndex;
  return plain.slice(start).replace(/^[\w.~/-]*\/(?=\w)/, "");
};

/** One word, and what follows it up to the next: an option of the word before, too. */
const wrapperPattern =
  /(?:[A-Za-z_]\w*=\S*|!|if|then|elif|else|while|until|do|-\S+|(?:[\w.~/-]*\/)?(?:time|nohup|sudo|env|command|exec|eval|xargs|nice|timeout(?:\s+-\S+|\s+\d\S*)+|\w*sh\s+-\w*c))\s+/;

/** Whether the program of a command is known only when it runs. */
const isVariable = (subject: string, { tool }: HookedTool): boolean =>
  tool === "run_shell_command" && /^\S*\$/.test(subject);

const toPattern = (glob: string): RegExp =>
  new RegExp(
    `^${glob
      .split("*")
      .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join("[\\s\\S]*?")}$`,
  );
