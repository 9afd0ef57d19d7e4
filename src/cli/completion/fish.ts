import { commands, type CommandSpec, type CommandOption } from "../commands.ts";
import { candidatesAfterOption, candidatesForFirstWord, candidatesFor, type Candidates } from "./candidates.ts";

/** The script for fish. */
export const fishScript = (): string =>
  [
    line("-n __fish_use_subcommand -f -s h -l help -d", quoted("Help")),
    line("-n __fish_use_subcommand -f -s V -l version -d", quoted("The version")),
    ...commands.flatMap((command) => [
      line("-n __fish_use_subcommand -f -a", command.name, "-d", quoted(command.about)),
      ...command.options.map((option) => optionLine(command, option)),
      ...wordLines(command),
    ]),
    "",
  ].join("\n");

const line = (...words: readonly string[]): string => `complete -c parley ${words.join(" ")}`;

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, "\\$&")}'`;

/** Talking needs no command: its options are offered where none is named. */
const commandCondition = ({ name }: CommandSpec): string =>
  name === "chat"
    ? `not __fish_seen_subcommand_from ${commands
        .map((each) => each.name)
        .filter((each) => each !== "chat")
        .join(" ")}`
    : `__fish_seen_subcommand_from ${name}`;

const optionLine = (command: CommandSpec, option: CommandOption): string => {
  const { name, short, about, value } = option;
  const of = `-n ${quoted(commandCondition(command))}${short === undefined ? "" : ` -s ${short}`} -l ${name} -d ${quoted(about)}`;
  return value === undefined ? line(of) : line(of, ...argumentOf(candidatesAfterOption(option)));
};

/** `-x`: a value and no files; `-r -F`: a value, and files. */
const argumentOf = (offer: Candidates): readonly string[] => [offer.files ? "-r -F" : "-x", ...candidateList(offer)];

const candidateList = ({ words, command: ask }: Candidates): readonly string[] => {
  const each = [...words, ...(ask === undefined ? [] : [`(${ask})`])];
  return each.length === 0 ? [] : ["-a", quoted(each.join(" "))];
};

/** The first word of a command, and the second where the first says what it is. */
const wordLines = (command: CommandSpec): readonly string[] => {
  const { name, secondChoices: next = {} } = command;
  const firsts = Object.keys(next);
  const before = firsts.length === 0 ? "" : `; and not __fish_seen_subcommand_from ${firsts.join(" ")}`;
  return [
    ...wordLine(`__fish_seen_subcommand_from ${name}${before}`, candidatesForFirstWord(command)),
    ...Object.entries(next).flatMap(([first, choices]) =>
      wordLine(`__fish_seen_subcommand_from ${name}; and __fish_seen_subcommand_from ${first}`, candidatesFor(choices)),
    ),
  ];
};

const wordLine = (when: string, offer: Candidates): readonly string[] =>
  candidateList(offer).length === 0
    ? []
    : [line("-n", quoted(when), offer.files ? "-F" : "-f", ...candidateList(offer))];
