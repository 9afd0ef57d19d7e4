import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import type { CommandHandler } from "../commands.ts";
import { usageError } from "../user-error.ts";

/** `parley completion`: a script that teaches a shell our commands, options and names. */
export const completion: CommandHandler = (given) => {
  const [shell = ""] = given.positionals;
  const script = Object.hasOwn(scriptGenerators, shell) ? scriptGenerators[shell] : undefined;
  if (script === undefined) throw usageError(`There is no completion for "${shell}": bash, zsh and fish have one.`);
  process.stdout.write(script());
  return 0;
};

const scriptGenerators: { readonly [shell: string]: (() => string) | undefined } = {
  bash: bashScript,
  zsh: () => `#compdef parley\nautoload -U +X bashcompinit && bashcompinit\n${bashScript()}`,
  fish: fishScript,
};
