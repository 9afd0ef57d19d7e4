import { basename, dirname } from "node:path";
import { DiskError, type Folder } from "../../world/disk.ts";
import { withSettingsLock, type SettingsWriteWorld } from "./with-settings-lock.ts";
import { checkValue, formatIssue, type SettingsIssue } from "../schema/check.ts";
import { removeValueFromText, setValueInText } from "./edit.ts";
import { SettingsError } from "../error.ts";
import { settingsFilePath } from "../load/load.ts";
import { findSetting } from "../schema/find-setting.ts";
import { toPlainValue } from "./node.ts";
import type { KeyPath } from "../schema/key-path.ts";
import { parseSettingsFile } from "./read.ts";
import { createFileShape } from "../schema/file-shape.ts";

/**
 * Sets a value in the user's settings file and keeps the rest of its text. A lock serializes concurrent changes. Throws a
 * `SettingsError` and leaves the file unchanged if the value is invalid.
 */
export const setSetting = async (
  world: SettingsWriteWorld,
  home: string,
  name: string,
  value: unknown,
): Promise<void> => {
  const { path, shape } = findSetting(name);
  throwOnError(checkValue(shape, value, path));
  await updateSettingsFile(world, home, path, (text) => setValueInText(text, path, value));
};

/** Removes a value from the user's settings file, so that the default applies again. Returns whether it was set. */
export const unsetSetting = async (world: SettingsWriteWorld, home: string, name: string): Promise<boolean> => {
  const { path } = findSetting(name);
  let wasSet = false;
  await updateSettingsFile(world, home, path, async (text) => {
    const without = await removeValueFromText(text, path);
    wasSet = without !== text;
    return without;
  });
  return wasSet;
};

const throwOnError = (issues: readonly SettingsIssue[]): void => {
  const error = issues.find(({ level }) => level === "error");
  if (error !== undefined)
    throw new SettingsError({ kind: "refused", message: `${formatIssue(error)} Nothing was changed.` });
};

const updateSettingsFile = async (
  world: SettingsWriteWorld,
  home: string,
  [top = ""]: KeyPath,
  change: (text: string) => Promise<string>,
): Promise<void> =>
  withSettingsLock(world, home, async (own) => {
    // The file may be a link to another place: the link is kept.
    const file = (await world.disk.canonicalPath(settingsFilePath(own))) ?? settingsFilePath(own);
    const folder = await world.disk.openFolder(dirname(file));
    try {
      const before = await readText(folder, basename(file));
      const known = new Set((await findErrors(before, file)).map(formatIssue));
      const after = await change(before);
      // Errors elsewhere in the file may stay; new ones are refused.
      throwOnError(
        (await findErrors(after, file)).filter((issue) => issue.path[0] === top && !known.has(formatIssue(issue))),
      );
      if (after !== before) await writeText(folder, basename(file), after);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      throw new SettingsError({ kind: "no-access", file, why: error.message }, error);
    } finally {
      await folder.close();
    }
  });

const findErrors = async (text: string, file: string): Promise<readonly SettingsIssue[]> => {
  const node = await parseSettingsFile(text, file);
  return node === undefined
    ? []
    : checkValue(createFileShape(), toPlainValue(node), []).filter(({ level }) => level === "error");
};

const readText = async (folder: Folder, name: string): Promise<string> => {
  if ((await folder.stat(name)) === undefined) return "";
  const file = await folder.openFile(name);
  try {
    const { size } = await file.stat();
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await file.read(0, size));
  } finally {
    await file.close();
  }
};

/** A new file gets mode 0600; an existing one keeps its mode. */
const writeText = async (folder: Folder, name: string, text: string): Promise<void> => {
  const isNew = (await folder.stat(name)) === undefined;
  await folder.writeFile(name, new TextEncoder().encode(text), isNew ? 0o600 : undefined);
};
