import { unknownSettingMessage } from "./check.ts";
import { SettingsError } from "../error.ts";
import { parseKeyPath, formatKeyPath, type KeyPath } from "./key-path.ts";
import type { Shape } from "./shape.ts";
import { createFileShape } from "./file-shape.ts";

/** A place in the settings: its path, and what may stand there. */
export type SettingLocation = { readonly path: KeyPath; readonly shape: Shape };

/** The setting a person names, or one value within it. Throws a `SettingsError` with the nearest names. */
export const findSetting = (name: string): SettingLocation => {
  const path = parseKeyPath(name);
  if (path === undefined)
    throw new SettingsError({ kind: "unknown", message: `${JSON.stringify(name)} is not the path of a setting.` });
  return { path, shape: path.reduce<Shape>((shape, _, index) => shapeAt(shape, path, index), createFileShape()) };
};

const shapeAt = (shape: Shape, path: KeyPath, index: number): Shape => {
  const name = path[index] ?? "";
  if (shape.type === "names") return shape.of;
  if (shape.type === "fields" && Object.hasOwn(shape.fields, name)) return shape.fields[name]?.shape ?? shape;
  const here = path.slice(0, index + 1);
  throw new SettingsError({
    kind: "unknown",
    message:
      shape.type === "fields"
        ? unknownSettingMessage(here, Object.keys(shape.fields))
        : `There is no setting ${formatKeyPath(here)}: ${formatKeyPath(here.slice(0, -1))} holds no names.`,
  });
};
