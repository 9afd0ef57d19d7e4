import { providers } from "../../providers/all.ts";
import { wireIds } from "../../providers/find.ts";
import { settingPaths } from "../../settings/schema/table.ts";
import { listSimulatedProviders } from "../../sim/registry.ts";
import type { Choices, CommandSpec, CommandOption } from "../commands.ts";

/** What can be offered in a place: words, files, or what a command prints, or several of them. */
export type Candidates = { readonly words: readonly string[]; readonly files: boolean; readonly command?: string };

/** What may stand for choices. */
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

/** What may follow an option. */
export const candidatesAfterOption = ({ value = "", values }: CommandOption): Candidates =>
  values === undefined && (value === "FILE" || value === "FOLDER") ? candidatesFor("files") : candidatesFor(values);

/** What may be the first word of a command. One that takes a word of no fixed kind takes a file. */
export const candidatesForFirstWord = ({ choices, positionals: [word] }: CommandSpec): Candidates =>
  choices === undefined && word !== undefined && word !== "[TEXT]" && word !== "[TOOL]"
    ? candidatesFor("files")
    : candidatesFor(choices);

const noCandidates: Candidates = { words: [], files: false };

/** The shell asks when it completes: sessions come and go. */
const listSessionIds = "parley sessions list --quiet --all 2>/dev/null";

/** Words to choose from, in full. */
const listChoices = (
  choices: Exclude<Choices, "sessions" | "conversations" | "files"> | undefined,
): readonly string[] => {
  switch (choices) {
    case "wires":
      return wireIds;
    case "formats":
      return ["json", "markdown", ...wireIds];
    case "providers":
      return providers.map(({ id }) => id);
    case "targets":
      return providers.map(({ id, defaultModel }) => `${id}/${defaultModel}`);
    case "sources":
      return [...new Set([...wireIds, ...providers.map(({ id }) => id)])];
    case "simulators":
      return [...new Set([...wireIds, ...listSimulatedProviders(), "all"])];
    case "settings":
      return settingPaths;
    default:
      return choices ?? [];
  }
};
