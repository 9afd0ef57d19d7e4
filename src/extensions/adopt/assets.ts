import { join } from "node:path";
import type { AgentFiles } from "../agent-files.ts";
import { findAgentHome, findPermissions, type PermissionLocations } from "../permissions/find.ts";
import { planPermissionImport, type ImportTarget, type PermissionImport } from "../permissions/import.ts";
import { permissionSources } from "../permissions/source-rules.ts";
import { findServers, type FoundServer } from "./servers.ts";

/** The agents whose files can be adopted. */
export const adoptableAgents = ["claude", "codex", "gemini", "qwen", "opencode", "pi"] as const;
export type AdoptableAgent = (typeof adoptableAgents)[number];

/** The kinds of things an agent keeps. */
export const assetKinds = [
  "context",
  "commands",
  "agents",
  "skills",
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
  | { readonly type: "context"; readonly fileName: string };

/** Where assets are looked for, and what is set already. */
type AssetLocations = PermissionLocations & {
  readonly target: ImportTarget;
  readonly contextFileNames: readonly string[];
  readonly serverNames: readonly string[];
};

/** Finds what an agent keeps in its home and in the project. Reads only. */
export const findAssets = async (agent: AdoptableAgent, locations: AssetLocations): Promise<readonly AgentAsset[]> => {
  const found = await Promise.all([
    findContextFiles(agent, locations),
    findFolders(agent, locations),
    findServerAssets(agent, locations),
    findPermissionAssets(agent, locations),
    findListed(agent, locations),
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

type AssetFolder = {
  readonly kind: AssetKind;
  /** Below the agent's home, and below a project. */
  readonly home?: readonly string[];
  readonly project?: readonly string[];
  readonly ending: RegExp;
  /** Why it is not read; absent if Parley reads the folder. */
  readonly note?: string;
};

const folderTable: { readonly [agent in AdoptableAgent]: readonly AssetFolder[] } = {
  claude: [
    { kind: "commands", home: ["commands"], project: [".claude", "commands"], ending: /\.md$/ },
    { kind: "agents", home: ["agents"], project: [".claude", "agents"], ending: /\.md$/ },
    { kind: "skills", home: ["skills"], project: [".claude", "skills"], ending: /^[^.]/ },
  ],
  codex: [
    { kind: "commands", home: ["prompts"], ending: /\.md$/ },
    {
      kind: "skills",
      home: ["skills"],
      project: [".codex", "skills"],
      ending: /^[^.]/,
      note: "move them to .agents/skills",
    },
  ],
  gemini: [
    { kind: "commands", home: ["commands"], project: [".gemini", "commands"], ending: /\.toml$/ },
    { kind: "agents", home: ["agents"], project: [".gemini", "agents"], ending: /\.md$/ },
    { kind: "skills", home: ["skills"], project: [".gemini", "skills"], ending: /^[^.]/ },
  ],
  qwen: [
    { kind: "commands", home: ["commands"], project: [".qwen", "commands"], ending: /\.(md|toml)$/ },
    { kind: "agents", home: ["agents"], project: [".qwen", "agents"], ending: /\.md$/ },
    {
      kind: "skills",
      home: ["skills"],
      project: [".qwen", "skills"],
      ending: /^[^.]/,
      note: "move them to .agents/skills",
    },
  ],
  opencode: [
    { kind: "commands", home: ["command"], project: [".opencode", "command"], ending: /\.md$/ },
    {
      kind: "agents",
      home: ["agent"],
      project: [".opencode", "agent"],
      ending: /\.md$/,
      note: "their front matter differs; copy them to .parley/agents",
    },
    {
      kind: "skills",
      home: ["skill"],
      project: [".opencode", "skill"],
      ending: /^[^.]/,
      note: "move them to .agents/skills",
    },
  ],
  pi: [{ kind: "commands", home: ["prompts"], ending: /\.md$/, note: "copy them to .parley/commands" }],
};

const findFolders = async (agent: AdoptableAgent, locations: AssetLocations): Promise<readonly AgentAsset[]> => {
  const { files, userHome, project } = locations;
  const home = findAgentHome(agent, locations);
  const found = folderTable[agent].flatMap(({ kind, home: own, project: shared, ending, note }) =>
    [
      ...(own === undefined
        ? []
        : [{ path: join(home, ...own), within: home.startsWith(`${userHome}/`) ? userHome : home }]),
      ...(shared === undefined || project === undefined ? [] : [{ path: join(project, ...shared), within: project }]),
    ].map(async ({ path, within }): Promise<readonly AgentAsset[]> => {
      const count = (await files.list(path, within)).filter(({ name }) => ending.test(name)).length;
      if (count === 0) return [];
      const about = { agent, kind, path, summary: `${count} ${count === 1 ? kind.replace(/s$/, "") : kind}` };
      return [
        note === undefined
          ? { ...about, state: "read", note: "read here anyway" }
          : { ...about, state: "listed", note },
      ];
    }),
  );
  return (await Promise.all(found)).flat();
};

const findServerAssets = async (agent: AdoptableAgent, locations: AssetLocations): Promise<readonly AgentAsset[]> =>
  (await findServers(agent, locations)).map((server): AgentAsset => {
    const about = { agent, kind: "servers", path: server.file, summary: server.name } as const;
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
      const plan = await planPermissionImport([each], locations.target);
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

/** Things that are named only: keys are never read, hooks and sessions have commands of their own. */
const findListed = async (agent: AdoptableAgent, locations: AssetLocations): Promise<readonly AgentAsset[]> => {
  const { files, userHome } = locations;
  const home = findAgentHome(agent, locations);
  const share = join(userHome, ".local", "share");
  const table: { readonly [each in AdoptableAgent]: { readonly keys: string; readonly sessions: string } } = {
    claude: { keys: join(home, ".credentials.json"), sessions: join(home, "projects") },
    codex: { keys: join(home, "auth.json"), sessions: join(home, "sessions") },
    gemini: { keys: join(home, "oauth_creds.json"), sessions: join(home, "tmp") },
    qwen: { keys: join(home, "oauth_creds.json"), sessions: join(home, "projects") },
    opencode: { keys: join(share, "opencode", "auth.json"), sessions: join(share, "opencode", "opencode.db") },
    pi: { keys: join(home, "auth.json"), sessions: join(home, "sessions") },
  };
  const { keys, sessions } = table[agent];
  const listed = [
    { kind: "keys", path: keys, summary: "a stored sign-in", note: "not read or copied; sign in with parley login" },
    { kind: "sessions", path: sessions, summary: "sessions", note: "see parley sessions import --help" },
    ...(agent === "codex"
      ? [
          {
            kind: "hooks",
            path: join(home, "hooks.json"),
            summary: "hooks",
            note: "see parley hooks import --help",
          } as const,
        ]
      : []),
  ] as const;
  const present = await Promise.all(listed.map(({ path }) => files.exists(path)));
  return [
    ...listed.filter((_, at) => present[at]).map((each): AgentAsset => ({ agent, state: "listed", ...each })),
    ...(await findSettingsHooks(agent, join(home, "settings.json"), files, userHome)),
  ];
};

const findSettingsHooks = async (
  agent: AdoptableAgent,
  path: string,
  files: AgentFiles,
  userHome: string,
): Promise<readonly AgentAsset[]> => {
  const read = agent === "claude" || agent === "gemini" ? await files.read(path, userHome) : undefined;
  if (read === undefined || "refused" in read || !/"hooks"\s*:/.test(read.text)) return [];
  return [{ agent, kind: "hooks", path, summary: "hooks", state: "listed", note: "see parley hooks import --help" }];
};
