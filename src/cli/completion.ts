import { providers, wireIds } from "../providers/index.ts";
import { commands, type Command, type Option } from "./commands.ts";
import type { Run } from "./commands.ts";
import { misused } from "./failure.ts";

/** `parley completion`: a script that teaches a shell our commands, options and names. */
export const completion: Run = (given) => {
  const [shell = ""] = given.words;
  const script = scripts[shell];
  if (script === undefined) throw misused(`There is no completion for "${shell}": bash, zsh and fish have one.`);
  process.stdout.write(script());
  return 0;
};

const scripts: Readonly<Record<string, (() => string) | undefined>> = {
  bash: () => bash(),
  zsh: () => `#compdef parley\nautoload -U +X bashcompinit && bashcompinit\n${bash()}`,
  fish: () => fish(),
};

const names: readonly string[] = [...commands.map(({ name }) => name), "--help", "--version"];
const shells = ["bash", "zsh", "fish"];

/** The values an option may have, as words to choose from. */
const valuesOf = ({ values }: Option): readonly string[] => {
  switch (values) {
    case "wires":
      return wireIds;
    case "targets":
      return targets();
    case "sources":
      return [...new Set([...wireIds, ...providers.map(({ id }) => id)])];
    default:
      return values ?? [];
  }
};

const targets = (): readonly string[] => providers.map(({ id, defaultModel }) => `${id}/${defaultModel}`);

const optionsOf = ({ options }: Command): readonly string[] => [...options.map(({ name }) => `--${name}`), "--help"];

/** Every option with a value, once: an option of this name takes the same values everywhere. */
const valued = (): readonly Option[] => [
  ...new Map(
    commands.flatMap(({ options }) =>
      options.filter(({ value }) => value !== undefined).map((option) => [option.name, option] as const),
    ),
  ).values(),
];

const bash = (): string => `\
_parley() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words="${names.join(" ")}"
  else
    case "$before" in
${valued()
  .map((option) => `      --${option.name}) words="${valuesOf(option).join(" ")}" ;;`)
  .join("\n")}
      *)
        case "\${COMP_WORDS[1]}:$word" in
${commands.map((command) => `          ${command.name}:-*) words="${optionsOf(command).join(" ")}" ;;`).join("\n")}
          completion:*) words="${shells.join(" ")}" ;;
          *)
            local IFS=$'\\n'
            compopt -o filenames 2>/dev/null
            COMPREPLY=($(compgen -f -- "$word"))
            return ;;
        esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _parley parley
`;

const fish = (): string => {
  const line = (...words: readonly string[]): string => `complete -c parley ${words.join(" ")}`;
  const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, "\\$&")}'`;
  return [
    line("-n __fish_use_subcommand -f -l help -d", quoted("Help")),
    line("-n __fish_use_subcommand -f -l version -d", quoted("The version")),
    ...commands.flatMap((command) => [
      line("-n __fish_use_subcommand -f -a", command.name, "-d", quoted(command.about)),
      ...command.options.map((option) => {
        const of = `-n ${quoted(`__fish_seen_subcommand_from ${command.name}`)} -l ${option.name} -d ${quoted(option.about)}`;
        const values = valuesOf(option);
        if (option.value === undefined) return line(of);
        return line(of, values.length === 0 ? "-x" : `-x -a ${quoted(values.join(" "))}`);
      }),
    ]),
    line("-n", quoted("__fish_seen_subcommand_from completion"), "-f -a", quoted(shells.join(" "))),
    "",
  ].join("\n");
};
