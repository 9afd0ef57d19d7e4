import { providers } from "../providers/all.ts";
import { wireIds } from "../providers/find.ts";
import { settingPaths } from "../settings/table.ts";
import { simulated } from "../sim/all.ts";
import type { Choices, Command, Option } from "./commands.ts";

/** What can be offered in a place: words, files, or what a command prints, or several of them. */
export type Offer = { readonly words: readonly string[]; readonly files: boolean; readonly ask?: string };

/** What may stand for choices. */
export const offerOf = (choices: Choices | undefined): Offer => {
  switch (choices) {
    case "sessions":
      return { ...nothing, ask: sessionIds };
    case "conversations":
      return { ...nothing, files: true, ask: sessionIds };
    case "files":
      return { ...nothing, files: true };
    default:
      return { ...nothing, words: wordsOf(choices) };
  }
};

/** What may follow an option. */
export const offerAfter = ({ value = "", values }: Option): Offer =>
  values === undefined && (value === "FILE" || value === "FOLDER") ? offerOf("files") : offerOf(values);

/** What may be the first word of a command. One that takes a word of no fixed kind takes a file. */
export const offerFirst = ({ choices, words: [word] }: Command): Offer =>
  choices === undefined && word !== undefined && word !== "[TEXT]" && word !== "[TOOL]"
    ? offerOf("files")
    : offerOf(choices);

const nothing: Offer = { words: [], files: false };

/** The shell asks when it completes: sessions come and go. */
const sessionIds = "parley sessions list --quiet --all 2>/dev/null";

/** Words to choose from, in full. */
const wordsOf = (choices: Exclude<Choices, "sessions" | "conversations" | "files"> | undefined): readonly string[] => {
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
      return [...new Set([...wireIds, ...simulated(), "all"])];
    case "settings":
      return settingPaths;
    default:
      return choices ?? [];
  }
};
