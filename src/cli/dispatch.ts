import { nearestNames } from "../conversation/nearest-names.ts";
import { parseArguments } from "./parse-arguments.ts";
import { commands, type CommandSpec } from "./commands.ts";
import { UserError } from "./user-error.ts";

/** Finds the command and runs it. What names no command is said to a model by `talk`. */
export const dispatch = async (
  args: readonly string[],
  talk: (args: readonly string[]) => Promise<number>,
): Promise<number> => {
  const [first = "", ...rest] = args;
  if (first === "help") return printHelp(rest[0]);
  const command = commands.find(({ name }) => name === first);
  if (args.includes("--help") || args.includes("-h")) return printHelp(command?.name);
  if (command === undefined) return talk(checkFirstWord(args));
  return command.load === undefined ? talk(rest) : runCommand(command, rest);
};

/** A single word that looks like a command was probably meant as one. */
const checkFirstWord = (args: readonly string[]): readonly string[] => {
  const [first = ""] = args;
  if (!/^[a-z][a-z0-9-]*$/.test(first)) return args;
  const names = commands.map(({ name }) => name);
  if (args.length > 1 || nearestNames(first, names).length > 0) throw unknownCommand(first);
  return args;
};

const runCommand = async (command: CommandSpec, args: readonly string[]): Promise<number> => {
  try {
    const given = parseArguments(command, args);
    const work = await command.load?.();
    return (await work?.(given)) ?? 0;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return printError(error.message, error.showsUsage ? command : undefined, error.code);
  }
};

const printHelp = async (name: string | undefined): Promise<number> => {
  const { commandHelp, programHelp } = await import("./help.ts");
  const command = commands.find((each) => each.name === name);
  if (command === undefined && name !== undefined && !name.startsWith("-")) throw unknownCommand(name);
  return print(command === undefined ? programHelp() : commandHelp(command));
};

const unknownCommand = (given: string): UserError => {
  const names = commands.map(({ name }) => name);
  const close = nearestNames(given, names);
  const known = `This version of Parley has the commands ${names.join(", ")}; see parley --help.`;
  if (given.startsWith("-")) return new UserError(`There is no option ${given}. ${known}`);
  return new UserError(
    close.length > 0
      ? `There is no command "${given}". Did you mean ${close.join(" or ")}?`
      : `There is no command "${given}". ${known}`,
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
