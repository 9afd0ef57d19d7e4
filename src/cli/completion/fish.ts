import type { CommandSpec, CommandOption } from "../command.ts";
import { candidatesAfterOption, candidatesForFirstWord, candidatesFor, type Candidates } from "./candidates.ts";

/** Generates the fish script. */
export const generateFishScript = (commands: readonly CommandSpec[]): string =>
  [
    line("-n __fish_use_subcommand -f -s h -l help -d", quoted("Print help")),
    line("-n __fish_use_subcommand -f -s V -l version -d", quoted("Print the version")),
    ...commands.flatMap((command) => [
      line("-n __fish_use_subcommand -f -a", command.name, "-d", quoted(command.about)),
      ...command.options.map((option) => optionLine(commandCondition(command, commands), option)),
      ...wordLines(command),
    ]),
    "",
  ].join("\n");

const line = (...words: readonly string[]): string => `complete -c parley ${words.join(" ")}`;

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, "\\$&")}'`;

/** The fish condition for being inside a command. Options of chat are offered if no other command is named. */
const commandCondition = ({ name }: CommandSpec, commands: readonly CommandSpec[]): string =>
  name === "chat"
    ? `not __fish_seen_subcommand_from ${commands
        .map((command) => command.name)
        .filter((other) => other !== "chat")
        .join(" ")}`
    : `__fish_seen_subcommand_from ${name}`;

const optionLine = (condition: string, option: CommandOption): string => {
  const { name, short, about, value } = option;
  const flags = `-n ${quoted(condition)}${short === undefined ? "" : ` -s ${short}`} -l ${name} -d ${quoted(about)}`;
  return value === undefined ? line(flags) : line(flags, ...valueFlags(candidatesAfterOption(option)));
};

/** `-x`: requires a value, no files; `-r -F`: requires a value, offers files. */
const valueFlags = (candidates: Candidates): readonly string[] => [
  candidates.files ? "-r -F" : "-x",
  ...candidateList(candidates),
];

const candidateList = ({ words, command }: Candidates): readonly string[] => {
  const all = [...words, ...(command === undefined ? [] : [`(${command})`])];
  return all.length === 0 ? [] : ["-a", quoted(all.join(" "))];
};

/** Completions for the first argument of a command, and for the second where it depends on the first. */
const wordLines = (command: CommandSpec): readonly string[] => {
  const { name, secondChoices = {} } = command;
  const firsts = Object.keys(secondChoices);
  const before = firsts.length === 0 ? "" : `; and not __fish_seen_subcommand_from ${firsts.join(" ")}`;
  return [
    ...wordLine(`__fish_seen_subcommand_from ${name}${before}`, candidatesForFirstWord(command)),
    ...Object.entries(secondChoices).flatMap(([first, choices]) =>
      wordLine(`__fish_seen_subcommand_from ${name}; and __fish_seen_subcommand_from ${first}`, candidatesFor(choices)),
    ),
  ];
};

const wordLine = (when: string, candidates: Candidates): readonly string[] =>
  candidateList(candidates).length === 0
    ? []
    : [line("-n", quoted(when), candidates.files ? "-F" : "-f", ...candidateList(candidates))];
