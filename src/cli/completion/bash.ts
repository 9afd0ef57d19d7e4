import { commands, type CommandSpec } from "../commands.ts";
import { candidatesAfterOption, candidatesForFirstWord, candidatesFor, type Candidates } from "./candidates.ts";

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
${followingCases()
  .map(([when, offer]) => `      ${when}) ${assignments(offer)} ;;`)
  .join("\n")}
      *)
        case "$command:$word" in
${commands.map(({ name }) => `          ${name}:-*) words="${optionsOf(name).join(" ")}" ;;`).join("\n")}
${firstWordCases()
  .map(([when, offer]) => `          ${when}) ${assignments(offer)} ;;`)
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

type BashCase = readonly [when: string, offer: Candidates];

/** What may follow an option or a first word, for each command that has it. */
const followingCases = (): readonly BashCase[] =>
  commands.flatMap(({ name, options, secondChoices: next = {} }) => [
    ...options
      .filter(({ value }) => value !== undefined)
      .map((option): BashCase => {
        const short = option.short === undefined ? "" : `|${name}:-${option.short}`;
        return [`${name}:--${option.name}${short}`, candidatesAfterOption(option)];
      }),
    ...Object.entries(next).map(([first, choices]): BashCase => [`${name}:${first}`, candidatesFor(choices)]),
  ]);

const firstWordCases = (): readonly BashCase[] =>
  commands
    .filter((command) => !isEmpty(candidatesForFirstWord(command)))
    .map((command) => [`${command.name}:*`, candidatesForFirstWord(command)]);

const isEmpty = ({ words, files, command: ask }: Candidates): boolean =>
  words.length === 0 && !files && ask === undefined;

const assignments = ({ words, files, command: ask }: Candidates): string =>
  [
    ...(files ? ["files=yes"] : []),
    ...(ask === undefined ? [] : [`words="$(${ask})"`]),
    ...(words.length === 0 ? [] : [`words="${words.join(" ")}"`]),
  ].join("; ") || ":";

const optionsOf = (name: CommandSpec["name"]): readonly string[] => [
  ...(commands.find((command) => command.name === name)?.options ?? []).flatMap(({ name: option, short }) => [
    ...(short === undefined ? [] : [`-${short}`]),
    `--${option}`,
  ]),
  "--help",
];
