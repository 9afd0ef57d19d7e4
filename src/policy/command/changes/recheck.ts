import type { ShellCommand, ShellCommandResult } from "../../../tools/capabilities.ts";
import { posix } from "node:path";
import type { ChangedFiles } from "./changed-files.ts";
import type { CommandAnalysis } from "../analysis.ts";
import { findExecutedFiles, commonManifests } from "./executed-files.ts";
import type { CommandRules } from "../decide.ts";
import type { CommandText, JudgedCommand } from "../../gate/request.ts";
import { quotePath } from "../../workspace/paths.ts";

/** Asks again about commands that rules allow, once the agent changed a file they execute. */
export type ChangedFileCheck = {
  /** Returns the decision, turned into a question where an executed file changed. */
  readonly check: (command: CommandText, judged: AnalyzedCommand, ruling: CommandRules) => Promise<AnalyzedCommand>;
  readonly accept: (command: CommandText) => Promise<void>;
  /** Wraps the shell so that known writes of its commands are recorded. */
  readonly trackShell: (shell: TrackedShell) => TrackedShell;
};

type AnalyzedCommand = JudgedCommand & { readonly analysis: CommandAnalysis };

type TrackedShell = { readonly run: (command: ShellCommand) => Promise<ShellCommandResult> };

/** Creates the check. `canonical` follows the links of an absolute path. */
export const createChangedFileCheck = (
  changed: ChangedFiles,
  roots: readonly string[],
  canonical: (path: string) => Promise<string | undefined>,
): ChangedFileCheck => {
  /** Analyses of recent commands, by command line. */
  const analyses = new Map<string, CommandAnalysis>();
  const canonicalize = async (path: string): Promise<string> => (await canonical(path).catch(() => undefined)) ?? path;
  const findExecuted = async (analysis: CommandAnalysis): Promise<(path: string) => boolean> =>
    findExecutedFiles(analysis, canonical);
  return {
    check: async ({ text }, command, { mode, isAllowListOnly }) => {
      const { analysis } = command;
      if (isAllowListOnly === true) return command;
      analyses.delete(text);
      if (analysis.shape === "plain" && analysis.commands.every(({ requiredWords }) => requiredWords === 0))
        return command;
      analyses.set(text, analysis);
      const [oldest] = analyses.keys();
      if (analyses.size > maxAnalyses && oldest !== undefined) analyses.delete(oldest);
      if (command.decision !== "allow" || mode === "yolo") return command;
      const isExecuted = await findExecuted(analysis);
      // A command line may write a file and then run it.
      const written = await Promise.all(analysis.writes.map(({ path }) => canonicalize(path)));
      const [path] = [...(await changed.find(isExecuted)), ...written.filter(isExecuted)];
      if (path === undefined) return command;
      return { ...command, decision: "ask", changedReason: changedFileReason(path, text, roots) };
    },
    accept: async ({ text }) => {
      const analysis = analyses.get(text);
      if (analysis !== undefined) changed.accept(await changed.find(await findExecuted(analysis)));
    },
    trackShell: ({ run }) => ({
      run: async (command) => {
        const analysis = analyses.get(command.text);
        if (analysis === undefined) return run(command);
        const folders = [...new Set([...roots, analysis.folder])];
        const manifests = folders.flatMap((folder) => commonManifests.map((name) => posix.join(folder, name)));
        const written = await Promise.all(analysis.writes.map(({ path }) => canonicalize(path)));
        return changed.track([...manifests, ...written], () => run(command));
      },
    }),
  };
};

/** More than the number of commands that can be pending at once. */
const maxAnalyses = 1000;

const changedFileReason = (path: string, text: string, roots: readonly string[]): string => {
  const root = roots.find((each) => path.startsWith(`${each}/`));
  const relative = root === undefined ? path : path.slice(root.length + 1);
  const name = /^[\w./@+-]+$/.test(relative) ? relative : quotePath(relative);
  const line = text.length > 80 ? `${text.slice(0, 80)}...` : text;
  return `${name} was changed by the agent since you allowed \`${line}\`.`;
};
