import { chat } from "./chat-command.ts";
import { commands, type Command, type Run } from "./commands.ts";
import { version } from "../world/version.ts";
import { isatty } from "node:tty";
import { Failure, isFailure } from "./failure.ts";

/** The whole program: finds the command, and loads nothing the command does not need. */
const main = async (args: readonly string[]): Promise<number> => {
  const [first, ...rest] = args;
  if (first === "--version" || first === "-V") return print(`${version}\n`);
  if (first === "--help" || first === "-h" || first === "help") return help(rest[0]);
  const command = commands.find(({ name }) => name === first);
  if (command === undefined) return talk(args);
  if (rest.includes("--help") || rest.includes("-h")) return help(command.name);
  return run(command, rest);
};

/** Without a command, the arguments are for a model. A single word that looks like a command was probably meant as one. */
const talk = async (args: readonly string[]): Promise<number> => {
  const [first = ""] = args;
  if (/^[a-z][a-z0-9-]*$/.test(first)) {
    const { nearest } = await import("../conversation/nearest.ts");
    const names = commands.map(({ name }) => name);
    if (args.length > 1 || nearest(first, names).length > 0) throw await unknownCommand(first);
  }
  return run(chat, args);
};

const run = async (command: Command, args: readonly string[]): Promise<number> => {
  const { readArguments } = await import("./arguments.ts");
  try {
    const given = readArguments(command, args);
    const work = (await command.load?.()) ?? chatting;
    return await work(given);
  } catch (error) {
    if (!isFailure(error)) throw error;
    return complain(error.message, error.usage ? command : undefined, error.code);
  }
};

/** The interface where there is a terminal, otherwise one task. Both are built apart from the rest, so they are asked for here. */
const chatting: Run = async (given) => {
  const isHeadless =
    given.has("prompt") || given.has("output-format") || given.has("input-format") || !isatty(0) || !isatty(1);
  if (isHeadless) return (await import("./headless.ts")).headless(given);
  return (await import("./terminal.ts")).terminal(given);
};

const help = async (name: string | undefined): Promise<number> => {
  const { commandHelp, programHelp } = await import("./help.ts");
  const command = commands.find((each) => each.name === name);
  if (command === undefined && name !== undefined && !name.startsWith("-")) throw await unknownCommand(name);
  return print(command === undefined ? programHelp() : commandHelp(command));
};

const unknownCommand = async (given: string): Promise<Failure> => {
  const { nearest } = await import("../conversation/nearest.ts");
  const names = commands.map(({ name }) => name);
  const close = nearest(given, names);
  const known = `This version of Parley has the commands ${names.join(", ")}; see parley --help.`;
  if (given.startsWith("-")) return new Failure(`There is no option ${given}. ${known}`);
  return new Failure(
    close.length > 0
      ? `There is no command "${given}". Did you mean ${close.join(" or ")}?`
      : `There is no command "${given}". ${known}`,
  );
};

const complain = (message: string, usage: Command | undefined, code: number): number => {
  process.stderr.write(`parley: ${message}\n`);
  if (usage !== undefined)
    process.stderr.write(`Usage: parley ${usage.name} ${usage.usage}\nSee parley ${usage.name} --help.\n`);
  return code;
};

const print = (text: string): number => {
  process.stdout.write(text);
  return 0;
};

/** What to tell about an error nobody expected, and the exit code that goes with it. */
const explain = (error: unknown): [message: string, usage: undefined, code: number] => {
  if (isFailure(error)) return [error.message, undefined, error.code];
  if (error instanceof RangeError && /call stack/.test(error.message))
    return ["The input is nested too deeply to be read.", undefined, 2];
  if (error instanceof RangeError && /string length/.test(error.message))
    return ["The output is longer than the longest text JavaScript can hold.", undefined, 1];
  return [`This is a bug in Parley.\n${error instanceof Error ? error.stack : String(error)}`, undefined, 2];
};

/** Whoever stops reading does so on purpose; a full disk is worth a word. */
const onWriteError = (error: NodeJS.ErrnoException): void => {
  if (error.code !== "EPIPE") complain(`Cannot write the output: ${error.message}.`, undefined, 1);
  process.exit(error.code === "EPIPE" ? (process.exitCode ?? 0) : 1);
};

process.stdout.on("error", onWriteError);
process.stderr.on("error", () => process.exit(process.exitCode ?? 0));
main(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (error: unknown) => (process.exitCode = complain(...explain(error))),
);
