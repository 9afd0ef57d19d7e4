import { analyzeCommand, type CommandAnalysis } from "../../src/policy/command/analyze.ts";
import { decideCommand } from "../../src/policy/command/decide.ts";
import { parsePlainCommands, type PlainCommand } from "../../src/policy/command/parse/plain.ts";
import { couldMatchName, literalText } from "../../src/policy/command/parse/word.ts";
import type { ScriptRun } from "./command-runs.ts";
import { failingStub, realPrograms, stubs } from "./command-scripts.ts";

/** Everything is allowed by its name, as far as a rule can. */
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

/** What is wrong about an analysis, given what the script really did; undefined where nothing is. */
export const findMismatch = (
  analysis: CommandAnalysis,
  { called, created }: ScriptRun,
  shell: string,
): string | undefined => {
  const ruling = { allow: allowAll, mode: "default" } as const;
  const { decision } = decideCommand(analysis, { ...ruling, deny: [] });
  if (analysis.shape === "opaque" && decision === "allow") return "an opaque line is allowed";
  const surprise = created.find((name) => !analysis.mayRunUnseen && !predictsWrite(analysis, name));
  if (surprise !== undefined) return `${surprise} was written, and that was not seen`;
  const stranger = called.find(([name = ""]) => !analysis.mayRunUnseen && !predictsCall(analysis, name));
  if (stranger !== undefined) return `${JSON.stringify(stranger)} ran and was not seen`;
  const isDenied = decideCommand(analysis, { ...ruling, deny: [["rm"]] }).decision === "deny";
  if (called.some(([name]) => name === "rm") && !isDenied && !analysis.mayRunUnseen) return "rm ran and was not denied";
  const yolo = decideCommand(analysis, { ...ruling, mode: "yolo", deny: [["rm"]] }).decision;
  const isFollowed = !analysis.mayRunUnseen || analysis.unclearReason !== undefined;
  if (called.some(([name]) => name === "rm") && yolo === "allow" && isFollowed)
    return "rm ran where everything does, though a rule denies it";
  return analysis.shape === "plain" ? findPlainMismatch(analysis, called, shell) : undefined;
};

const predictsWrite = (analysis: CommandAnalysis, name: string): boolean =>
  analysis.writes.some(({ path }) => path === `/site/${name}` || path === "/site" || name.startsWith("~"));

const predictsCall = ({ runs }: CommandAnalysis, name: string): boolean =>
  runs.some(([first]) => first !== undefined && couldMatchName(first, name));

/** A plain line runs exactly what its words say, in the way its operators say. */
const findPlainMismatch = (
  analysis: CommandAnalysis,
  called: ScriptRun["called"],
  shell: string,
): string | undefined => {
  const expected = expectedCalls(analysis);
  const sorted = (calls: ScriptRun["called"]): readonly string[] =>
    calls.map((words) => JSON.stringify(words)).toSorted();
  if (expected !== undefined)
    return sorted(expected).join() === sorted(called).join()
      ? undefined
      : `expected ${sorted(expected).join(" ")}, but ${sorted(called).join(" ")} ran`;
  return sorted(called.filter((words) => !analysis.mayRunUnseen && !isPredicted(analysis, words, shell)))[0];
};

/** Everything is read as bash reads it; a plain shell leaves braces alone. */
const isPredicted = ({ runs }: CommandAnalysis, called: readonly string[], shell: string): boolean => {
  const isPlainShell = shell !== "bash" || runs.some(([first]) => literalText(first ?? []) === "sh");
  return runs.some((words) => {
    const literals = words.map(literalText);
    return literals.includes(undefined) || isPlainShell
      ? couldMatchName(words[0] ?? [], called[0] ?? "")
      : JSON.stringify(literals) === JSON.stringify(called);
  });
};

/** What a shell calls for a plain line of stubs; undefined where something else is in it, whose end nobody knows. */
const expectedCalls = ({ text, commands: studied }: CommandAnalysis): ScriptRun["called"] | undefined => {
  const reading = parsePlainCommands(text);
  const commands = reading.plain ? reading.commands : [];
  if (commands.length !== studied.length || commands.some(hasSideEffect)) return undefined;
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

/** Whether a variable may change what is found, or a file it reads may not be there. */
const hasSideEffect = ({ assignments, redirects }: PlainCommand): boolean =>
  assignments.some((assignment) => !/^(?:[A-D]|CI|LC_ALL)=/.test(assignment)) ||
  redirects.some(({ operator, target }) => operator === "<" && target !== "/dev/null");

const expectedStatus = (name: string, words: readonly string[]): number | undefined => {
  if (stubs.includes(name)) return name === failingStub ? 1 : 0;
  if (name === "nothing" || name === "false") return 1;
  if (name === "pwd" && words.length > 1) return undefined;
  return ["echo", "true", ":", "pwd"].includes(name) ? 0 : undefined;
};
