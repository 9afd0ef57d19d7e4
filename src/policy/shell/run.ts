import type { ShellCommand, ShellCommandResult } from "../../tools/capabilities.ts";
import type { Processes, Program, RunningProcess } from "../../world/processes.ts";
import type { Clock } from "../../world/world.ts";
import type { AutoApprovedCommands } from "../command/auto-approved.ts";
import { buildCmdProgram, usesCmd } from "../command/windows.ts";
import { PolicyError } from "../error.ts";
import { quotePath } from "../workspace/paths.ts";
import { sanitizeForTerminal } from "../terminal/sanitize.ts";
import { defaultSearchPath } from "./search-path.ts";
import { LiveTail } from "./live-tail.ts";
import { HeadAndTail } from "./head-and-tail.ts";
import { ProcessStopper } from "./stopper.ts";
import type { Workspace } from "../workspace/open.ts";

/** The part of the world that running commands needs. */
export type ShellWorld = {
  /** The operating system, as Node names it. */
  readonly platform?: string;
  readonly processes: Processes;
  readonly clock: Clock;
  /** The environment variables of commands. */
  readonly env: { readonly [name: string]: string };
  /** The environment of commands that run without approval, and the search path for the shell itself. */
  readonly autoApproved?: Pick<AutoApprovedCommands, "environmentFor" | "searchPath">;
  /** Resolves working folders, and stores long output. */
  readonly files: Pick<Workspace, "resolve" | "keep">;
  /** Wraps a program in a sandbox. */
  readonly confine?: Confine;
  /** The time limit of a command. */
  readonly timeoutMs: number;
};

/** Wraps a program in a sandbox; `writable` are folders it may write to besides the workspace. */
export type Confine = (
  program: Program,
  access?: { readonly writable?: readonly string[] },
) => Promise<ConfinedProgram>;

/** A program wrapped in a sandbox. */
type ConfinedProgram = {
  readonly program: Program;
  /** Cleans up after the program ended, and explains how the sandbox caused a failure; empty if it did not. */
  readonly finish: (end: { readonly code: number | undefined; readonly output: string }) => Promise<string>;
};

/** Opens the shell service: one process group per command, which is killed as a whole when the command is stopped. */
export const openShell = (
  world: ShellWorld,
): { readonly run: (command: ShellCommand) => Promise<ShellCommandResult> } => ({
  run: (command) => runCommand(world, command),
});

const runCommand = async (world: ShellWorld, command: ShellCommand): Promise<ShellCommandResult> => {
  if (command.text.includes("\0"))
    throw new PolicyError("policy_violation", "A command cannot contain a NUL character.");
  const folder = await resolveFolder(world, command.folder);
  const program = await findShellProgram(world, command.text, folder);
  const { program: confined, finish } = await confine(world, program);
  command.signal.throwIfAborted();
  const running = await start(world, confined);
  const stopper = new ProcessStopper(world.clock, running);
  const cancel = (): void => stopper.stop("cancelled");
  command.signal.addEventListener("abort", cancel, { once: true });
  // It may have been cancelled while it was starting.
  if (command.signal.aborted) cancel();
  const { detached } = command;
  const removeTimeout = (): void => stopper.cancelTimeout();
  if (detached?.aborted !== true) stopper.stopAfter(Math.min(command.timeout ?? world.timeoutMs, world.timeoutMs));
  detached?.addEventListener("abort", removeTimeout, { once: true });
  try {
    const output = await readOutput(running, world.clock, command.report);
    const { code, signal } = await running.exited;
    const background = stopper.reason === undefined ? await running.groupMembers() : await stopper.killRemaining();
    const shownOutput = await truncateOutput(output, world);
    const explanation = await finish({ code, output: shownOutput });
    return {
      folder,
      output: explanation === "" ? shownOutput : [shownOutput, explanation].filter((text) => text !== "").join("\n\n"),
      error: undefined,
      code,
      signal,
      background,
      group: running.pid,
      ended: stopper.reason ?? "exit",
    };
  } finally {
    stopper.dispose();
    detached?.removeEventListener("abort", removeTimeout);
    command.signal.removeEventListener("abort", cancel);
  }
};

