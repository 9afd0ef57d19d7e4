import { nearestNames } from "../conversation/nearest-names.ts";
import { parseArguments } from "./parse-arguments.ts";
import type { CommandSpec } from "./command.ts";
import { commands } from "./commands.ts";
import { UserError } from "./user-error.ts";

/** Finds the command and runs it. Arguments that name no command go to `chat`. */
export const dispatch = async (
  argv: readonly string[],
  chat: (argv: readonly string[]) => Promise<number>,
): Promise<number> => {
  const [first = "", ...rest] = argv;
  if (first === "help") return printHelp(rest[0]);
  const command = commands.find(({ name }) => name === first);
  if (argv.includes("--help") || argv.includes("-h")) return printHelp(command?.name);
  if (command === undefined) return chat(checkFirstWord(argv));
  return command.load === undefined ? chat(rest) : runCommand(command, rest);
};

/** Throws if the first argument looks like a mistyped command. */
const checkFirstWord = (argv: readonly string[]): readonly string[] => {
  const [first = ""] = argv;
  if (!/^[a-z][a-z0-9-]*$/.test(first)) return argv;
  const names = commands.map(({ name }) => name);
  if (argv.length > 1 || nearestNames(first, names).length > 0) throw unknownCommand(first);
  return argv;
};

const runCommand = async (command: CommandSpec, argv: readonly string[]): Promise<number> => {
  try {
    const args = parseArguments(command, argv);
    const handler = await command.load?.();
    return (await handler?.(args, commands)) ?? 0;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return printError(error.message, error.showsUsage ? command : undefined, error.code);
  }
};

const printHelp = async (name: string | undefined): Promise<number> => {
  const { commandHelp, programHelp } = await import("./help.ts");
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined && name !== undefined && !name.startsWith("-")) throw unknownCommand(name);
  return print(command === undefined ? programHelp() : commandHelp(command));
};

const unknownCommand = (word: string): UserError => {
  const names = commands.map(({ name }) => name);
  const close = nearestNames(word, names);
  const known = `Available: ${names.join(", ")}. See parley --help.`;
  if (word.startsWith("-")) return new UserError(`Unknown option ${word}. ${known}`);
  return new UserError(
    close.length > 0
      ? `Unknown command "${word}". Did you mean ${close.join(" or ")}?`
      : `Unknown command "${word}". ${known}`,
  );
};

const printError = (message: string, usage: CommandSpec | undefined, code: number): number => {
  process.stderr.write(`parley: ${message}\n`);
  if (usage !== undefined)
    process.stderr.write(`Usage: parley ${usage.name} ${usage.usage}\nSee parley ${usage.name} --help.\n`);
  return code;
};

const print = (text: string): number => {
  process.stdout.write(text);
  return 0;
};
