import { commands, type Command, type Option } from "./commands.ts";
import { offerAfter, offerFirst, offerOf, type Offer } from "./completion-offers.ts";

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
const within = ({ name }: Command): string =>
  name === "chat"
    ? `not __fish_seen_subcommand_from ${commands
        .map((each) => each.name)
        .filter((each) => each !== "chat")
        .join(" ")}`
    : `__fish_seen_subcommand_from ${name}`;

const optionLine = (command: Command, option: Option): string => {
  const { name, short, about, value } = option;
  const of = `-n ${quoted(within(command))}${short === undefined ? "" : ` -s ${short}`} -l ${name} -d ${quoted(about)}`;
  return value === undefined ? line(of) : line(of, ...argumentOf(offerAfter(option)));
};

/** `-x`: a value and no files; `-r -F`: a value, and files. */
const argumentOf = (offer: Offer): readonly string[] => [offer.files ? "-r -F" : "-x", ...listed(offer)];

const listed = ({ words, ask }: Offer): readonly string[] => {
  const each = [...words, ...(ask === undefined ? [] : [`(${ask})`])];
  return each.length === 0 ? [] : ["-a", quoted(each.join(" "))];
};

/** The first word of a command, and the second where the first says what it is. */
const wordLines = (command: Command): readonly string[] => {
  const { name, next = {} } = command;
  const firsts = Object.keys(next);
  const before = firsts.length === 0 ? "" : `; and not __fish_seen_subcommand_from ${firsts.join(" ")}`;
  return [
    ...wordLine(`__fish_seen_subcommand_from ${name}${before}`, offerFirst(command)),
    ...Object.entries(next).flatMap(([first, choices]) =>
      wordLine(`__fish_seen_subcommand_from ${name}; and __fish_seen_subcommand_from ${first}`, offerOf(choices)),
    ),
  ];
};

const wordLine = (when: string, offer: Offer): readonly string[] =>
  listed(offer).length === 0 ? [] : [line("-n", quoted(when), offer.files ? "-F" : "-f", ...listed(offer))];
