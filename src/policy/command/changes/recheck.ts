import { posix } from "node:path";
import { createChangedFiles } from "./changed-files.ts";
import type { CommandAnalysis } from "../analysis.ts";
import { findExecutedFiles, commonManifests } from "./executed-files.ts";
import type { CommandRules } from "../decide.ts";
import type { CommandText, JudgedCommand } from "../../gate/request.ts";
import { quotePath } from "../../workspace/paths.ts";
import type { ShellRunOptions, ShellRunResult } from "../../shell/run.ts";
import type { Workspace } from "../../workspace/open.ts";

/** Asks again about commands that rules allow, once the agent changed what they run. */
export type ChangedFileCheck = {
  /** The judgement, with the reason to ask all the same. */
  readonly check: (command: CommandText, judged: AnalyzedCommand, ruling: CommandRules) => Promise<AnalyzedCommand>;
  readonly accept: (command: CommandText) => Promise<void>;
  /** The same files, whose writes are noted. */
  readonly trackFiles: (files: Workspace) => Workspace;
  /** The same shell, whose writes are noted as far as they are known. */
  readonly trackShell: (shell: TrackedShell) => TrackedShell;
};

type AnalyzedCommand = JudgedCommand & { readonly analysis: CommandAnalysis };

type TrackedShell = { readonly run: (command: ShellRunOptions) => Promise<ShellRunResult> };

/** `canonical` tells where an absolute path leads. */
export const createChangedFileCheck = (
  files: Pick<Workspace, "bytes" | "resolve" | "roots">,
  canonical: (path: string) => Promise<string | undefined>,
): ChangedFileCheck => {
  const changed = createChangedFiles(files);
  /** What was read of the last commands, by their texts. */
  const analyses = new Map<string, CommandAnalysis>();
  const settled = async (path: string): Promise<string> => (await canonical(path).catch(() => undefined)) ?? path;
  const runsOf = async (analysis: CommandAnalysis): Promise<(path: string) => boolean> =>
    findExecutedFiles(analysis, canonical);
  return {
    check: async ({ text }, judged, { mode, isAllowListOnly: only }) => {
      const { analysis } = judged;
      if (only === true) return judged;
      analyses.delete(text);
      if (analysis.shape === "plain" && analysis.commands.every(({ requiredWords: needs }) => needs === 0))
        return judged;
      analyses.set(text, analysis);
      const [oldest] = analyses.keys();
      if (analyses.size > maxAnalyses && oldest !== undefined) analyses.delete(oldest);
      if (judged.decision !== "allow" || mode === "yolo") return judged;
      const isRun = await runsOf(analysis);
      // A line may write a file first, and run it then.
      const written = await Promise.all(analysis.writes.map(({ path }) => settled(path)));
      const [path] = [...(await changed.find(isRun)), ...written.filter(isRun)];
      if (path === undefined) return judged;
      return { ...judged, decision: "ask", changedReason: changedFileReason(path, text, files.roots) };
    },
    accept: async ({ text }) => {
      const analysis = analyses.get(text);
      if (analysis !== undefined) changed.accept(await changed.find(await runsOf(analysis)));
    },
    trackFiles: (given) => ({
      ...given,
      write: async (path, bytes, was) => {
        const place = await given.resolve(path).catch(() => undefined);
        return changed.track(place === undefined ? [] : [place.path], () => given.write(path, bytes, was));
      },
    }),
    trackShell: ({ run }) => ({
      run: async (command) => {
        const analysis = analyses.get(command.text);
        if (analysis === undefined) return run(command);
        const folders = [...new Set([...files.roots, analysis.folder])];
        const manifests = folders.flatMap((folder) => commonManifests.map((name) => posix.join(folder, name)));
        const written = await Promise.all(analysis.writes.map(({ path }) => settled(path)));
        return changed.track([...manifests, ...written], () => run(command));
      },
    }),
  };
};

/** As many as can wait to be run at once, and more. */
const maxAnalyses = 1000;

const changedFileReason = (path: string, text: string, roots: readonly string[]): string => {
  const root = roots.find((each) => path.startsWith(`${each}/`));
  const relative = root === undefined ? path : path.slice(root.length + 1);
  const name = /^[\w./@+-]+$/.test(relative) ? relative : quotePath(relative);
  const line = text.length > 80 ? `${text.slice(0, 80)}...` : text;
  return `${name} was changed by the agent since you allowed \`${line}\`.`;
};