const resolveFolder = async ({ files }: ShellWorld, requestedFolder: string): Promise<string> => {
  const { path, kind } = await files.resolve(requestedFolder === "" ? "." : requestedFolder);
  if (kind === "folder") return path;
  throw kind === "absent"
    ? new PolicyError("file_not_found", `The folder ${quotePath(requestedFolder)} does not exist.`)
    : new PolicyError(
        "path_is_not_a_directory",
        `${quotePath(requestedFolder)} is not a folder; the command cannot run there.`,
      );
};

/** Finds the shell: bash without start-up files, else `sh`; `cmd.exe` on Windows. */
const findShellProgram = async (world: ShellWorld, text: string, cwd: string): Promise<Program> => {
  const { processes, autoApproved } = world;
  if (usesCmd(world.platform ?? "")) return { cwd, diesWithParent: true, ...buildCmdProgram(text, world.env) };
  const env = (await autoApproved?.environmentFor(text)) ?? world.env;
  const searchPath = (await autoApproved?.searchPath()) ?? env["PATH"] ?? defaultSearchPath;
  const bash = await processes.find("bash", searchPath);
  const common = { cwd, env, diesWithParent: true } as const;
  if (bash !== undefined) return { ...common, file: bash, args: ["--noprofile", "--norc", "-c", text] };
  const sh = await processes.find("sh", searchPath);
  if (sh === undefined) throw new PolicyError("shell_execute_error", "No shell was found (bash or sh).");
  return { ...common, file: sh, args: ["-c", text] };
};

const confine = async (world: ShellWorld, program: Program): Promise<ConfinedProgram> =>
  world.confine === undefined ? { program, finish: async () => "" } : world.confine(program);

const start = async ({ processes }: ShellWorld, program: Program): Promise<RunningProcess> => {
  try {
    return await processes.start(program);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PolicyError("shell_execute_error", `The command could not be started: ${reason}`, { cause: error });
  }
};

const readOutput = async (
  running: RunningProcess,
  clock: Clock,
  report: (text: string) => void,
): Promise<HeadAndTail> => {
  const buffer = new HeadAndTail();
  const liveTail = new LiveTail(clock, report);
  try {
    for await (const { bytes } of running.output) {
      const wasBinary = buffer.isBinary;
      buffer.add(bytes);
      if (!buffer.isBinary) liveTail.add(bytes);
      else if (!wasBinary) liveTail.add(Buffer.from("(binary output, not shown)\n"));
    }
    return buffer;
  } finally {
    liveTail.close();
  }
};

const maxShownCharacters = 40_000;

/** Truncates output for the model: long output is shown in part, with the path of the stored whole. */
const truncateOutput = async (output: HeadAndTail, { files }: ShellWorld): Promise<string> => {
  if (output.isBinary) return `(binary output, ${output.length} bytes, not shown)`;
  const text = sanitizeForTerminal(output.text().replaceAll(/\r\n?/g, "\n")).trimEnd();
  if (text.length <= maxShownCharacters) return text;
  const where = await files.keep(text, "command-output").then(
    (path) => `The stored output is in ${path}; read it with read_file (offset, limit).`,
    () => "The output could not be stored.",
  );
  const head = text.slice(0, maxShownCharacters / 4).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(-(maxShownCharacters * 3) / 4).replace(/^[\udc00-\udfff]/, "");
  const omittedCharacters = text.length - head.length - tail.length - output.gapNotice.length;
  const droppedNotice = output.droppedBytes === 0 ? "" : `${output.droppedBytes} bytes of them were not stored. `;
  return `${head}\n\n[${omittedCharacters + output.droppedBytes} characters omitted. ${droppedNotice}${where}]\n\n${tail}`;
};
