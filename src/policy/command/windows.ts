import type { Program } from "../../world/processes.ts";
import type { Environment } from "../../world/world.ts";
import type { CommandAnalysis } from "./analysis.ts";
import { decideCommand, type CommandDecision, type CommandRules } from "./decide.ts";
import { PolicyError } from "../error.ts";
import { parsePermissionRule } from "../gate/permission-rules.ts";

/** Whether commands run with `cmd.exe` here, and not with bash. */
export const usesCmd = (platform: string): boolean => platform === "win32";

/**
 * The program that runs a command line on Windows: `cmd.exe /c`, without the AutoRun commands of the registry and
 * without looking for programs in the current folder first. Throws a `PolicyError` for more than one line.
 */
export const buildCmdProgram = (
  text: string,
  env: { readonly [name: string]: string },
): Pick<Program, "file" | "args" | "env" | "hasVerbatimArguments"> => {
  // cmd.exe would run the first line and leave out the rest without a word.
  if (/[\r\n]/.test(text))
    throw new PolicyError("shell_execute_error", "cmd.exe runs one line. Join the commands with &&.");
  return {
    file: findCmdPath(env),
    args: ["/d", "/s", "/c", `"${text}"`],
    env: { ...env, NoDefaultCurrentDirectoryInExePath: "1" },
    hasVerbatimArguments: true,
  };
};

/** `ComSpec` where it names a `cmd.exe` by its whole path; the system's own otherwise. */
const findCmdPath = (env: Environment): string => {
  const given = readVariable(env, "ComSpec");
  if (given !== undefined && /^[a-z]:\\(?:[^"\n]*\\)?cmd\.exe$/i.test(given)) return given;
  const root = readVariable(env, "SystemRoot");
  return `${root !== undefined && /^[a-z]:\\[^"\n]*$/i.test(root) ? root.replace(/\\$/, "") : "C:\\Windows"}\\System32\\cmd.exe`;
};

/** Windows does not tell the case of variables apart. */
const readVariable = (env: Environment, name: string): string | undefined =>
  Object.entries(env).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];

/** A command line for `cmd.exe`. The analysis reads bash, so nothing is known of it but its text. */
export const analyzeCmd = (text: string, folder: string): CommandAnalysis => {
  const reason = "cmd.exe reads it by rules of its own";
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
    unclearReason: reason,
    writes: [],
    readsOutside: true,
    writesOutside: true,
    alwaysDeniedReason: text.includes("\0") ? "a command cannot hold a NUL character" : undefined,
  };
};

/** The text as deny rules are looked for in it: without carets, with slashes in paths, and without endings of programs. */
const normalizeCmdText = (text: string): string =>
  text
    .replaceAll("^", "")
    .replaceAll("\\", "/")
    .replaceAll(/\.(?:exe|com|cmd|bat)\b/gi, "");

/**
 * Judges a command line for `cmd.exe`. No command is known to be harmless, so each is asked about, unless a rule
 * names the whole of it, letter for letter.
 */
export const decideCmd = (analysis: CommandAnalysis, ruling: CommandRules): CommandDecision => {
  const judged = decideCommand(analysis, ruling);
  if (judged.decision !== "ask" || judged.asksInEveryMode === true) return judged;
  const { allow, exact = [] } = ruling;
  if ([...allow, ...exact].some((words) => words.join(" ") === analysis.text))
    return { ...judged, decision: "allow", reason: "A rule allows exactly this command." };
  return { ...judged, reason: "On Windows a command is only allowed by a rule that names all of it." };
};
