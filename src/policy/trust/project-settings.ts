import { createHash } from "node:crypto";
import { DiskError, type Disk } from "../../world/disk.ts";
import { isApprovalMode, stricterMode, type ApprovalMode } from "../gate/approval-mode.ts";
import { parsePermissionRule, type PermissionRule } from "../gate/permission-rules.ts";
import { parseSettings, settingsText, type SettingsMember, type SettingsNode } from "./settings-json.ts";
import type { ProjectScope } from "./folders.ts";

/** What a project's settings come to: they can only tighten. */
export type ProjectSettings = {
  readonly deny: readonly PermissionRule[];
  /** The loosest mode the project wants, "plan" or "default". */
  readonly mode?: ApprovalMode;
  /** Set where the project wants commands to run in a sandbox. */
  readonly sandbox?: true;
  /** Set where the project wants its commands to run without network. */
  readonly sandboxNetwork?: "off";
  /** The programs the project wants run. None runs unless the person agrees to that very text. */
  readonly consents: readonly ConsentRequest[];
  /** Everything in the file without effect, by name. */
  readonly warnings: readonly string[];
};

/** A program a project wants run. The digest covers all that is said of it, so that a later change is asked about again. */
export type ConsentRequest = {
  readonly key: string;
  readonly text: string;
  readonly digest: string;
  /** Variables with secrets of the person that it would be given; the question names them. */
  readonly secrets?: readonly string[];
};

/** Where a project keeps its settings. */
const settingsFile = [".parley", "settings.json"] as const;

/** Reads a project's settings; where the folder is inert, not even that. */
export const readProjectSettings = async (disk: Disk, root: string, scope: ProjectScope): Promise<ProjectSettings> => {
  if (scope === "inert") return emptySettings;
  const found = await readProjectFile(disk, root, settingsFile);
  if (found === undefined) return emptySettings;
  if ("refused" in found) return { ...emptySettings, warnings: [`${settingsPath} is not used: ${found.refused}.`] };
  return parseProjectSettings(found.text);
};

/** What the text of a project's settings file comes to. */
export const parseProjectSettings = (text: string): ProjectSettings => {
  const parsed = parseSettings(text);
  if (!parsed.ok) return { ...emptySettings, warnings: [`${settingsPath} is not used: ${parsed.problem}.`] };
  if (parsed.node.type !== "object")
    return { ...emptySettings, warnings: [`${settingsPath} is not used: it does not hold an object.`] };
  return parsed.node.members.map((member) => readMember("", member)).reduce(mergeSettings, emptySettings);
};

const emptySettings: ProjectSettings = { deny: [], consents: [], warnings: [] };

const settingsPath = settingsFile.join("/");

/** Two effects as one. What was said twice counts as its strictest. */
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

/** What one member does. Whatever is not named here does nothing, and is told. */
const readMember = (above: string, { key, value }: SettingsMember): ProjectSettings => {
  const path = above === "" ? key : `${above}.${key}`;
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
    ? { ...emptySettings, warnings: [`${settingsPath}: ${path} holds ${JSON.stringify(text)}, which is no rule.`] }
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
    `${settingsPath}: ${JSON.stringify(path)} has no effect. A project can only tighten what the person's own settings say.`,
  ],
});

/** Programs are listed for consent, one by one, however deep they stand; anything else is told by its name. */
const readPrograms = (path: string, key: string, value: SettingsNode): ProjectSettings => {
  if (isUserOnlyKey(key)) return ignoreSetting(path);
  if (listsPrograms(key) && value.type === "object")
    return value.members
      .map((member) => requestConsent(`${path}.${member.key}`, member.value))
      .reduce(mergeSettings, emptySettings);
  if (namesProgram(key) && listStrings(value).length > 0) return requestConsent(path, value);
  if (value.type !== "object") return ignoreSetting(path);
  const inside = value.members.map((member) => readPrograms(`${path}.${member.key}`, member.key, member.value));
  return inside.length === 0 ? ignoreSetting(path) : inside.reduce(mergeSettings, emptySettings);
};

const requestConsent = (key: string, value: SettingsNode): ProjectSettings => {
  const text = settingsText(value);
  const digest = createHash("sha256")
    .update(JSON.stringify([key, text]))
    .digest("hex");
  return { ...emptySettings, consents: [{ key, text, digest }] };
};

/** Keys that decide where keys and words go: endpoints, credentials, variables. Only the person's own settings have them. */
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

/** The text of a file; why it is not used; or undefined where there is none. */
export type ProjectFile = { readonly text: string } | { readonly refused: string } | undefined;

/** A small file of a trusted project, opened name by name, so that no link stands for it. */
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
    if (size > maxBytes) return { refused: "it is too long" };
    return { text: new TextDecoder().decode(await file.read(0, size)) };
  } catch (error) {
    if (!(error instanceof DiskError)) throw error;
    return error.code === "ENOENT" ? undefined : { refused: "it is not a regular file, or a link leads to it" };
  } finally {
    for (const handle of open.toReversed()) await handle.close();
  }
};
