import { join } from "node:path";
import { parseSettings, settingsText, type SettingsMember } from "../../policy/trust/settings-json.ts";
import {
  parseProjectSettings,
  readProjectFile,
  readProjectSettings,
  type ConsentRequest,
  type ProjectFile,
  type ProjectSettings,
} from "../../policy/trust/project-settings.ts";
import { stricterMode } from "../../policy/gate/approval-mode.ts";
import type { Disk } from "../../world/disk.ts";
import { checkValue, hasNoErrors, formatIssue } from "../schema/check.ts";
import { readGeminiSettings } from "./gemini.ts";
import { toPlainValue } from "../file/node.ts";
import { serverShape } from "../schema/mcp-server-shape.ts";
import type { McpServerSettings } from "../schema/values.ts";

/** A project that is trusted: its folder, and the person's own folders, which are no project's. */
export type TrustedProject = { readonly root: string; readonly personalFolders: readonly string[] };

/**
 * What a project's own files come to: `.parley/settings.json`, `.mcp.json` and `.gemini/settings.json`. They only
 * tighten; programs are listed for consent.
 */
export const readMergedProjectSettings = async (disk: Disk, project: TrustedProject): Promise<ProjectSettings> =>
  (await readProjectSettingsByFile(disk, project)).map(({ settings }) => settings).reduce(mergeProjectSettings);

/** The same, file by file, those that count more first. */
export const readProjectSettingsByFile = async (
  disk: Disk,
  { root, personalFolders: own }: TrustedProject,
): Promise<readonly { readonly file: string; readonly settings: ProjectSettings }[]> => {
  const mine = await Promise.all(own.map((folder) => disk.canonicalPath(folder)));
  const isMine = async (name: string): Promise<boolean> => {
    const folder = await disk.canonicalPath(join(root, name));
    return folder !== undefined && mine.includes(folder);
  };
  const [settings, servers, gemini] = await Promise.all([
    isMine(".parley").then((skip) => (skip ? emptyProjectSettings : readProjectSettings(disk, root, "tighten"))),
    readProjectFile(disk, root, [mcpFile]),
    isMine(".gemini").then((skip) => (skip ? undefined : readProjectFile(disk, root, [".gemini", "settings.json"]))),
  ]);
  const files = [
    { file: ".parley/settings.json", settings },
    { file: mcpFile, settings: readFileSettings(mcpFile, servers, readServersOnly) },
    { file: geminiFile, settings: readFileSettings(geminiFile, gemini, readGeminiRestrictions) },
  ];
  return Promise.all(
    files.map(async (each) => ({ ...each, settings: await extendConsents(disk, root, each.settings) })),
  );
};

/** The servers among the programs that a person agreed to. None of them is trusted beyond that. */
export const readConsentedServers = (
  agreed: readonly ConsentRequest[],
): { readonly servers: { readonly [name: string]: McpServerSettings }; readonly warnings: readonly string[] } => {
  const found = agreed
    .filter(({ key }) => key.startsWith(serverKey))
    .map(({ key, text }) => ({ name: key.slice(serverKey.length), value: parseServer(text) }));
  const findings = found.flatMap(({ name, value }) => checkValue(serverShape, value, ["mcpServers", name]));
  const usable = found.filter(({ name, value }) => hasNoErrors(checkValue(serverShape, value, [name])));
  return {
    // Of two with one name the first was asked for in the file that counts more.
    servers: Object.fromEntries(usable.toReversed().map(({ name, value }) => [name, value as McpServerSettings])),
    warnings: findings.map((finding) => `In this project: ${formatIssue(finding)}`),
  };
};

/** The same settings, with consents that cover the files their commands name. */
const extendConsents = async (disk: Disk, root: string, settings: ProjectSettings): Promise<ProjectSettings> => {
  if (settings.consents.length === 0) return settings;
  const { extendConsentDigest } = await import("./consent-digest.ts");
  return {
    ...settings,
    consents: await Promise.all(settings.consents.map((each) => extendConsentDigest(disk, root, each))),
  };
};

const mcpFile = ".mcp.json";
const geminiFile = ".gemini/settings.json";
const serverKey = "mcpServers.";

const emptyProjectSettings: ProjectSettings = { deny: [], consents: [], warnings: [] };

const parseServer = (text: string): unknown => {
  const parsed = parseSettings(text);
  const plain = parsed.ok ? toPlainValue(parsed.node) : undefined;
  if (typeof plain !== "object" || plain === null || Array.isArray(plain)) return plain;
  return Object.fromEntries(Object.entries(plain).filter(([name]) => name !== "trust"));
};

const readFileSettings = (
  name: string,
  found: ProjectFile,
  read: (text: string) => ProjectSettings,
): ProjectSettings => {
  if (found === undefined) return emptyProjectSettings;
  if ("refused" in found) return { ...emptyProjectSettings, warnings: [`${name} is not used: ${found.refused}.`] };
  const parsed = parseSettings(found.text);
  return parsed.ok
    ? read(found.text)
    : { ...emptyProjectSettings, warnings: [`${name} is not used: ${parsed.problem}.`] };
};

/** The servers a file names, and nothing else of it. */
const readServersOnly = (text: string): ProjectSettings => {
  const parsed = parseSettings(text);
  const members: readonly SettingsMember[] = parsed.ok && parsed.node.type === "object" ? parsed.node.members : [];
  const servers = members.filter(({ key }) => key === "mcpServers");
  return parseProjectSettings(`{${servers.map(({ value }) => `"mcpServers": ${settingsText(value)}`).join(", ")}}`);
};

/** What tightens in a file of Gemini CLI. All that would loosen is as if it were not there. */
const readGeminiRestrictions = (text: string): ProjectSettings => {
  const { values, warnings } = readGeminiSettings(text, geminiFile);
  const mode = values["permissions.mode"];
  const own = parseProjectSettings(
    JSON.stringify({
      permissions: {
        deny: values["permissions.deny"] ?? [],
        ...(mode !== undefined && stricterMode(mode, "default") === mode ? { mode } : {}),
      },
      ...(values.sandbox ? { sandbox: true } : {}),
    }),
  );
  return [own, readServersOnly(text), { ...emptyProjectSettings, warnings }].reduce(mergeProjectSettings);
};

const mergeProjectSettings = (one: ProjectSettings, other: ProjectSettings): ProjectSettings => {
  const modes = [one.mode, other.mode].filter((mode) => mode !== undefined);
  return {
    deny: [...one.deny, ...other.deny],
    ...(modes.length === 0 ? {} : { mode: modes.reduce(stricterMode) }),
    ...(one.sandbox || other.sandbox ? { sandbox: true } : {}),
    ...(one.sandboxNetwork || other.sandboxNetwork ? { sandboxNetwork: "off" } : {}),
    consents: [...one.consents, ...other.consents],
    warnings: [...one.warnings, ...other.warnings],
  };
};
