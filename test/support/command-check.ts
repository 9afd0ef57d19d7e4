import { analyse, type CommandAnalysis } from "../../src/policy/command.ts";
import { judgeCommand } from "../../src/policy/command-judge.ts";
import { readPlain, type PlainCommand } from "../../src/policy/command-plain.ts";
import { couldName, literalOf } from "../../src/policy/command-word.ts";
import type { RealRun } from "./command-runs.ts";
import { failing, realPrograms, stubs } from "./command-scripts.ts";

/** Everything is allowed by its name, as far as a rule can. */
const everything = [...stubs, ...realPrograms].map((name) => [name]);

export const analyseScript = (text: string): Promise<CommandAnalysis> =>
  analyse(text, {
    roots: ["/site"],
    folder: "/site",
    home: "/home/kim",
    env: { PATH: "/programs" },
    resolve: async (name) => ([...stubs, ...realPrograms].includes(name) ? `/programs/${name}` : undefined),
    isInside: async (path) => path === "/site" || path.startsWith("/site/"),
    readFault: async () => undefined,
    canonical: async (path) => path,
    protection: async () => ({ level: "free", reason: "" }),
    repository: async () => ({ root: undefined, risk: undefined }),
  });

/** What is wrong about an analysis, given what the script really did; undefined where nothing is. */
export const faultIn = (analysis: CommandAnalysis, { called, made }: RealRun, shell: string): string | undefined => {
  const ruling = { allow: everything, mode: "default" } as const;
  const { decision } = judgeCommand(analysis, { ...ruling, deny: [] });
  if (analysis.shape === "opaque" && decision === "allow") return "an opaque line is allowed";
  const surprise = made.find((name) => !analysis.unseen && !writes(analysis, name));
  if (surprise !== undefined) return `${surprise} was written, and that was not seen`;
  const stranger = called.find(([name = ""]) => !analysis.unseen && !sees(analysis, name));
  if (stranger !== undefined) return `${JSON.stringify(stranger)} ran and was not seen`;
  const isDenied = judgeCommand(analysis, { ...ruling, deny: [["rm"]] }).decision === "deny";
  if (called.some(([name]) => name === "rm") && !isDenied && !analysis.unseen) return "rm ran and was not denied";
  const yolo = judgeCommand(analysis, { ...ruling, mode: "yolo", deny: [["rm"]] }).decision;
  const isFollowed = !analysis.unseen || analysis.unclear !== undefined;
  if (called.some(([name]) => name === "rm") && yolo === "allow" && isFollowed)
    return "rm ran where everything does, though a rule denies it";
  return analysis.shape === "plain" ? plainFault(analysis, called, shell) : undefined;
};

const writes = (analysis: CommandAnalysis, name: string): boolean =>
  analysis.writes.some(({ path }) => path === `/site/${name}` || path === "/site" || name.startsWith("~"));

const sees = ({ runs }: CommandAnalysis, name: string): boolean =>
  runs.some(([first]) => first !== undefined && couldName(first, name));

/** A plain line runs exactly what its words say, in the way its operators say. */
const plainFault = (analysis: CommandAnalysis, called: RealRun["called"], shell: string): string | undefined => {
  const expected = expectedCalls(analysis);
  const sorted = (calls: RealRun["called"]): readonly string[] =>
    calls.map((words) => JSON.stringify(words)).toSorted();
  if (expected !== undefined)
    return sorted(expected).join() === sorted(called).join()
      ? undefined
      : `expected ${sorted(expected).join(" ")}, but ${sorted(called).join(" ")} ran`;
  return sorted(called.filter((words) => !analysis.unseen && !isForeseen(analysis, words, shell)))[0];
};

/** Everything is read as bash reads it; a plain shell leaves braces alone. */
const isForeseen = ({ runs }: CommandAnalysis, called: readonly string[], shell: string): boolean => {
  const isPlainShell = shell !== "bash" || runs.some(([first]) => literalOf(first ?? []) === "sh");
  return runs.some((words) => {
    const literals = words.map(literalOf);
    return literals.includes(undefined) || isPlainShell
      ? couldName(words[0] ?? [], called[0] ?? "")
      : JSON.stringify(literals) === JSON.stringify(called);
  });
};

/** What a shell calls for a plain line of stubs; undefined where something else is in it, whose end nobody knows. */
const expectedCalls = ({ text, commands: studied }: CommandAnalysis): RealRun["called"] | undefined => {
  const reading = readPlain(text);
  const commands = reading.plain ? reading.commands : [];
  if (commands.length !== studied.length || commands.some(hasSideEffect)) return undefined;
  const calls: (readonly string[])[] = [];
  let status = 0;
  let isSkipped = false;
  for (const { joint, words } of commands) {
    if (joint !== "|") isSkipped = (joint === "&&" && status !== 0) || (joint === "||" && status === 0);
    if (isSkipped) continue;
    const name = words[0] ?? "";
    const end = endOf(name, words);
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

const endOf = (name: string, words: readonly string[]): number | undefined => {
  if (stubs.includes(name)) return name === failing ? 1 : 0;
  if (name === "nothing" || name === "false") return 1;
  if (name === "pwd" && words.length > 1) return undefined;
  return ["echo", "true", ":", "pwd"].includes(name) ? 0 : undefined;
};
