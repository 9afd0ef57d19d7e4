import { parseArgs } from "node:util";
import { nearest } from "../conversation/nearest.ts";
import type { Command, Option } from "./commands.ts";
import { misused } from "./failure.ts";

/** What a command was called with, checked against what it takes. */
export type Arguments = {
  readonly words: readonly string[];
  /** The value of an option, the last one where it was given several times. */
  readonly value: (option: string) => string | undefined;
  /** All values of an option. */
  readonly values: (option: string) => readonly string[];
  /** Whether a switch is set. */
  readonly has: (option: string) => boolean;
};

/** Reads what follows a command's name. Throws a `Failure` that names what is nearest to a mistake. */
export const readArguments = (command: Command, args: readonly string[]): Arguments => {
  const { tokens } = parseArgs({
    args: [...args],
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
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const option = command.options.find(
      ({ name, short }) => `--${name}` === token.rawName || (short !== undefined && `-${short}` === token.rawName),
    );
    if (option === undefined) throw unknownOption(command, token.rawName);
    values.set(option.name, [...(values.get(option.name) ?? []), checked(option, token)]);
  }
  demandWords(command, words);
  return {
    words,
    value: (name) => textsIn(values.get(name)).at(-1),
    values: (name) => textsIn(values.get(name)),
    has: (name) => values.has(name),
  };
};

const textsIn = (values: readonly (string | true)[] = []): readonly string[] =>
  values.filter((value) => value !== true);

const unknownOption = ({ name, options }: Command, given: string): Error => {
  const known = options.map((option) => `--${option.name}`);
  const close = nearest(given, known);
  return misused(
    close.length > 0
      ? `${name} has no option ${given}. Did you mean ${close.join(" or ")}?`
      : `${name} has no option ${given}. It has ${known.length === 0 ? "none" : known.join(", ")}.`,
  );
};

const checked = (
  { name, value: placeholder, values }: Option,
  { value, inlineValue }: { readonly value: string | undefined; readonly inlineValue: boolean | undefined },
): string | true => {
  if (placeholder === undefined) {
    if (value !== undefined) throw misused(`--${name} takes no value.`);
    return true;
  }
  if (value === undefined || value === "" || (inlineValue !== true && /^-./.test(value)))
    throw misused(`--${name} needs a value: --${name} ${placeholder}.`);
  if (Array.isArray(values) && !values.includes(value))
    throw misused(`--${name} can be ${values.join(", ")}; it was given as "${value}".`);
  return value;
};

const demandWords = (command: Command, words: readonly string[]): void => {
  const missing = command.words[words.length];
  if (missing !== undefined && !missing.startsWith("[")) throw misused(`${missing} is missing.`);
  if (command.words.at(-1)?.endsWith("...]") === true) return;
  const extra = words[command.words.length];
  if (extra !== undefined) throw misused(`${command.name} does not know what to do with "${extra}".`);
};
