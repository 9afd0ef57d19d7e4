import { isatty } from "node:tty";
import { version } from "../world/version.ts";
import { UserError } from "./user-error.ts";

/** Runs the program with these arguments and returns the exit code. An error is printed, never thrown. */
export const runProgram = (args: readonly string[]): Promise<number> =>
  start(args).catch((error: unknown) => printError(...describeError(error)));

/** Decides what to run and loads only that. */
const start = async (args: readonly string[]): Promise<number> => {
  const [first = "-"] = args;
  process.stdout.on("error", onWriteError);
  if (first === "--version" || first === "-V") return print(`${version}\n`);
  process.stderr.on("error", () => process.exit(process.exitCode ?? 0));
  if (first.startsWith("-") && !args.includes("--help") && !args.includes("-h")) return chat(args);
  return (await import("./dispatch.ts")).dispatch(args, chat);
};

/** Starts the terminal UI, or a headless run without a terminal. Both are imported here because they are built as separate parts. */
const chat = async (args: readonly string[]): Promise<number> => {
  const isHeadless = args.some((word) => headlessOption.test(word)) || !isatty(0) || !isatty(1);
  if (isHeadless) return (await import("./headless/run.ts")).runHeadless(args);
  return (await import("./chat/interactive.ts")).runInteractive(args);
};

/** Options that imply a headless run. */
const headlessOption = /^(-[cy]*[po]|--(prompt|output-format|input-format)(=|$))/;

const printError = (message: string, code: number): number => {
  process.stderr.write(`parley: ${message}\n`);
  return code;
};

const print = (text: string): number => {
  process.stdout.write(text);
  return 0;
};

/** Returns the message and exit code for an error. */
const describeError = (error: unknown): [message: string, code: number] => {
  if (error instanceof UserError)
    return [error.showsUsage ? `${error.message}\nSee parley --help.` : error.message, error.code];
  if (error instanceof RangeError && /call stack/.test(error.message)) return ["The input is nested too deeply.", 2];
  if (error instanceof RangeError && /string length/.test(error.message))
    return ["The output exceeds the longest string JavaScript can hold.", 1];
  if (error instanceof Error && "syscall" in error && error.syscall === "uv_cwd")
    return ["The current folder no longer exists. Change to another one, or use --cwd.", 2];
  return [`This is a bug in Parley.\n${error instanceof Error ? error.stack : String(error)}`, 2];
};

/** Exits silently if the output is closed (EPIPE), with a message for other errors such as a full disk. */
const onWriteError = (error: NodeJS.ErrnoException): void => {
  if (error.code !== "EPIPE") printError(`Cannot write the output: ${error.message}.`, 1);
  process.exit(error.code === "EPIPE" ? (process.exitCode ?? 0) : 1);
};
