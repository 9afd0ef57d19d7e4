import { analyzeCommand, type CommandAnalysis } from "../../src/policy/command/analyze.ts";
import { decideCommand } from "../../src/policy/command/decide.ts";
import { parsePlainCommands, type PlainCommand } from "../../src/policy/command/parse/plain.ts";
import { couldMatchName, literalText } from "../../src/policy/command/parse/word.ts";
import type { ScriptRun } from "./command-runs.ts";
import { failingStub, realPrograms, stubs } from "./command-scripts.ts";

/** Rules that allow every program by name. */
const allowAll = [...stubs, ...realPrograms].map((name) => [name]);

export const analyzeScript = (text: string): Promise<CommandAnalysis> =>
  analyzeCommand(text, {
    roots: ["/site"],
    folder: "/site",
    home: "/home/kim",
    env: { PATH: "/programs" },
    findProgram: async (name) => ([...stubs, ...realPrograms].includes(name) ? `/programs/${name}` : undefined),
    isInside: async (path) => path === "/site" || path.startsWith("/site/"),
    checkRead: async () => undefined,
    canonical: async (path) => path,
    protection: async () => ({ level: "free", reason: "" }),
    findRepository: async () => ({ root: undefined, risk: undefined }),
  });

/** Compares an analysis with what the script really did; returns the mismatch, or undefined. */
export const findMismatch = (
  analysis: CommandAnalysis,
  { called, created }: ScriptRun,
  shell: string,
): string | undefined => {
  const rules = { allow: allowAll, mode: "default" } as const;
  const { decision } = decideCommand(analysis, { ...rules, deny: [] });
  if (analysis.shape === "opaque" && decision === "allow") return "an opaque line is allowed";
  const unexpectedFile = created.find((name) => !analysis.mayRunUnseen && !predictsWrite(analysis, name));
  if (unexpectedFile !== undefined) return `${unexpectedFile} was written, and that was not seen`;
  const unexpectedCall = called.find(([name = ""]) => !analysis.mayRunUnseen && !predictsCall(analysis, name));
  if (unexpectedCall !== undefined) return `${JSON.stringify(unexpectedCall)} ran and was not seen`;
  const isDenied = decideCommand(analysis, { ...rules, deny: [["rm"]] }).decision === "deny";
  if (called.some(([name]) => name === "rm") && !isDenied && !analysis.mayRunUnseen) return "rm ran and was not denied";
  const yolo = decideCommand(analysis, { ...rules, mode: "yolo", deny: [["rm"]] }).decision;
  const isFollowed = !analysis.mayRunUnseen || analysis.unclearReason !== undefined;
  if (called.some(([name]) => name === "rm") && yolo === "allow" && isFollowed)
    return "rm ran where everything does, though a rule denies it";
  return analysis.shape === "plain" ? findPlainMismatch(analysis, called, shell) : undefined;
};

const predictsWrite = (analysis: CommandAnalysis, name: string): boolean =>
  analysis.writes.some(({ path }) => path === `/site/${name}` || path === "/site" || name.startsWith("~"));

const predictsCall = ({ runs }: CommandAnalysis, name: string): boolean =>
  runs.some(([first]) => first !== undefined && couldMatchName(first, name));

/** A plain line must run exactly its words, as its operators say. */
const findPlainMismatch = (
  analysis: CommandAnalysis,
  called: ScriptRun["called"],
  shell: string,
): string | undefined => {
  const expected = expectedCalls(analysis, shell);
  const sorted = (calls: ScriptRun["called"]): readonly string[] =>
    calls.map((words) => JSON.stringify(words)).toSorted();
  if (expected !== undefined)
    return sorted(expected).join() === sorted(called).join()
      ? undefined
      : `expected ${sorted(expected).join(" ")}, but ${sorted(called).join(" ")} ran`;
  return sorted(called.filter((words) => !analysis.mayRunUnseen && !isPredicted(analysis, words, shell)))[0];
};

/** The analysis parses like bash; other shells do not expand braces. */
const isPredicted = ({ runs }: CommandAnalysis, called: readonly string[], shell: string): boolean => {
  const isPlainShell = shell !== "bash" || runs.some(([first]) => literalText(first ?? []) === "sh");
  return runs.some((words) => {
    const literals = words.map(literalText);
    return literals.includes(undefined) || isPlainShell
      ? couldMatchName(words[0] ?? [], called[0] ?? "")
      : JSON.stringify(literals) === JSON.stringify(called);
  });
};

/** The calls of a plain line of stubs; undefined if it contains a command with an unknown exit status. */
const expectedCalls = (
  { text, commands: classified }: CommandAnalysis,
  shell: string,
): ScriptRun["called"] | undefined => {
  const reading = parsePlainCommands(text);
  const commands = reading.plain ? reading.commands : [];
  if (commands.length !== classified.length || commands.some(hasSideEffect)) return undefined;
  // Only bash has this redirect; in other shells, it ends a command that then runs in the background.
  if (shell !== "bash" && commands.some(({ redirects }) => redirects.some(({ operator }) => operator.startsWith("&>"))))
    return undefined;
  const calls: (readonly string[])[] = [];
  let status = 0;
  let isSkipped = false;
  for (const { operator, words } of commands) {
    if (operator !== "|") isSkipped = (operator === "&&" && status !== 0) || (operator === "||" && status === 0);
    if (isSkipped) continue;
    const name = words[0] ?? "";
    const end = expectedStatus(name, words);
    if (end === undefined) return undefined;
    status = end;
    if (stubs.includes(name)) calls.push(words);
  }
  return calls;
};

/** Whether a variable may change which program is found, or an input file may be missing. */
const hasSideEffect = ({ assignments, redirects }: PlainCommand): boolean =>
  assignments.some((assignment) => !/^(?:[A-D]|CI|LC_ALL)=/.test(assignment)) ||
  redirects.some(({ operator, target }) => operator === "<" && target !== "/dev/null");

const expectedStatus = (name: string, words: readonly string[]): number | undefined => {
  if (stubs.includes(name)) return name === failingStub ? 1 : 0;
  if (name === "nothing" || name === "false") return 1;
  if (name === "pwd" && words.length > 1) return undefined;
  return ["echo", "true", ":", "pwd"].includes(name) ? 0 : undefined;
};
