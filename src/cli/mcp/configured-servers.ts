import { dirname } from "node:path";
import { openConsentStore, type ConsentStore } from "../../policy/trust/consents.ts";
import type { ConsentRequest } from "../../policy/trust/project-settings.ts";
import { openTrustStore } from "../../policy/trust/folders.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import { loadSettings } from "../../settings/load/load.ts";
import { readProjectSettingsByFile, readConsentedServers } from "../../settings/load/project.ts";
import type { McpServerSettings } from "../../settings/schema/values.ts";
import type { World } from "../../world/world.ts";

/** A configured server, from the user's settings or from the project. */
export type ConfiguredServer = { readonly name: string; readonly server: McpServerSettings } & (
  | { readonly from: "person" }
  | {
      readonly from: "project";
      readonly file: string;
      readonly consentState: ServerConsentState;
      readonly consent: ConsentRequest;
    }
);

/** A server of the project. */
export type ProjectServer = Extract<ConfiguredServer, { from: "project" }>;

/** Whether a project's server may be started, or why not. */
type ServerConsentState =
  | { readonly state: "allowed" }
  | { readonly state: "pending" }
  | { readonly state: "denied" }
  | { readonly state: "untrusted" }
  /** Another server of the same name takes precedence. */
  | { readonly state: "shadowed" }
  | { readonly state: "invalid"; readonly reason: string };

/** The configured servers, and what is needed to act on them. */
export type ServerContext = {
  readonly world: World;
  readonly home: string;
  readonly root: string;
  readonly consents: ConsentStore;
  readonly servers: readonly ConfiguredServer[];
};

/**
 * Loads the servers of the user and of the project in this folder. The project's files are read even if it is not
 * trusted, to show its servers; nothing is started.
 */
export const loadConfiguredServers = async (world: World, root: string): Promise<ServerContext> => {
  const { config: home } = await findHomeFolders(world);
  const consents = openConsentStore(world.disk, home);
  const scope = await openTrustStore(world.disk, home).projectScope(root);
  const { settings } = await loadSettings(world, { home, root, scope });
  const own = Object.entries(settings.mcpServers).map(([name, server]) => ({ name, server, from: "person" as const }));
  const entries = await projectServers(world, home, root);
  const requested = entries.map(({ consent }) => consent);
  const missing = await consents.findMissing(root, requested);
  const unanswered = await consents.findUnanswered(root, requested);
  const taken = new Set(own.map(({ name }) => name));
  const stateOf = ({ name, consent, problem }: ProjectServerEntry): ServerConsentState => {
    if (problem !== undefined) return { state: "invalid", reason: problem };
    if (scope === "inert") return { state: "untrusted" };
    if (taken.has(name)) return { state: "shadowed" };
    if (missing.includes(consent)) return { state: unanswered.includes(consent) ? "pending" : "denied" };
    taken.add(name);
    return { state: "allowed" };
  };
  const ofProject = entries.map((entry) => ({
    from: "project" as const,
    name: entry.name,
    server: entry.server,
    file: entry.file,
    consent: entry.consent,
    consentState: stateOf(entry),
  }));
  return { world, home, root, consents, servers: [...own, ...ofProject] };
};

/** Whether a server may be started: the user's own, or one of a trusted project that the user allowed. */
export const isStartable = (server: ConfiguredServer): boolean =>
  server.from === "person" || server.consentState.state === "allowed";

type ProjectServerEntry = {
  readonly name: string;
  readonly file: string;
  readonly server: McpServerSettings;
  readonly consent: ConsentRequest;
  readonly problem?: string;
};

const projectServers = async (world: World, home: string, root: string): Promise<readonly ProjectServerEntry[]> => {
  const gemini = `${world.host.home}/.gemini/settings.json`;
  const files = await readProjectSettingsByFile(world.disk, { root, personalFolders: [home, dirname(gemini)] });
  return files.flatMap(({ file, settings }) =>
    settings.consents
      .filter(({ key }) => key.startsWith(settingPrefix))
      .map((consent) => {
        const { servers, warnings } = readConsentedServers([consent]);
        const [server] = Object.values(servers);
        const problem = server === undefined ? { problem: reasonFrom(warnings) } : {};
        return { name: consent.key.slice(settingPrefix.length), file, server: server ?? {}, consent, ...problem };
      }),
  );
};

const reasonFrom = (warnings: readonly string[]): string =>
  warnings.map((warning) => warning.replace(/^In this project: /, "").replace(/\.$/, "")).join("; ");

const settingPrefix = "mcpServers.";
