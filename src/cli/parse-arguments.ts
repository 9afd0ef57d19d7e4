import { parseArgs } from "node:util";
import { nearestNames } from "../conversation/nearest-names.ts";
import type { Arguments, CommandOption, CommandSpec } from "./command.ts";
import { usageError } from "./user-error.ts";

/** Parses the arguments after a command's name. Throws a `UserError` that suggests the nearest names. */
export const parseArguments = (command: CommandSpec, args: readonly string[]): Arguments => {
  const { tokens } = parseArgs({
    args: fillOptionalValues(command, args),
    strict: false,
    tokens: true,
    options: Object.fromEntries(
      command.options.map(({ name, value, short }) => [
        name,
        { type: value === undefined ? "boolean" : "string", ...(short === undefined ? {} : { short }) } as const,
      ]),
    ),
  });
  const values = new Map<string, readonly (string | true)[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const option = command.options.find(
      ({ name, short }) => `--${name}` === token.rawName || (short !== undefined && `-${short}` === token.rawName),
    );
    if (option === undefined) throw unknownOption(command, token.rawName);
    values.set(option.name, [...(values.get(option.name) ?? []), checkValue(option, token)]);
  }
  checkPositionals(command, positionals);
  return {
    positionals,
    value: (name) => stringValues(values.get(name)).at(-1),
    values: (name) => stringValues(values.get(name)),
    has: (name) => values.has(name),
  };
};

/** Gives options whose value is left out an empty one: `-r -p TEXT` is `--resume= -p TEXT`. */
const fillOptionalValues = ({ options }: CommandSpec, args: readonly string[]): string[] => {
  const optional = options.filter(({ isValueOptional }) => isValueOptional === true);
  const end = args.indexOf("--");
  return args.map((word, index) => {
    if (end !== -1 && index >= end) return word;
    const option = optional.find(({ name, short }) => word === `--${name}` || word === `-${short ?? name}`);
    const next = args[index + 1];
    return option === undefined || (next !== undefined && !next.startsWith("-")) ? word : `--${option.name}=`;
  });
};

const stringValues = (values: readonly (string | true)[] = []): readonly string[] =>
  values.filter((value) => value !== true);

const unknownOption = ({ name, options }: CommandSpec, rawName: string): Error => {
  const known = options.map((option) => `--${option.name}`);
  const close = nearestNames(rawName, known);
  return usageError(
    close.length > 0
      ? `Unknown option ${rawName} for ${name}. Did you mean ${close.join(" or ")}?`
      : `Unknown option ${rawName} for ${name}. ${known.length === 0 ? "It takes none." : `Available: ${known.join(", ")}.`}`,
  );
};

const checkValue = (
  { name, value: placeholder, isValueOptional, values }: CommandOption,
  { value, inlineValue }: { readonly value: string | undefined; readonly inlineValue: boolean | undefined },
): string | true => {
  if (placeholder === undefined) {
    if (value !== undefined) throw usageError(`--${name} takes no value.`);
    return true;
  }
  if (isValueOptional === true && value === "") return value;
  if (value === undefined || value === "" || (inlineValue !== true && /^-./.test(value)))
    throw usageError(`--${name} needs a value: --${name} ${placeholder}.`);
  if (Array.isArray(values) && !values.includes(value))
    throw usageError(`Unknown value "${value}" for --${name}. Available: ${values.join(", ")}.`);
  return value;
};

const checkPositionals = (command: CommandSpec, positionals: readonly string[]): void => {
  const missing = command.positionals[positionals.length];
  if (missing !== undefined && !missing.startsWith("[")) throw usageError(`Missing argument ${missing}.`);
  if (command.positionals.at(-1)?.endsWith("...]") === true) return;
  const extra = positionals[command.positionals.length];
  if (extra !== undefined) throw usageError(`Unexpected argument "${extra}" for ${command.name}.`);
};
