import type { Program } from "../../world/processes.ts";
import type { Environment } from "../../world/world.ts";
import type { CommandAnalysis } from "./analysis.ts";
import { decideCommand, type CommandDecision, type CommandRules } from "./decide.ts";
import { PolicyError } from "../error.ts";
import { parsePermissionRule } from "../gate/permission-rules.ts";

/** Whether commands run with `cmd.exe` on this platform instead of bash. */
export const usesCmd = (platform: string): boolean => platform === "win32";

/**
 * Builds the program that runs a command line on Windows: `cmd.exe /c`, without the AutoRun commands of the registry
 * and without searching programs in the current folder first. Throws a `PolicyError` for more than one line.
 */
export const buildCmdProgram = (
  text: string,
  env: { readonly [name: string]: string },
): Pick<Program, "file" | "args" | "env" | "hasVerbatimArguments"> => {
  // cmd.exe would run the first line and silently drop the rest.
  if (/[\r\n]/.test(text))
    throw new PolicyError("shell_execute_error", "cmd.exe runs one line. Join the commands with &&.");
  return {
    file: findCmdPath(env),
    args: ["/d", "/s", "/c", `"${text}"`],
    env: { ...env, NoDefaultCurrentDirectoryInExePath: "1" },
    hasVerbatimArguments: true,
  };
};

/** `ComSpec` if it names a `cmd.exe` by its full path; otherwise the system's. */
const findCmdPath = (env: Environment): string => {
  const comSpec = readVariable(env, "ComSpec");
  if (comSpec !== undefined && /^[a-z]:\\(?:[^"\n]*\\)?cmd\.exe$/i.test(comSpec)) return comSpec;
  const root = readVariable(env, "SystemRoot");
  return `${root !== undefined && /^[a-z]:\\[^"\n]*$/i.test(root) ? root.replace(/\\$/, "") : "C:\\Windows"}\\System32\\cmd.exe`;
};

/** Windows ignores the case of variable names. */
const readVariable = (env: Environment, name: string): string | undefined =>
  Object.entries(env).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];

/** The analysis of a `cmd.exe` command line. Only bash can be analyzed, so it is opaque. */
export const analyzeCmd = (text: string, folder: string): CommandAnalysis => {
  const reason = "is a cmd.exe command line, which cannot be analyzed";
  const words = text.split(" ");
  const rule = parsePermissionRule(`run_shell_command(${text})`);
  const isRule = rule?.type === "command" && rule.words.join(" ") === text;
  return {
    text,
    folder,
    shape: "opaque",
    reason,
    commands: [
      {
        words,
        operator: "first",
        binary: { kind: "unknown" },
        requiredWords: undefined,
        reason: reason,
        rule: undefined,
      },
    ],
    programs: [],
    suggestedRules: isRule ? [words] : [],
    runs: [],
    mayRunUnseen: true,
    unparsedTexts: [text, normalizeCmdText(text)],
    unclearReason: "cmd.exe command lines cannot be analyzed",
    writes: [],
    operandPaths: [],
    readsOutside: true,
    writesOutside: true,
    alwaysDeniedReason: text.includes("\0") ? "contains a NUL character" : undefined,
  };
};

/** Normalizes the text to search it for denied programs: no carets, forward slashes, no file extensions. */
const normalizeCmdText = (text: string): string =>
  text
    .replaceAll("^", "")
    .replaceAll("\\", "/")
    .replaceAll(/\.(?:exe|com|cmd|bat)\b/gi, "");

/**
 * Decides about a `cmd.exe` command line. No command is known to be harmless, so each needs approval unless a rule
 * contains the whole line, letter for letter.
 */
export const decideCmd = (analysis: CommandAnalysis, rules: CommandRules): CommandDecision => {
  const decision = decideCommand(analysis, rules);
  if (decision.decision !== "ask" || decision.asksInEveryMode === true) return decision;
  const { allow, exact = [] } = rules;
  if ([...allow, ...exact].some((words) => words.join(" ") === analysis.text))
    return { ...decision, decision: "allow", reason: "Allowed by a rule for exactly this command." };
  return {
    ...decision,
    reason: "Not on your allow list. On Windows only a rule with the whole command line allows it.",
  };
};
