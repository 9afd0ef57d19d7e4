import type { ShellCommand, ShellCommandResult } from "../../tools/capabilities.ts";
import type { World } from "../../world/world.ts";
import type { CommandText, JudgedCommand } from "../gate/request.ts";
import { createCommitKeyScanner } from "../secrets/commit-keys.ts";
import type { Redactor } from "../secrets/redact.ts";
import { openShell, type Confine, type ShellWorld } from "../shell/run.ts";
import type { Workspace } from "../workspace/open.ts";
import { createAutoApprovedCommands } from "./auto-approved.ts";
import type { ChangedFiles } from "./changes/changed-files.ts";
import { createChangedFileCheck } from "./changes/recheck.ts";
import type { CommandRules } from "./decide.ts";
import { createCommandJudge, type CommandWorld } from "./resolve.ts";

/** Everything about the commands of a session. */
export type CommandOptions = Pick<CommandWorld, "ownFolders" | "protection"> &
  Pick<ShellWorld, "timeoutMs"> & {
    readonly world: Pick<World, "clock" | "host" | "disk" | "processes">;
    /** Wraps commands in a sandbox. */
    readonly confine: Confine | undefined;
    /** The environment variables of commands. */
    readonly env: { readonly [name: string]: string };
    /** The workspace folders as the user gave them. */
    readonly roots: readonly string[];
    readonly files: Workspace;
    readonly changed: ChangedFiles;
    readonly redactor: Redactor;
    /** Runs each command that may change files. */
    readonly watchCommand: WatchCommand | undefined;
  };

/** Runs a command that may change files, e.g. between two snapshots of them. */
export type WatchCommand = <Result>(run: () => Promise<Result>) => Promise<Result>;

/** Judges commands, and runs those that are permitted. */
export type Commands = {
  readonly judge: (command: CommandText, rules: CommandRules) => Promise<JudgedCommand>;
  /** Records that the user approved a command with the files it executes as they are now. */
  readonly accept: (command: CommandText) => Promise<void>;
  readonly run: (command: ShellCommand) => Promise<ShellCommandResult>;
  /** Does ahead what the first command would wait for. Runs and records nothing. */
  readonly prepare: () => Promise<void>;
};

/** Opens the commands of a session. */
export const openCommands = (options: CommandOptions): Commands => {
  const { world, env, files, changed, redactor, ownFolders, protection, timeoutMs, confine, watchCommand } = options;
  const { clock, disk, processes } = world;
  const { platform, home } = world.host;
  const commandWorld = { platform, disk, processes, files, ownFolders, roots: files.roots, home, env, protection };
  const judgeCommand = createCommandJudge(commandWorld);
  const changes = createChangedFileCheck(changed, files.roots, disk.canonicalPath);
  const autoApproved = createAutoApprovedCommands(disk, env, [...options.roots, ...files.roots]);
  const commitKeys = createCommitKeyScanner({ disk, processes, clock, redactor, searchPath: autoApproved.searchPath });
  const shell = openShell({
    platform,
    processes,
    clock,
    env,
    autoApproved,
    files,
    timeoutMs,
    ...(confine && { confine }),
  });
  const { run } = changes.trackShell(shell);
  return {
    judge: async (command, rules) => {
      const decided = await changes.check(command, await judgeCommand(command, rules), rules);
      autoApproved.record(command.text, decided, rules);
      const commitFinding =
        rules.isAllowListOnly === true || decided.decision === "deny"
          ? undefined
          : await commitKeys.scan(decided.analysis);
      return commitFinding === undefined ? decided : { ...decided, commitFinding };
    },
    accept: async (command) => {
      commitKeys.accept(command.text);
      await changes.accept(command);
    },
    // A watcher need not see commands that only read.
    run: (command) =>
      watchCommand === undefined || autoApproved.isReadOnly(command.text)
        ? run(command)
        : watchCommand(() => run(command)),
    prepare: async () => {
      await processes.prepare?.();
      await autoApproved.searchPath();
      await judgeCommand({ text: "true", folder: files.roots[0] ?? "/" }, { mode: "plan", allow: [], deny: [] });
    },
  };
};
