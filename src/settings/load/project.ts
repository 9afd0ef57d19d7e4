import { join } from "node:path";
import { isObject } from "../../conversation/json.ts";
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
import { serverShape } from "../schema/mcp-server-shape.ts";
import type { McpServerSettings } from "../schema/values.ts";

/** A trusted project: its folder, and the user's own settings folders, which do not count as project settings. */
export type TrustedProject = { readonly root: string; readonly personalFolders: readonly string[] };

/**
 * Reads and merges a project's `.parley/settings.json`, `.mcp.json` and `.gemini/settings.json`. They only restrict
 * permissions; programs are listed for consent.
 */
export const readMergedProjectSettings = async (disk: Disk, project: TrustedProject): Promise<ProjectSettings> =>
  (await readProjectSettingsByFile(disk, project)).map(({ settings }) => settings).reduce(mergeProjectSettings);

/** Reads the same by file, in order of precedence. */
export const readProjectSettingsByFile = async (
  disk: Disk,
  { root, personalFolders: own }: TrustedProject,
): Promise<readonly { readonly file: string; readonly settings: ProjectSettings }[]> => {
  const personal = await Promise.all(own.map((folder) => disk.canonicalPath(folder)));
  const isPersonal = async (name: string): Promise<boolean> => {
    const folder = await disk.canonicalPath(join(root, name));
    return folder !== undefined && personal.includes(folder);
  };
  const [settings, servers, gemini] = await Promise.all([
    isPersonal(".parley").then((skip) => (skip ? emptyProjectSettings : readProjectSettings(disk, root, "tighten"))),
    readProjectFile(disk, root, [mcpFile]),
    isPersonal(".gemini").then((skip) =>
      skip ? undefined : readProjectFile(disk, root, [".gemini", "settings.json"]),
    ),
  ]);
  const files = [
    { file: ".parley/settings.json", settings },
    { file: mcpFile, settings: await readFileSettings(mcpFile, servers, readServersOnly) },
    { file: geminiFile, settings: await readFileSettings(geminiFile, gemini, readGeminiRestrictions) },
  ];
  return Promise.all(
    files.map(async (each) => ({ ...each, settings: await extendConsents(disk, root, each.settings) })),
  );
};

/** Returns the MCP servers among consented programs. Their `trust` field is ignored. */
export const readConsentedServers = (
  agreed: readonly ConsentRequest[],
): { readonly servers: { readonly [name: string]: McpServerSettings }; readonly warnings: readonly string[] } => {
  const found = agreed
    .filter(({ key }) => key.startsWith(serverKey))
    .map(({ key, text }) => ({ name: key.slice(serverKey.length), value: parseServer(text) }));
  const issues = found.flatMap(({ name, value }) => checkValue(serverShape, value, ["mcpServers", name]));
  const usable = found.filter(({ name, value }) => hasNoErrors(checkValue(serverShape, value, [name])));
  return {
    // Of two with the same name, the first is from the file with precedence.
    servers: Object.fromEntries(usable.toReversed().map(({ name, value }) => [name, value as McpServerSettings])),
    warnings: issues.map((issue) => `In this project: ${formatIssue(issue)}`),
  };
};

/** Extends the consents to the files their commands name. */
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

/** Parses the text of a consent, which is plain JSON. */
const parseServer = (text: string): unknown => {
  const plain = parseJson(text);
  if (!isObject(plain)) return plain;
  return Object.fromEntries(Object.entries(plain).filter(([name]) => name !== "trust"));
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const readFileSettings = async (
  name: string,
  found: ProjectFile,
  read: (text: string) => Promise<ProjectSettings>,
): Promise<ProjectSettings> => {
  if (found === undefined) return emptyProjectSettings;
  if ("refused" in found) return { ...emptyProjectSettings, warnings: [`${name} is not used: ${found.refused}.`] };
  const parsed = await parseSettings(found.text);
  return parsed.ok
    ? read(found.text)
    : { ...emptyProjectSettings, warnings: [`${name} is not used: ${parsed.problem}`] };
};

/** Reads only the MCP servers of a file. */
const readServersOnly = async (text: string): Promise<ProjectSettings> => {
  const parsed = await parseSettings(text);
  const members: readonly SettingsMember[] = parsed.ok && parsed.node.type === "object" ? parsed.node.members : [];
  const servers = members.filter(({ key }) => key === "mcpServers");
  return parseProjectSettings(`{${servers.map(({ value }) => `"mcpServers": ${settingsText(value)}`).join(", ")}}`);
};

/** Reads the restrictions of a Gemini CLI file. Settings that would loosen permissions are ignored. */
const readGeminiRestrictions = async (text: string): Promise<ProjectSettings> => {
  const { values, warnings } = await readGeminiSettings(text, geminiFile);
  const mode = values["permissions.mode"];
  const own = await parseProjectSettings(
    JSON.stringify({
      permissions: {
        deny: values["permissions.deny"] ?? [],
        ...(mode !== undefined && stricterMode(mode, "default") === mode ? { mode } : {}),
      },
      ...(values.sandbox ? { sandbox: true } : {}),
    }),
  );
  return [own, await readServersOnly(text), { ...emptyProjectSettings, warnings }].reduce(mergeProjectSettings);
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
