import { readContextFiles } from "../context/context-files.ts";
import { survey } from "../context/survey.ts";
import { openConsents } from "../policy/consents.ts";
import { shownCommand } from "../policy/plain.ts";
import { createRedactor } from "../policy/redact.ts";
import { ruleText } from "../policy/rules.ts";
import type { Consent, ProjectSettings } from "../policy/settings.ts";
import type { Trust } from "../policy/trust.ts";
import { openWorkspace } from "../policy/workspace.ts";
import { loadSettings, type Loaded } from "../settings/load.ts";
import { serversOf } from "../settings/project.ts";
import type { Server } from "../settings/values.ts";
import type { World } from "../world/world.ts";
import { shortened } from "./table.ts";

/** What counts in a folder because it is trusted. */
export type Active = {
  /** The files models are told, relative to the folder. */
  readonly contextFiles: readonly string[];
  /** What the folder's settings make stricter, in words. */
  readonly settings: readonly string[];
  /** Programs of the folder that the person agreed to before. */
  readonly agreed: readonly string[];
  /** Programs the folder wants run, which are asked about first. */
  readonly waiting: readonly { readonly key: string; readonly runs: string }[];
  readonly notes: readonly string[];
};

/** Where to look. */
export type Trusted = { readonly world: World; readonly home: string; readonly root: string; readonly trusted: Trust };

/** Looks around in a folder that is trusted. Nothing in it runs, and no key that stands in it is shown. */
export const activeIn = async (place: Trusted): Promise<Active> => {
  const { world, home, root } = place;
  const loaded = await loadSettings(world, { home, root, scope: "tighten" });
  const { consents } = loaded.project;
  const missing = await openConsents(world.disk, home).missing(root, consents);
  const { redact } = createRedactor({ env: world.env });
  const context = await contextOf(place, loaded);
  return {
    contextFiles: context.files,
    settings: stricter(loaded.project),
    agreed: consents.filter((consent) => !missing.includes(consent)).map(({ key }) => key),
    waiting: missing.map((consent) => ({
      key: consent.key,
      runs: shortened(shownCommand(redact(runsOf(consent))), 60),
    })),
    notes: [...loaded.warnings, ...context.notes].map(redact),
  };
};

const contextOf = async (
  { world, home, root, trusted: { isTrusted } }: Trusted,
  { settings }: Loaded,
): Promise<{ readonly files: readonly string[]; readonly notes: readonly string[] }> => {
  const { disk } = world;
  const files = await openWorkspace({ disk, roots: [root], home, scratch: `${home}/scratch` });
  try {
    const surveys = [await survey({ disk, files, folder: root })];
    const names = settings["context.fileName"];
    const found = await readContextFiles({ world, files, home, isTrusted, surveys, names });
    return {
      files: found.files.filter(({ scope }) => scope === "project").map(({ label }) => label),
      notes: found.notes.map(({ text }) => text),
    };
  } finally {
    await files.close();
  }
};

const stricter = ({ deny, mode, sandbox }: ProjectSettings): readonly string[] => [
  ...(mode === undefined ? [] : [`at most the mode ${mode}`]),
  ...(sandbox === undefined ? [] : ["commands run in a sandbox"]),
  ...deny.map((rule) => `never ${ruleText(rule)}`),
];

/** What a program is started with, or where it is. */
const runsOf = (consent: Consent): string => {
  const [server] = Object.values(serversOf([consent]).servers);
  const { command, args = [], url, httpUrl }: Server = server ?? {};
  const words = command === undefined ? (url ?? httpUrl) : [command, ...args].join(" ");
  return words ?? consent.text.replaceAll(/\s+/g, " ");
};
