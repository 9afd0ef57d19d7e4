import { join } from "node:path";
import type { HookSettings } from "../../settings/schema/values.ts";
import { describeHookFile, findHookFiles } from "../hooks/hook-files.ts";
import { addHooks, hookImportAgents } from "../hooks/import-hooks.ts";
import { findAgentHome, findPermissions, type PermissionLocations } from "../permissions/find.ts";
import { planPermissionImport, type ImportTarget, type PermissionImport } from "../permissions/import.ts";
import { permissionSources } from "../permissions/source-rules.ts";
import type { AssetCopy } from "./copy-assets.ts";
import { findFolders } from "./folders.ts";
import { findPluginAssets, type FoundPlugin } from "./plugins.ts";
import { describeServer, findServers, type FoundServer } from "./servers.ts";

/** The agents whose files can be adopted. */
export const adoptableAgents = ["claude", "codex", "gemini", "qwen", "opencode", "pi"] as const;
export type AdoptableAgent = (typeof adoptableAgents)[number];

/** The kinds of things an agent keeps. */
export const assetKinds = [
  "context",
  "commands",
  "agents",
  "skills",
  "plugins",
  "hooks",
  "servers",
  "permissions",
  "keys",
  "sessions",
] as const;
export type AssetKind = (typeof assetKinds)[number];

/** Something an agent keeps on this machine. */
export type AgentAsset = {
  readonly agent: AdoptableAgent;
  readonly kind: AssetKind;
  /** The file or folder it is in. */
  readonly path: string;
  /** A count or name, for people. */
  readonly summary: string;
} & (
  | { readonly state: "read"; readonly note: string }
  | { readonly state: "listed"; readonly note: string }
  | { readonly state: "new"; readonly change: AssetChange }
);

/** A change to the person's own settings that takes over an asset. */
type AssetChange =
  | { readonly type: "permissions"; readonly plan: PermissionImport }
  | { readonly type: "server"; readonly server: FoundServer }
  | { readonly type: "context"; readonly fileName: string }
  | { readonly type: "copy"; readonly copy: AssetCopy }
  | { readonly type: "plugin"; readonly found: FoundPlugin }
  /** `lines` shows all of them. */
  | { readonly type: "hooks"; readonly hooks: HookSettings; readonly lines: readonly string[] };

/** Where assets are looked for, and what is set already. */
export type AssetLocations = PermissionLocations & {
  readonly target: ImportTarget;
  /** The person's own hooks. */
  readonly hooks: HookSettings;
  readonly contextFileNames: readonly string[];
  readonly serverNames: readonly string[];
  /** The names of added plugins. */
  readonly pluginNames: readonly string[];
};

/** Finds what an agent keeps in its home and in the project. Reads only. */
export const findAssets = async (agent: AdoptableAgent, locations: AssetLocations): Promise<readonly AgentAsset[]> => {
  const found = await Promise.all([
    findContextFiles(agent, locations),
    findFolders(agent, locations),
    findPluginAssets(agent, locations),
    findServerAssets(agent, locations),
    findPermissionAssets(agent, locations),
    findHookAssets(agent, locations),
    findKeys(agent, locations),
  ]);
  return found.flat().toSorted((one, other) => assetKinds.indexOf(one.kind) - assetKinds.indexOf(other.kind));
};

const contextFiles: { readonly [agent in AdoptableAgent]: string } = {
  claude: "CLAUDE.md",
  codex: "AGENTS.md",
  gemini: "GEMINI.md",
  qwen: "QWEN.md",
  opencode: "AGENTS.md",
  pi: "AGENTS.md",
};

const findContextFiles = async (
  agent: AdoptableAgent,
  { files, project, contextFileNames }: AssetLocations,
): Promise<readonly AgentAsset[]> => {
  const name = contextFiles[agent];
  if (project === undefined || !(await files.exists(join(project, name)))) return [];
  const about = { agent, kind: "context", path: join(project, name), summary: name } as const;
  return contextFileNames.includes(name)
    ? [{ ...about, state: "read", note: "context.fileName" }]
    : [{ ...about, state: "new", change: { type: "context", fileName: name } }];
};

const findServerAssets = async (agent: AdoptableAgent, locations: AssetLocations): Promise<readonly AgentAsset[]> =>
  (await findServers(agent, locations)).map((server): AgentAsset => {
    const about = { agent, kind: "servers", path: server.file, summary: describeServer(server) } as const;
    if (server.problem !== undefined) return { ...about, state: "listed", note: server.problem };
    return locations.serverNames.includes(server.name)
      ? { ...about, state: "read", note: "a server of this name is set already" }
      : { ...about, state: "new", change: { type: "server", server } };
  });

const findPermissionAssets = async (
  agent: AdoptableAgent,
  locations: AssetLocations,
): Promise<readonly AgentAsset[]> => {
  const source = permissionSources.find((each) => each === agent);
  const found = source === undefined ? [] : await findPermissions(source, locations);
  return Promise.all(
    found.map(async (each): Promise<AgentAsset> => {
      const plan = await planPermissionImport([each], locations.target, found);
      const widening = plan.changes.filter(({ isTightening }) => !isTightening).length;
      const parts = [
        `${plan.changes.length - widening} restricting`,
        `${widening} allowing`,
        ...(plan.untranslated.length === 0 ? [] : [`${plan.untranslated.length} left out`]),
      ];
      const about = { agent, kind: "permissions", path: each.file, summary: parts.join(", ") } as const;
      return plan.changes.length === 0
        ? { ...about, state: "read", note: "nothing to add" }
        : { ...about, state: "new", change: { type: "permissions", plan } };
    }),
  );
};

/** The places of keys, which are never read. */
const findKeys = async (agent: AdoptableAgent, locations: AssetLocations): Promise<readonly AgentAsset[]> => {
  const { files, userHome } = locations;
  const home = findAgentHome(agent, locations);
  const share = join(userHome, ".local", "share");
  const places: { readonly [each in AdoptableAgent]: string } = {
    claude: join(home, ".credentials.json"),
    codex: join(home, "auth.json"),
    gemini: join(home, "oauth_creds.json"),
    qwen: join(home, "oauth_creds.json"),
    opencode: join(share, "opencode", "auth.json"),
    pi: join(home, "auth.json"),
  };
  const path = places[agent];
  if (!(await files.exists(path))) return [];
  const note = "not read or copied; sign in with parley login";
  return [{ agent, kind: "keys", path, summary: "a stored sign-in", state: "listed", note }];
};

const findHookAssets = async (agent: AdoptableAgent, locations: AssetLocations): Promise<readonly AgentAsset[]> => {
  const known = hookImportAgents.find((each) => each === agent);
  if (known === undefined) return [];
  return (await findHookFiles(locations.target.world, known)).map((found): AgentAsset => {
    const about = { agent, kind: "hooks", path: found.file } as const;
    if ("problem" in found) return { ...about, summary: "hooks", state: "listed", note: found.problem };
    const { hooks, count, notTaken } = found.imported;
    const left = notTaken.length === 0 ? "" : `, ${notTaken.length} left out`;
    const summary = `${count} ${count === 1 ? "hook" : "hooks"}${left}`;
    const merged = addHooks(locations.hooks, hooks);
    return JSON.stringify(merged) === JSON.stringify(locations.hooks)
      ? { ...about, summary, state: "read", note: "nothing to add" }
      : { ...about, summary, state: "new", change: { type: "hooks", hooks, lines: describeHookFile(found) } };
  });
};
