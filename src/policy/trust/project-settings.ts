import { createHash } from "node:crypto";
import { DiskError, type Disk } from "../../world/disk.ts";
import { isApprovalMode, stricterMode, type ApprovalMode } from "../gate/approval-mode.ts";
import { parsePermissionRule, type PermissionRule } from "../gate/permission-rules.ts";
import { parseSettings, settingsText, type SettingsMember, type SettingsNode } from "./settings-json.ts";
import type { ProjectScope } from "./folders.ts";

/** The effect of a project's settings: they can only restrict. */
export type ProjectSettings = {
  readonly deny: readonly PermissionRule[];
  /** The loosest approval mode the project allows, "plan" or "default". */
  readonly mode?: ApprovalMode;
  /** Set if the project wants commands to run in a sandbox. */
  readonly sandbox?: true;
  /** Set if the project wants commands to run without network. */
  readonly sandboxNetwork?: "off";
  /** The programs the project names. None runs without the user's consent to exactly this text. */
  readonly consents: readonly ConsentRequest[];
  /** Settings in the file that have no effect, by name. */
  readonly warnings: readonly string[];
};

/** A program a project wants to run, which needs consent. The digest covers its whole configuration, so that a change is asked about again. */
export type ConsentRequest = {
  readonly key: string;
  readonly text: string;
  readonly digest: string;
  /** Variables with the user's secrets that it would receive; the question names them. */
  readonly secrets?: readonly string[];
};

/** The path of a project's settings file. */
const settingsFile = [".parley", "settings.json"] as const;

/** Reads a project's settings. An untrusted ("inert") folder is not read at all. */
export const readProjectSettings = async (disk: Disk, root: string, scope: ProjectScope): Promise<ProjectSettings> => {
  if (scope === "inert") return emptySettings;
  const found = await readProjectFile(disk, root, settingsFile);
  if (found === undefined) return emptySettings;
  if ("refused" in found) return { ...emptySettings, warnings: [`${settingsPath} is not used: ${found.refused}.`] };
  return parseProjectSettings(found.text);
};

/** Parses the text of a project's settings file. */
export const parseProjectSettings = async (text: string): Promise<ProjectSettings> => {
  const parsed = await parseSettings(text);
  if (!parsed.ok) return { ...emptySettings, warnings: [`${settingsPath} is not used: ${parsed.problem}`] };
  if (parsed.node.type !== "object")
    return { ...emptySettings, warnings: [`${settingsPath} is not used: it is not a JSON object.`] };
  return parsed.node.members.map((member) => readMember("", member)).reduce(mergeSettings, emptySettings);
};

const emptySettings: ProjectSettings = { deny: [], consents: [], warnings: [] };

const settingsPath = settingsFile.join("/");

/** Merges two effects. Of two values the stricter counts. */
const mergeSettings = (one: ProjectSettings, other: ProjectSettings): ProjectSettings => {
  const modes = [one.mode, other.mode].filter((mode) => mode !== undefined);
  return {
    deny: [...one.deny, ...other.deny],
    ...(modes.length === 0 ? {} : { mode: modes.reduce(stricterMode) }),
    ...(one.sandbox || other.sandbox ? { sandbox: true } : {}),
    ...(one.sandboxNetwork || other.sandboxNetwork ? { sandboxNetwork: "off" } : {}),
    consents: [...one.consents, ...other.consents],
    warnings: [...new Set([...one.warnings, ...other.warnings])],
  };
};

/** Reads one member. Unknown members have no effect and produce a warning. */
const readMember = (parentPath: string, { key, value }: SettingsMember): ProjectSettings => {
  const path = parentPath === "" ? key : `${parentPath}.${key}`;
  switch (path) {
    case "permissions":
      return value.type === "object"
        ? value.members.map((member) => readMember(path, member)).reduce(mergeSettings, emptySettings)
        : ignoreSetting(path);
    case "permissions.deny":
      return listStrings(value)
        .map((text) => readDenyRule(path, text))
        .reduce(mergeSettings, emptySettings);
    case "permissions.mode":
      return readMode(path, value);
    case "sandbox":
      return value.type === "value" && (value.value === true || value.value === "required")
        ? { ...emptySettings, sandbox: true }
        : ignoreSetting(path);
    case "sandboxNetwork":
      return value.type === "value" && value.value === "off"
        ? { ...emptySettings, sandboxNetwork: "off" }
        : ignoreSetting(path);
    default:
      return readPrograms(path, key, value);
  }
};

