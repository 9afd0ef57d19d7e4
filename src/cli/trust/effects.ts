import type { HomeFolders } from "../../world/home-folders.ts";
import { readContextFiles } from "../../context/context-files/read.ts";
import { scanWorkspace } from "../../context/workspace/scan.ts";
import { openConsentStore } from "../../policy/trust/consents.ts";
import { displayCommand } from "../../policy/terminal/sanitize.ts";
import { createRedactor } from "../../policy/secrets/redact.ts";
import { formatPermissionRule } from "../../policy/gate/permission-rules.ts";
import type { ConsentRequest, ProjectSettings } from "../../policy/trust/project-settings.ts";
import type { TrustStore } from "../../policy/trust/folders.ts";
import { openWorkspace } from "../../policy/workspace/open.ts";
import { loadSettings, type LoadedSettings } from "../../settings/load/load.ts";
import { readConsentedServers } from "../../settings/load/project.ts";
import type { McpServerSettings } from "../../settings/schema/values.ts";
import type { World } from "../../world/world.ts";
import { truncate } from "../text-table.ts";

/** The effects of trusting a folder. */
export type TrustEffects = {
  /** Context files, relative to the folder. */
  readonly contextFiles: readonly string[];
  /** Restrictions by the folder's settings, as text. */
  readonly settings: readonly string[];
  /** Programs of the folder the user has already consented to. */
  readonly allowed: readonly string[];
  /** Programs of the folder that need consent first. */
  readonly pending: readonly { readonly key: string; readonly runs: string }[];
  readonly notes: readonly string[];
};

/** A trusted folder, and what is needed to inspect it. */
export type TrustedFolder = {
  readonly world: World;
  readonly home: HomeFolders;
  readonly root: string;
  readonly trusted: TrustStore;
};

/** Inspects a trusted folder. Runs nothing and redacts keys. */
export const describeTrustEffects = async (folder: TrustedFolder): Promise<TrustEffects> => {
  const { world, home, root } = folder;
  const loaded = await loadSettings(world, { home: home.config, root, scope: "tighten" });
  const { consents } = loaded.project;
  const missing = await openConsentStore(world.disk, home.config).findMissing(root, consents);
  const { redact } = createRedactor({ env: world.env });
  const context = await findContextFiles(folder, loaded);
  return {
    contextFiles: context.files,
    settings: describeStricterSettings(loaded.project),
    allowed: consents.filter((consent) => !missing.includes(consent)).map(({ key }) => key),
    pending: missing.map((consent) => ({
      key: consent.key,
      runs: truncate(displayCommand(redact(describeProgram(consent))), 60),
    })),
    notes: [...loaded.warnings, ...context.notes].map(redact),
  };
};

const findContextFiles = async (
  { world, home, root, trusted: { isTrusted } }: TrustedFolder,
  { settings }: LoadedSettings,
): Promise<{ readonly files: readonly string[]; readonly notes: readonly string[] }> => {
  const { disk } = world;
  const files = await openWorkspace({ disk, roots: [root], home, scratch: `${home.data}/scratch` });
  try {
    const surveys = [await scanWorkspace({ disk, files, folder: root })];
    const names = settings["context.fileName"];
    const found = await readContextFiles({ world, files, home, isTrusted, scans: surveys, names });
    return {
      files: found.files.filter(({ scope }) => scope === "project").map(({ label }) => label),
      notes: found.notes.map(({ text }) => text),
    };
  } finally {
    await files.close();
  }
};

const describeStricterSettings = ({ deny, mode, sandbox }: ProjectSettings): readonly string[] => [
  ...(mode === undefined ? [] : [`approval mode at most ${mode}`]),
  ...(sandbox === undefined ? [] : ["sandbox for commands"]),
  ...deny.map((rule) => `deny ${formatPermissionRule(rule)}`),
];

/** Describes a program by its command line or URL. */
const describeProgram = (consent: ConsentRequest): string => {
  const [server] = Object.values(readConsentedServers([consent]).servers);
  const { command, args = [], url, httpUrl }: McpServerSettings = server ?? {};
  const commandLine = command === undefined ? (url ?? httpUrl) : [command, ...args].join(" ");
  return commandLine ?? consent.text.replaceAll(/\s+/g, " ");
};
