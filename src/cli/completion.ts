import { bashScript } from "./completion-bash.ts";
import { fishScript } from "./completion-fish.ts";
import type { Run } from "./commands.ts";
import { misused } from "./failure.ts";

/** `parley completion`: a script that teaches a shell our commands, options and names. */
export const completion: Run = (given) => {
  const [shell = ""] = given.words;
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  if (script === undefined) throw misused(`There is no completion for "${shell}": bash, zsh and fish have one.`);
  process.stdout.write(script());
  return 0;
};

const scripts: { readonly [shell: string]: (() => string) | undefined } = {
  bash: bashScript,
  zsh: () => `#compdef parley\nautoload -U +X bashcompinit && bashcompinit\n${bashScript()}`,
  fish: fishScript,
};
