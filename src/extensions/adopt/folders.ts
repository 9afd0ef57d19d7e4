import { join } from "node:path";
import { findAgentHome } from "../permissions/find.ts";
import type { AdoptableAgent, AgentAsset, AssetLocations } from "./assets.ts";
import type { AssetCopy } from "./copy-assets.ts";

type AssetFolder = {
  readonly kind: AssetCopy["kind"];
  /** Below the agent's home, and below a project. */
  readonly home?: readonly string[];
  readonly project?: readonly string[];
  readonly ending: RegExp;
  /** Whether Parley does not read the folder: those of the home are copied. */
  readonly isCopied?: true;
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
      isCopied: true,
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
      isCopied: true,
    },
  ],
  opencode: [
    { kind: "commands", home: ["command"], project: [".opencode", "command"], ending: /\.md$/ },
    {
      kind: "agents",
      home: ["agent"],
      project: [".opencode", "agent"],
      ending: /\.md$/,
      isCopied: true,
    },
    {
      kind: "skills",
      home: ["skill"],
      project: [".opencode", "skill"],
      ending: /^[^.]/,
      isCopied: true,
    },
  ],
  pi: [{ kind: "commands", home: ["prompts"], ending: /\.md$/, isCopied: true }],
};

/** Finds the folders with commands, agents and skills of an agent. */
export const findFolders = async (agent: AdoptableAgent, locations: AssetLocations): Promise<readonly AgentAsset[]> => {
  const { userHome, project } = locations;
  const home = findAgentHome(agent, locations);
  const places = folderTable[agent].flatMap((folder): readonly FolderPlace[] => [
    ...(folder.home === undefined
      ? []
      : [{ folder, path: join(home, ...folder.home), within: home.startsWith(`${userHome}/`) ? userHome : home }]),
    ...(folder.project === undefined || project === undefined
      ? []
      : [{ folder, path: join(project, ...folder.project), within: project, isOfProject: true as const }]),
  ]);
  return (await Promise.all(places.map((place) => findFolder(agent, place, locations)))).flat();
};

type FolderPlace = {
  readonly folder: AssetFolder;
  readonly path: string;
  readonly within: string;
  readonly isOfProject?: true;
};

const findFolder = async (
  agent: AdoptableAgent,
  { folder: { kind, ending, isCopied }, path, within, isOfProject }: FolderPlace,
  { files, target }: AssetLocations,
): Promise<readonly AgentAsset[]> => {
  const entries = (await files.list(path, within)).filter(({ name }) => ending.test(name));
  if (entries.length === 0) return [];
  const about = { agent, kind, path, summary: countOf(entries.length, kind) };
  if (isCopied !== true) return [{ ...about, state: "read", note: "read here anyway" }];
  if (isOfProject) return [{ ...about, state: "listed", note: `move them to .agents/${kind}` }];
  const wanted = kind === "skills" ? "folder" : "file";
  const names = entries.filter((entry) => entry.kind === wanted).map(({ name }) => name);
  const isThere = await Promise.all(names.map((name) => files.exists(join(target.home, kind, name))));
  const added = names.filter((_, at) => isThere[at] !== true);
  if (added.length === 0)
    return [{ ...about, state: "listed", note: names.length === 0 ? "links are not copied" : "there already" }];
  return [
    {
      ...about,
      summary: countOf(added.length, kind),
      state: "new",
      change: { type: "copy", copy: { kind, folder: path, names: added } },
    },
  ];
};

const countOf = (count: number, kind: string): string => `${count} ${count === 1 ? kind.replace(/s$/, "") : kind}`;
