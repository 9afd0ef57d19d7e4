import { commands, type Command } from "./commands.ts";
import { offerAfter, offerFirst, offerOf, type Offer } from "./completion-offers.ts";

/** The script for bash, and for zsh where it plays bash. */
export const bashScript = (): string => `\
_parley() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" words="" files=""
  COMPREPLY=()
  case "$command" in
    ${commands.map(({ name }) => name).join("|")}) ;;
    *) command=chat ;;
  esac
  if ((COMP_CWORD == 1)); then
    case "$word" in
      -*) words="${[...optionsOf("chat"), "--version"].join(" ")}" ;;
      *) words="${commands.map(({ name }) => name).join(" ")}" ;;
    esac
  else
    case "$command:$before" in
${afterCases()
  .map(([when, offer]) => `      ${when}) ${setting(offer)} ;;`)
  .join("\n")}
      *)
        case "$command:$word" in
${commands.map(({ name }) => `          ${name}:-*) words="${optionsOf(name).join(" ")}" ;;`).join("\n")}
${firstCases()
  .map(([when, offer]) => `          ${when}) ${setting(offer)} ;;`)
  .join("\n")}
        esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [[ -n $files ]]; then
    local IFS=$'\\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$word"))
  fi
}
complete -F _parley parley
`;

type Case = readonly [when: string, offer: Offer];

/** What may follow an option or a first word, for each command that has it. */
const afterCases = (): readonly Case[] =>
  commands.flatMap(({ name, options, next = {} }) => [
    ...options
      .filter(({ value }) => value !== undefined)
      .map((option): Case => {
        const short = option.short === undefined ? "" : `|${name}:-${option.short}`;
        return [`${name}:--${option.name}${short}`, offerAfter(option)];
      }),
    ...Object.entries(next).map(([first, choices]): Case => [`${name}:${first}`, offerOf(choices)]),
  ]);

const firstCases = (): readonly Case[] =>
  commands
    .filter((command) => !isNothing(offerFirst(command)))
    .map((command) => [`${command.name}:*`, offerFirst(command)]);

const isNothing = ({ words, files, ask }: Offer): boolean => words.length === 0 && !files && ask === undefined;

const setting = ({ words, files, ask }: Offer): string =>
  [
    ...(files ? ["files=yes"] : []),
    ...(ask === undefined ? [] : [`words="$(${ask})"`]),
    ...(words.length === 0 ? [] : [`words="${words.join(" ")}"`]),
  ].join("; ") || ":";

const optionsOf = (name: Command["name"]): readonly string[] => [
  ...(commands.find((command) => command.name === name)?.options ?? []).flatMap(({ name: option, short }) => [
    ...(short === undefined ? [] : [`-${short}`]),
    `--${option}`,
  ]),
  "--help",
];
