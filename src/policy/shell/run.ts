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

/** What running commands needs of the world. */
export type ShellWorld = {
  /** The system commands run on, as Node names it. */
  readonly platform?: string;
  readonly processes: Processes;
  readonly clock: Clock;
  /** What commands find in their environment. */
  readonly env: { readonly [name: string]: string };
  /** Tells what commands that nobody was asked about find there instead, and where the shell itself is found. */
  readonly autoApproved?: Pick<AutoApprovedCommands, "environmentFor" | "searchPath">;
  /** Where commands run, and where long output is kept. */
  readonly files: Pick<Workspace, "resolve" | "keep">;
  /** Puts a program into a sandbox. */
  readonly confine?: (program: Program) => Promise<ConfinedProgram>;
  /** Milliseconds a command may run. */
  readonly timeoutMs: number;
};

/** A program put into a sandbox. */
export type ConfinedProgram = {
  readonly program: Program;
  /** Tidies up once the program has ended, and says what the sandbox had to do with its failure; empty if nothing. */
  readonly finish: (end: { readonly code: number | undefined; readonly output: string }) => Promise<string>;
};

/** A command to run. */
export type ShellRunOptions = {
  readonly text: string;
  readonly folder: string;
  readonly timeout?: number;
  readonly signal: AbortSignal;
  readonly report: (text: string) => void;
};

/** How it ended. */
export type ShellRunResult = {
  readonly folder: string;
  readonly output: string;
  readonly error: string | undefined;
  readonly code: number | undefined;
  readonly signal: string | undefined;
  readonly background: readonly number[];
  readonly group: number | undefined;
  readonly ended: "exit" | "timeout" | "cancelled";
};

/** The shell service: one process group per command, all of it gone when the command is stopped. */
export const openShell = (
  world: ShellWorld,
): { readonly run: (command: ShellRunOptions) => Promise<ShellRunResult> } => ({
  run: (command) => runCommand(world, command),
});

const runCommand = async (world: ShellWorld, command: ShellRunOptions): Promise<ShellRunResult> => {
  if (command.text.includes("\0")) throw new PolicyError("policy_violation", "A command cannot hold a NUL character.");
  const folder = await resolveFolder(world, command.folder);
  const program = await findShellProgram(world, command.text, folder);
  const { program: confined, finish } = await confine(world, program);
  command.signal.throwIfAborted();
  const running = await start(world, confined);
  const stopper = new ProcessStopper(world.clock, running);
  const cancel = (): void => stopper.stop("cancelled");
  command.signal.addEventListener("abort", cancel, { once: true });
  // It may have been cancelled while it started.
  if (command.signal.aborted) cancel();
  stopper.stopAfter(Math.min(command.timeout ?? world.timeoutMs, world.timeoutMs));
  try {
    const output = await readOutput(running, world.clock, command.report);
    const { code, signal } = await running.exited;
    const background = stopper.reason === undefined ? await running.groupMembers() : await stopper.killRemaining();
    const shownOutput = await truncateOutput(output, world);
    const remark = await finish({ code, output: shownOutput });
    return {
      folder,
      output: remark === "" ? shownOutput : [shownOutput, remark].filter((text) => text !== "").join("\n\n"),
      error: undefined,
      code,
      signal,
      background,
      group: running.pid,
      ended: stopper.reason ?? "exit",
    };
  } finally {
    stopper.dispose();
    command.signal.removeEventListener("abort", cancel);
  }
};

const resolveFolder = async ({ files }: ShellWorld, given: string): Promise<string> => {
  const { path, kind } = await files.resolve(given === "" ? "." : given);
  if (kind === "folder") return path;
  throw kind === "absent"
    ? new PolicyError("file_not_found", `There is no folder ${quotePath(given)} to run the command in.`)
    : new PolicyError("path_is_not_a_directory", `${quotePath(given)} is not a folder; the command cannot run there.`);
};

/** Bash as it comes, without anybody's start-up files; a plain shell where there is none; `cmd.exe` on Windows. */
const findShellProgram = async (world: ShellWorld, text: string, folder: string): Promise<Program> => {
  const { processes, autoApproved: unasked } = world;
  if (usesCmd(world.platform ?? "")) return { cwd: folder, diesWithParent: true, ...buildCmdProgram(text, world.env) };
  const env = (await unasked?.environmentFor(text)) ?? world.env;
  const searchPath = (await unasked?.searchPath()) ?? env["PATH"] ?? defaultSearchPath;
  const bash = await processes.find("bash", searchPath);
  const common = { cwd: folder, env, diesWithParent: true } as const;
  if (bash !== undefined) return { ...common, file: bash, args: ["--noprofile", "--norc", "-c", text] };
  const sh = await processes.find("sh", searchPath);
  if (sh === undefined)
    throw new PolicyError("shell_execute_error", "There is no shell on this machine to run commands with.");
  return { ...common, file: sh, args: ["-c", text] };
};

const confine = async (world: ShellWorld, program: Program): Promise<ConfinedProgram> =>
  world.confine === undefined ? { program, finish: async () => "" } : world.confine(program);

const start = async ({ processes }: ShellWorld, program: Program): Promise<RunningProcess> => {
  try {
    return await processes.start(program);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new PolicyError("shell_execute_error", `The command could not be started: ${why}`, { cause: error });
  }
};

const readOutput = async (
  running: RunningProcess,
  clock: Clock,
  report: (text: string) => void,
): Promise<HeadAndTail> => {
  const all = new HeadAndTail();
  const live = new LiveTail(clock, report);
  try {
    for await (const { bytes } of running.output) {
      const wasBinary = all.isBinary;
      all.add(bytes);
      if (!all.isBinary) live.add(bytes);
      else if (!wasBinary) live.add(Buffer.from("(binary output, not shown)\n"));
    }
    return all;
  } finally {
    live.close();
  }
};

const maxShownCharacters = 40_000;

/** The output as a model reads it: short ones whole, long ones in part with word of where the rest is. */
const truncateOutput = async (output: HeadAndTail, { files }: ShellWorld): Promise<string> => {
  if (output.isBinary) return `(binary output, ${output.length} bytes, not shown)`;
  const text = sanitizeForTerminal(output.text().replaceAll(/\r\n?/g, "\n")).trimEnd();
  if (text.length <= maxShownCharacters) return text;
  const where = await files.keep(text, "command-output").then(
    (path) => `What was kept is in ${path}; read_file reads it by offset and limit.`,
    () => "They could not be kept.",
  );
  const head = text.slice(0, maxShownCharacters / 4).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(-(maxShownCharacters * 3) / 4).replace(/^[\udc00-\udfff]/, "");
  const left = text.length - head.length - tail.length - output.gapNotice.length;
  const lost = output.droppedBytes === 0 ? "" : `${output.droppedBytes} bytes of them were not kept at all. `;
  return `${head}\n\n[${left + output.droppedBytes} characters left out here. ${lost}${where}]\n\n${tail}`;
};
