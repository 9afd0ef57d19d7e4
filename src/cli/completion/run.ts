import { generateBashScript } from "./bash.ts";
import { generateFishScript } from "./fish.ts";
import type { CommandHandler, CommandSpec } from "../command.ts";
import { usageError } from "../user-error.ts";

/** `parley completion`: prints a shell completion script. */
export const completion: CommandHandler = (args, commands) => {
  const [shell = ""] = args.positionals;
  const generate = Object.hasOwn(scriptGenerators, shell) ? scriptGenerators[shell] : undefined;
  if (generate === undefined) throw usageError(`Unknown shell "${shell}". Available: bash, zsh, fish.`);
  process.stdout.write(generate(commands));
  return 0;
};

const scriptGenerators: { readonly [shell: string]: ((commands: readonly CommandSpec[]) => string) | undefined } = {
  bash: generateBashScript,
  zsh: (commands) => `#compdef parley\nautoload -U +X bashcompinit && bashcompinit\n${generateBashScript(commands)}`,
  fish: generateFishScript,
};
