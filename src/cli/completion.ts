import { providers, wireIds } from "../providers/index.ts";
import { simulated } from "../sim/all.ts";
import { commands, type Choices, type Command } from "./commands.ts";
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

/** Words to choose from, in full. */
const wordsOf = (choices: Choices | undefined): readonly string[] => {
  switch (choices) {
    case "wires":
      return wireIds;
    case "providers":
      return providers.map(({ id }) => id);
    case "targets":
      return providers.map(({ id, defaultModel }) => `${id}/${defaultModel}`);
    case "sources":
      return [...new Set([...wireIds, ...providers.map(({ id }) => id)])];
    case "simulators":
      return [...new Set([...wireIds, ...simulated(), "all"])];
    default:
      return choices ?? [];
  }
};

const optionsOf = ({ options }: Command): readonly string[] => [...options.map(({ name }) => `--${name}`), "--help"];

/** Commands whose first word is chosen, not typed. */
const choosers: readonly Command[] = commands.filter(({ choices }) => choices !== undefined);

/** What may follow an option, for each command that has it. */
const valueCases = (): readonly (readonly [when: string, words: readonly string[] | "files"])[] =>
  commands.flatMap(({ name, options }) =>
    options
      .filter(({ value }) => value !== undefined)
      .map(
        (option) => [`${name}:--${option.name}`, option.value === "FILE" ? "files" : wordsOf(option.values)] as const,
      ),
  );

const bash = (): string => `\
_parley() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words="" files=""
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words="${names.join(" ")}"
  else
    case "\${COMP_WORDS[1]}:$before" in
${valueCases()
  .map(([when, words]) => `      ${when}) ${words === "files" ? "files=yes" : `words="${words.join(" ")}"`} ;;`)
  .join("\n")}
      *)
        case "\${COMP_WORDS[1]}:$word" in
${commands.map((command) => `          ${command.name}:-*) words="${optionsOf(command).join(" ")}" ;;`).join("\n")}
${choosers.map(({ name, choices }) => `          ${name}:*) words="${wordsOf(choices).join(" ")}" ;;`).join("\n")}
          *) files=yes ;;
        esac ;;
    esac
  fi
  if [[ -n $files ]]; then
    local IFS=$'\\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$word"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  fi
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
        const values = wordsOf(option.values);
        if (option.value === undefined) return line(of);
        if (option.value === "FILE") return line(of, "-r -F");
        return line(of, values.length === 0 ? "-x" : `-x -a ${quoted(values.join(" "))}`);
      }),
    ]),
    ...choosers.map(({ name, choices }) =>
      line("-n", quoted(`__fish_seen_subcommand_from ${name}`), "-f -a", quoted(wordsOf(choices).join(" "))),
    ),
    "",
  ].join("\n");
};
