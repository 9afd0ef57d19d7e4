import { basename, dirname } from "node:path";
import { DiskError, type Folder } from "../world/disk.ts";
import { alone, type Writable } from "./alone.ts";
import { findingsIn, sentenceOf, type Finding } from "./check.ts";
import { withoutValue, withValue } from "./edit.ts";
import { SettingsError } from "./error.ts";
import { settingsFile } from "./load.ts";
import { spotNamed } from "./locate.ts";
import { plainOf } from "./node.ts";
import type { Path } from "./path.ts";
import { parseFile } from "./read.ts";
import { wholeShape } from "./whole.ts";

/**
 * Sets a value in the person's settings file and leaves the rest of it as it was written. Two programs that do so at
 * once lose nothing. Throws a `SettingsError`, with the file unchanged, where the value does not fit.
 */
export const setSetting = async (world: Writable, home: string, name: string, value: unknown): Promise<void> => {
  const { path, shape } = spotNamed(name);
  demand(findingsIn(shape, value, path));
  await changed(world, home, path, (text) => withValue(text, path, value));
};

/** Takes a value out of the person's settings file, so that what stands behind it counts again. Answers whether it was there. */
export const unsetSetting = async (world: Writable, home: string, name: string): Promise<boolean> => {
  const { path } = spotNamed(name);
  let wasThere = false;
  await changed(world, home, path, (text) => {
    const without = withoutValue(text, path);
    wasThere = without !== text;
    return without;
  });
  return wasThere;
};

const demand = (findings: readonly Finding[]): void => {
  const unfit = findings.find(({ level }) => level === "error");
  if (unfit !== undefined)
    throw new SettingsError({ kind: "refused", message: `${sentenceOf(unfit)} Nothing was changed.` });
};

const changed = async (
  world: Writable,
  home: string,
  [top = ""]: Path,
  change: (text: string) => string,
): Promise<void> =>
  alone(world, home, async (own) => {
    // A person may keep the file elsewhere, with a link to it here: the link stays.
    const file = (await world.disk.canonical(settingsFile(own))) ?? settingsFile(own);
    const folder = await world.disk.open(dirname(file));
    try {
      const before = await textIn(folder, basename(file));
      const known = new Set(errorsIn(before, file).map(sentenceOf));
      const after = change(before);
      // What was wrong elsewhere may stay; nothing wrong may come.
      demand(errorsIn(after, file).filter((finding) => finding.path[0] === top && !known.has(sentenceOf(finding))));
      if (after !== before) await put(folder, basename(file), after);
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      throw new SettingsError({ kind: "no-access", file, why: error.message }, error);
    } finally {
      await folder.close();
    }
  });

const errorsIn = (text: string, file: string): readonly Finding[] => {
  const node = parseFile(text, file);
  return node === undefined ? [] : findingsIn(wholeShape(), plainOf(node), []).filter(({ level }) => level === "error");
};

const textIn = async (folder: Folder, name: string): Promise<string> => {
  if ((await folder.look(name)) === undefined) return "";
  const file = await folder.file(name);
  try {
    const { size } = await file.look();
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await file.read(0, size));
  } finally {
    await file.close();
  }
};

/** A new file is for its owner alone; one that is there keeps its mode. */
const put = async (folder: Folder, name: string, text: string): Promise<void> => {
  const isNew = (await folder.look(name)) === undefined;
  await folder.put(name, new TextEncoder().encode(text), isNew ? 0o600 : undefined);
};