const readDenyRule = (path: string, text: string): ProjectSettings => {
  const rule = parsePermissionRule(text);
  return rule === undefined
    ? {
        ...emptySettings,
        warnings: [`${settingsPath}: ${path} contains ${JSON.stringify(text)}, which is not a permission rule.`],
      }
    : { ...emptySettings, deny: [rule] };
};

const readMode = (path: string, value: SettingsNode): ProjectSettings => {
  const mode = value.type === "value" ? value.value : undefined;
  return isApprovalMode(mode) && stricterMode(mode, "default") === mode
    ? { ...emptySettings, mode }
    : ignoreSetting(path);
};

const ignoreSetting = (path: string): ProjectSettings => ({
  ...emptySettings,
  warnings: [
    `${settingsPath}: ${JSON.stringify(path)} has no effect. A project can only restrict what your own settings allow.`,
  ],
});

/** Lists programs for consent, one by one, at any depth; anything else produces a warning with its name. */
const readPrograms = (path: string, key: string, value: SettingsNode): ProjectSettings => {
  if (isUserOnlyKey(key)) return ignoreSetting(path);
  if (listsPrograms(key) && value.type === "object")
    return value.members
      .map((member) => requestConsent(`${path}.${member.key}`, member.value))
      .reduce(mergeSettings, emptySettings);
  if (namesProgram(key) && listStrings(value).length > 0) return requestConsent(path, value);
  if (value.type !== "object") return ignoreSetting(path);
  const effects = value.members.map((member) => readPrograms(`${path}.${member.key}`, member.key, member.value));
  return effects.length === 0 ? ignoreSetting(path) : effects.reduce(mergeSettings, emptySettings);
};

const requestConsent = (key: string, value: SettingsNode): ProjectSettings => {
  const text = settingsText(value);
  const digest = createHash("sha256")
    .update(JSON.stringify([key, text]))
    .digest("hex");
  return { ...emptySettings, consents: [{ key, text, digest }] };
};

/** Keys that decide where credentials and prompts are sent: endpoints, credentials, variables. Only the user's own settings may set them. */
const isUserOnlyKey = (key: string): boolean =>
  /^(__proto__|constructor|prototype|env|environment)$|url$|uri$|endpoint$|proxy$|key$|token$|secret$|helper$|allow|trust/i.test(
    key,
  );

const listsPrograms = (key: string): boolean => /^(hooks|mcp_?servers)$/i.test(key);

const namesProgram = (key: string): boolean =>
  /(command|cmd|program|script|exec|executable|hook|editor|pager|notify|notifier|status_?line|discovery|shell|formatter|linter|browser|opener)s?$/i.test(
    key,
  );

const listStrings = (node: SettingsNode): readonly string[] => {
  switch (node.type) {
    case "object":
      return node.members.flatMap(({ value }) => listStrings(value));
    case "list":
      return node.items.flatMap(listStrings);
    case "value":
      return typeof node.value === "string" ? [node.value] : [];
  }
};

const maxBytes = 256 * 1024;

/** The text of a file, or why it is not used; undefined if it does not exist. */
export type ProjectFile = { readonly text: string } | { readonly refused: string } | undefined;

/** Reads a small file of a trusted project, opened name by name, so that no link is followed. */
export const readProjectFile = async (
  disk: Disk,
  root: string,
  [first, ...rest]: readonly [string, ...string[]],
): Promise<ProjectFile> => {
  const canonical = await disk.canonicalPath(root);
  if (canonical === undefined) return undefined;
  const open: { close: () => Promise<void> }[] = [];
  try {
    let folder = await disk.openFolder(canonical);
    open.push(folder);
    let name = first;
    for (const next of rest) {
      folder = await folder.openFolder(name);
      open.push(folder);
      name = next;
    }
    const file = await folder.openFile(name);
    open.push(file);
    const { size } = await file.stat();
    if (size > maxBytes) return { refused: "it is too large" };
    return { text: new TextDecoder().decode(await file.read(0, size)) };
  } catch (error) {
    if (!(error instanceof DiskError)) throw error;
    return error.code === "ENOENT" ? undefined : { refused: "it is not a regular file, or a link leads to it" };
  } finally {
    for (const handle of open.toReversed()) await handle.close();
  }
};
