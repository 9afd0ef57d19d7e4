import { providers } from "../../providers/all.ts";
import { wireIds } from "../../providers/find.ts";
import { settingPaths } from "../../settings/schema/table.ts";
import { listSimulatable } from "../requests/simulated-providers.ts";
import type { Choices, CommandSpec, CommandOption } from "../command.ts";

/** Completion candidates for a position: words, files, the output of a shell command, or several of these. */
export type Candidates = { readonly words: readonly string[]; readonly files: boolean; readonly command?: string };

/** Returns the candidates for a list of choices. */
export const candidatesFor = (choices: Choices | undefined): Candidates => {
  switch (choices) {
    case "sessions":
      return { ...noCandidates, command: listSessionIds };
    case "conversations":
      return { ...noCandidates, files: true, command: listSessionIds };
    case "files":
      return { ...noCandidates, files: true };
    default:
      return { ...noCandidates, words: listChoices(choices) };
  }
};

/** Returns the candidates for an option's value. */
export const candidatesAfterOption = ({ value = "", values }: CommandOption): Candidates =>
  values === undefined && (value === "FILE" || value === "FOLDER") ? candidatesFor("files") : candidatesFor(values);

/** Returns the candidates for a command's first argument; without choices, an argument is a file. */
export const candidatesForFirstWord = ({ choices, positionals: [word] }: CommandSpec): Candidates =>
  choices === undefined && word !== undefined && word !== "[TEXT]" && word !== "[TOOL]"
    ? candidatesFor("files")
    : candidatesFor(choices);

const noCandidates: Candidates = { words: [], files: false };

/** Run by the shell at completion time, because sessions change. */
const listSessionIds = "parley sessions list --quiet --all 2>/dev/null";

/** Lists the words of static choices. */
const listChoices = (
  choices: Exclude<Choices, "sessions" | "conversations" | "files"> | undefined,
): readonly string[] => {
  switch (choices) {
    case "wires":
      return wireIds;
    case "formats":
      return ["json", "markdown", "html", "claude", "pi", ...wireIds];
    case "providers":
      return providers.map(({ id }) => id);
    case "targets":
      return providers.map(({ id, defaultModel }) => `${id}/${defaultModel}`);
    case "sources":
      return [...new Set([...wireIds, ...providers.map(({ id }) => id)])];
    case "simulators":
      return [...new Set([...wireIds, ...listSimulatable(), "all"])];
    case "settings":
      return settingPaths;
    default:
      return choices ?? [];
  }
};
