import {
  checkoutGitVariables,
  listConfigKeysCall,
  parseConfigKeys,
  safeGitCall,
  type GitQuery,
} from "../policy/command/repository/safe-git.ts";
import { defaultSearchPath } from "../policy/shell/search-path.ts";
import type { World } from "../world/world.ts";
import { WorkplaceError } from "./workplace.ts";

/** Runs git for workplaces. No hook and no program that a repository's configuration names is run. */
export type Git = {
  /** Runs a command in a folder and returns its output, trimmed. Rejects if it fails. */
  readonly run: (folder: string, args: readonly string[]) => Promise<string>;
  readonly succeeds: (folder: string, args: readonly string[]) => Promise<boolean>;
  /** Whether files differ from the last commit, or are new and not ignored. A model may have written its configuration. */
  readonly isChanged: (folder: string) => Promise<boolean>;
};

type GitOutcome = { readonly code: number | undefined; readonly output: string; readonly errors: string };

/** Opens git. It is looked for when it is first used. */
export const openGit = ({ env, processes }: Pick<World, "env" | "processes">): Git => {
  const searchPath = env["PATH"] ?? defaultSearchPath;
  const call = async (folder: string, args: readonly string[], variables: World["env"]): Promise<GitOutcome> => {
    const file = await processes.find("git", searchPath);
    if (file === undefined) throw failure("git is not installed");
    const running = await processes.start({
      file,
      args,
      cwd: folder,
      env: definedOnly(variables),
      diesWithParent: true,
    });
    let [output, errors] = ["", ""];
    for await (const { from, bytes } of running.output)
      if (from === "output") output += Buffer.from(bytes).toString();
      else errors += Buffer.from(bytes).toString();
    return { ...(await running.exited), output, errors };
  };
  const check = ({ code, output, errors }: GitOutcome): string => {
    if (code === 0) return output.trim();
    throw failure(
      errors.split("\n").find((line) => line.startsWith("fatal:")) ?? `git ended with ${code ?? "a signal"}`,
    );
  };
  const readConfigKeys = async (folder: string): Promise<readonly string[]> => {
    const { args, env: variables } = listConfigKeysCall({ folder, searchPath });
    return parseConfigKeys(check(await call(folder, args, variables)));
  };
  const query = async (folder: string, given: GitQuery): Promise<string> => {
    const safe = safeGitCall(given, { folder, searchPath }, await readConfigKeys(folder));
    return check(await call(folder, safe.args, safe.env));
  };
  const change = async (folder: string, args: readonly string[]): Promise<GitOutcome> =>
    call(folder, args, {
      PATH: searchPath,
      ...checkoutGitVariables(await readConfigKeys(folder)),
      ...environment,
    });
  return {
    run: async (folder, args) => check(await change(folder, args)),
    succeeds: async (folder, args) => (await change(folder, args)).code === 0,
    isChanged: async (folder) =>
      (await query(folder, { command: "diff", options: ["--name-only", "HEAD"] })) !== "" ||
      (await query(folder, { command: "ls-files", options: ["--others", "--exclude-standard"] })) !== "",
  };
};

/** Local repositories only: a project's own remotes are not asked. */
const environment: Readonly<Record<string, string>> = {
  LC_ALL: "C.UTF-8",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ALLOW_PROTOCOL: "file",
};

const definedOnly = (variables: World["env"]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

const failure = (message: string): WorkplaceError =>
  new WorkplaceError(`The workplace of the session failed: ${message}.`);
