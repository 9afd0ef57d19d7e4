import type { CommandSpec } from "../command.ts";
import { candidatesAfterOption, candidatesForFirstWord, candidatesFor, type Candidates } from "./candidates.ts";

/** Generates the bash script, which zsh uses through bashcompinit. */
export const generateBashScript = (commands: readonly CommandSpec[]): string => `\
_parley() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" words="" files=""
  COMPREPLY=()
  case "$command" in
    ${commands.map(({ name }) => name).join("|")}) ;;
    *) command=chat ;;
  esac
  if ((COMP_CWORD == 1)); then
    case "$word" in
      -*) words="${[...optionsOf(commands, "chat"), "--version"].join(" ")}" ;;
      *) words="${commands.map(({ name }) => name).join(" ")}" ;;
    esac
  else
    case "$command:$before" in
${followingCases(commands)
  .map(([when, candidates]) => `      ${when}) ${assignments(candidates)} ;;`)
  .join("\n")}
      *)
        case "$command:$word" in
${commands.map(({ name }) => `          ${name}:-*) words="${optionsOf(commands, name).join(" ")}" ;;`).join("\n")}
${firstWordCases(commands)
  .map(([when, candidates]) => `          ${when}) ${assignments(candidates)} ;;`)
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

type BashCase = readonly [when: string, candidates: Candidates];

/** Candidates after each option with a value and after each first word, by command. */
const followingCases = (commands: readonly CommandSpec[]): readonly BashCase[] =>
  commands.flatMap(({ name, options, secondChoices = {} }) => [
    ...options
      .filter(({ value }) => value !== undefined)
      .map((option): BashCase => {
        const short = option.short === undefined ? "" : `|${name}:-${option.short}`;
        return [`${name}:--${option.name}${short}`, candidatesAfterOption(option)];
      }),
    ...Object.entries(secondChoices).map(([first, choices]): BashCase => [`${name}:${first}`, candidatesFor(choices)]),
  ]);

const firstWordCases = (commands: readonly CommandSpec[]): readonly BashCase[] =>
  commands
    .filter((command) => !isEmpty(candidatesForFirstWord(command)))
    .map((command) => [`${command.name}:*`, candidatesForFirstWord(command)]);

const isEmpty = ({ words, files, command }: Candidates): boolean =>
  words.length === 0 && !files && command === undefined;

const assignments = ({ words, files, command }: Candidates): string =>
  [
    ...(files ? ["files=yes"] : []),
    ...(command === undefined ? [] : [`words="$(${command})"`]),
    ...(words.length === 0 ? [] : [`words="${words.join(" ")}"`]),
  ].join("; ") || ":";

const optionsOf = (commands: readonly CommandSpec[], name: string): readonly string[] => [
  ...(commands.find((spec) => spec.name === name)?.options ?? []).flatMap(({ name: option, short }) => [
    ...(short === undefined ? [] : [`-${short}`]),
    `--${option}`,
  ]),
  "--help",
];
