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
 * Sets a value in the person's settings file and leaves the rest of it as it was written. Two programs that do so at
 * once lose nothing. Throws a `SettingsError`, with the file unchanged, where the value does not fit.
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

/** Takes a value out of the person's settings file, so that what stands behind it counts again. Answers whether it was there. */
export const unsetSetting = async (world: SettingsWriteWorld, home: string, name: string): Promise<boolean> => {
  const { path } = findSetting(name);
  let wasThere = false;
  await updateSettingsFile(world, home, path, (text) => {
    const without = removeValueFromText(text, path);
    wasThere = without !== text;
    return without;
  });
  return wasThere;
};

const throwOnError = (findings: readonly SettingsIssue[]): void => {
  const unfit = findings.find(({ level }) => level === "error");
  if (unfit !== undefined)
    throw new SettingsError({ kind: "refused", message: `${formatIssue(unfit)} Nothing was changed.` });
};

const updateSettingsFile = async (
  world: SettingsWriteWorld,
  home: string,
  [top = ""]: KeyPath,
  change: (text: string) => string,
): Promise<void> =>
  withSettingsLock(world, home, async (own) => {
    // A person may keep the file elsewhere, with a link to it here: the link stays.
    const file = (await world.disk.canonicalPath(settingsFilePath(own))) ?? settingsFilePath(own);
    const folder = await world.disk.openFolder(dirname(file));
    try {
      const before = await readText(folder, basename(file));
      const known = new Set(findErrors(before, file).map(formatIssue));
      const after = change(before);
      // What was wrong elsewhere may stay; nothing wrong may come.
      throwOnError(
        findErrors(after, file).filter((finding) => finding.path[0] === top && !known.has(formatIssue(finding))),
      );
      if (after !== before) await writeText(folder, basename(file), after);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      throw new SettingsError({ kind: "no-access", file, why: error.message }, error);
    } finally {
      await folder.close();
    }
  });

const findErrors = (text: string, file: string): readonly SettingsIssue[] => {
  const node = parseSettingsFile(text, file);
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

/** A new file is for its owner alone; one that is there keeps its mode. */
const writeText = async (folder: Folder, name: string, text: string): Promise<void> => {
  const isNew = (await folder.stat(name)) === undefined;
  await folder.writeFile(name, new TextEncoder().encode(text), isNew ? 0o600 : undefined);
};
