import { join } from "node:path";
import { parseSettings, settingsText, type SettingsMember } from "../policy/settings-json.ts";
import {
  projectSettings,
  readProjectFile,
  readProjectSettings,
  type Consent,
  type ProjectFile,
  type ProjectSettings,
} from "../policy/settings.ts";
import { tighterMode } from "../policy/mode.ts";
import type { Disk } from "../world/disk.ts";
import { findingsIn, isFree, sentenceOf } from "./check.ts";
import { readGemini } from "./gemini.ts";
import { plainOf } from "./node.ts";
import { serverShape } from "./server-shape.ts";
import type { Server } from "./values.ts";

/** A project that is trusted: its folder, and the person's own folders, which are no project's. */
export type Project = { readonly root: string; readonly own: readonly string[] };

/**
 * What a project's own files come to: `.parley/settings.json`, `.mcp.json` and `.gemini/settings.json`. They only
 * tighten; programs are listed for consent.
 */
export const readProject = async (disk: Disk, project: Project): Promise<ProjectSettings> =>
  (await readProjectFiles(disk, project)).map(({ settings }) => settings).reduce(joined);

/** The same, file by file, those that count more first. */
export const readProjectFiles = async (
  disk: Disk,
  { root, own }: Project,
): Promise<readonly { readonly file: string; readonly settings: ProjectSettings }[]> => {
  const mine = await Promise.all(own.map((folder) => disk.canonical(folder)));
  const isMine = async (name: string): Promise<boolean> => {
    const folder = await disk.canonical(join(root, name));
    return folder !== undefined && mine.includes(folder);
  };
  const [settings, servers, gemini] = await Promise.all([
    isMine(".parley").then((skip) => (skip ? nothing : readProjectSettings(disk, root, "tighten"))),
    readProjectFile(disk, root, [mcpFile]),
    isMine(".gemini").then((skip) => (skip ? undefined : readProjectFile(disk, root, [".gemini", "settings.json"]))),
  ]);
  const files = [
    { file: ".parley/settings.json", settings },
    { file: mcpFile, settings: ofFile(mcpFile, servers, serversAlone) },
    { file: geminiFile, settings: ofFile(geminiFile, gemini, tightening) },
  ];
  return Promise.all(files.map(async (each) => ({ ...each, settings: await covering(disk, root, each.settings) })));
};

/** The servers among the programs that a person agreed to. None of them is trusted beyond that. */
export const serversOf = (
  agreed: readonly Consent[],
): { readonly servers: { readonly [name: string]: Server }; readonly warnings: readonly string[] } => {
  const found = agreed
    .filter(({ key }) => key.startsWith(serverKey))
    .map(({ key, text }) => ({ name: key.slice(serverKey.length), value: serverIn(text) }));
  const findings = found.flatMap(({ name, value }) => findingsIn(serverShape, value, ["mcpServers", name]));
  const usable = found.filter(({ name, value }) => isFree(findingsIn(serverShape, value, [name])));
  return {
    // Of two with one name the first was asked for in the file that counts more.
    servers: Object.fromEntries(usable.toReversed().map(({ name, value }) => [name, value as Server])),
    warnings: findings.map((finding) => `In this project: ${sentenceOf(finding)}`),
  };
};

/** The same settings, with consents that cover the files their commands name. */
const covering = async (disk: Disk, root: string, settings: ProjectSettings): Promise<ProjectSettings> => {
  if (settings.consents.length === 0) return settings;
  const { withFacts } = await import("./consent-facts.ts");
  return { ...settings, consents: await Promise.all(settings.consents.map((each) => withFacts(disk, root, each))) };
};

const mcpFile = ".mcp.json";
const geminiFile = ".gemini/settings.json";
const serverKey = "mcpServers.";

const nothing: ProjectSettings = { deny: [], consents: [], warnings: [] };

const serverIn = (text: string): unknown => {
  const parsed = parseSettings(text);
  const plain = parsed.ok ? plainOf(parsed.node) : undefined;
  if (typeof plain !== "object" || plain === null || Array.isArray(plain)) return plain;
  return Object.fromEntries(Object.entries(plain).filter(([name]) => name !== "trust"));
};

const ofFile = (name: string, found: ProjectFile, read: (text: string) => ProjectSettings): ProjectSettings => {
  if (found === undefined) return nothing;
  if ("refused" in found) return { ...nothing, warnings: [`${name} is not used: ${found.refused}.`] };
  const parsed = parseSettings(found.text);
  return parsed.ok ? read(found.text) : { ...nothing, warnings: [`${name} is not used: ${parsed.problem}.`] };
};

/** The servers a file names, and nothing else of it. */
const serversAlone = (text: string): ProjectSettings => {
  const parsed = parseSettings(text);
  const members: readonly SettingsMember[] = parsed.ok && parsed.node.type === "object" ? parsed.node.members : [];
  const servers = members.filter(({ key }) => key === "mcpServers");
  return projectSettings(`{${servers.map(({ value }) => `"mcpServers": ${settingsText(value)}`).join(", ")}}`);
};

/** What tightens in a file of Gemini CLI. All that would loosen is as if it were not there. */
const tightening = (text: string): ProjectSettings => {
  const { values, warnings } = readGemini(text, geminiFile);
  const mode = values["permissions.mode"];
  const own = projectSettings(
    JSON.stringify({
      permissions: {
        deny: values["permissions.deny"] ?? [],
        ...(mode !== undefined && tighterMode(mode, "default") === mode ? { mode } : {}),
      },
      ...(values.sandbox ? { sandbox: true } : {}),
    }),
  );
  return [own, serversAlone(text), { ...nothing, warnings }].reduce(joined);
};

const joined = (one: ProjectSettings, other: ProjectSettings): ProjectSettings => {
  const modes = [one.mode, other.mode].filter((mode) => mode !== undefined);
  return {
    deny: [...one.deny, ...other.deny],
    ...(modes.length === 0 ? {} : { mode: modes.reduce(tighterMode) }),
    ...(one.sandbox || other.sandbox ? { sandbox: true } : {}),
    ...(one.sandboxNetwork || other.sandboxNetwork ? { sandboxNetwork: "off" } : {}),
    consents: [...one.consents, ...other.consents],
    warnings: [...one.warnings, ...other.warnings],
  };
};
