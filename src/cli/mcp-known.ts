import { dirname } from "node:path";
import { openConsents, type Consents } from "../policy/consents.ts";
import type { Consent } from "../policy/settings.ts";
import { openTrust } from "../policy/trust.ts";
import { homeFolder } from "../settings/home.ts";
import { loadSettings } from "../settings/load.ts";
import { readProjectFiles, serversOf } from "../settings/project.ts";
import type { Server } from "../settings/values.ts";
import type { World } from "../world/world.ts";

/** A server that is configured, whoever configured it. */
export type KnownServer = { readonly name: string; readonly server: Server } & (
  | { readonly from: "person" }
  | { readonly from: "project"; readonly file: string; readonly standing: Standing; readonly consent: Consent }
);

/** A server of the project. */
export type ProjectServer = Extract<KnownServer, { from: "project" }>;

/** Whether a project's server is started, and what is in the way. */
type Standing =
  | { readonly state: "agreed" }
  | { readonly state: "asks" }
  | { readonly state: "denied" }
  | { readonly state: "untrusted" }
  /** Another of the same name counts. */
  | { readonly state: "covered" }
  | { readonly state: "unfit"; readonly why: string };

/** Where servers are looked for, and all that were found. */
export type Known = {
  readonly world: World;
  readonly home: string;
  readonly root: string;
  readonly consents: Consents;
  readonly servers: readonly KnownServer[];
};

/**
 * All servers of the person and of the project in this folder. A project's files are read whether it is trusted or not,
 * to show what they want; nothing of it is started.
 */
export const knownServers = async (world: World, root: string): Promise<Known> => {
  const home = homeFolder(world);
  const consents = openConsents(world.disk, home);
  const scope = await openTrust(world.disk, home).projectScope(root);
  const { settings } = await loadSettings(world, { home, root, scope });
  const own = Object.entries(settings.mcpServers).map(([name, server]) => ({ name, server, from: "person" as const }));
  const theirs = await projectServers(world, home, root);
  const wanted = theirs.map(({ consent }) => consent);
  const missing = await consents.missing(root, wanted);
  const unanswered = await consents.unanswered(root, wanted);
  const taken = new Set(own.map(({ name }) => name));
  const standingOf = ({ name, consent, why }: Written): Standing => {
    if (why !== undefined) return { state: "unfit", why };
    if (scope === "inert") return { state: "untrusted" };
    if (taken.has(name)) return { state: "covered" };
    if (missing.includes(consent)) return { state: unanswered.includes(consent) ? "asks" : "denied" };
    taken.add(name);
    return { state: "agreed" };
  };
  const standing = theirs.map((written) => ({
    from: "project" as const,
    name: written.name,
    server: written.server,
    file: written.file,
    consent: written.consent,
    standing: standingOf(written),
  }));
  return { world, home, root, consents, servers: [...own, ...standing] };
};

/** Whether a server may be started: the person's own, or one of a trusted project that they agreed to. */
export const isStartable = (server: KnownServer): boolean =>
  server.from === "person" || server.standing.state === "agreed";

type Written = {
  readonly name: string;
  readonly file: string;
  readonly server: Server;
  readonly consent: Consent;
  readonly why?: string;
};

const projectServers = async (world: World, home: string, root: string): Promise<readonly Written[]> => {
  const gemini = `${world.host.home}/.gemini/settings.json`;
  const files = await readProjectFiles(world.disk, { root, own: [home, dirname(gemini)] });
  return files.flatMap(({ file, settings }) =>
    settings.consents
      .filter(({ key }) => key.startsWith(prefix))
      .map((consent) => {
        const { servers, warnings } = serversOf([consent]);
        const [server] = Object.values(servers);
        const why = server === undefined ? { why: sayingWhy(warnings) } : {};
        return { name: consent.key.slice(prefix.length), file, server: server ?? {}, consent, ...why };
      }),
  );
};

const sayingWhy = (warnings: readonly string[]): string =>
  warnings.map((words) => words.replace(/^In this project: /, "").replace(/\.$/, "")).join("; ");

const prefix = "mcpServers.";
