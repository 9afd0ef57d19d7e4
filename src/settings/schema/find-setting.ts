import { unknownSettingMessage } from "./check.ts";
import { SettingsError } from "../error.ts";
import { parseKeyPath, formatKeyPath, type KeyPath } from "./key-path.ts";
import type { Shape } from "./shape.ts";
import { createFileShape } from "./file-shape.ts";

/** A setting or a value within it: its key path and shape. */
export type SettingLocation = { readonly path: KeyPath; readonly shape: Shape };

/** Finds a setting, or a value within it, by name. Throws a `SettingsError` with similar names. */
export const findSetting = (name: string): SettingLocation => {
  const path = parseKeyPath(name);
  if (path === undefined)
    throw new SettingsError({ kind: "unknown", message: `${JSON.stringify(name)} is not a valid setting name.` });
  return { path, shape: path.reduce<Shape>((shape, _, index) => shapeAt(shape, path, index), createFileShape()) };
};

const shapeAt = (shape: Shape, path: KeyPath, index: number): Shape => {
  const name = path[index] ?? "";
  if (shape.type === "record") return shape.of;
  if (shape.type === "object" && Object.hasOwn(shape.fields, name)) return shape.fields[name]?.shape ?? shape;
  const here = path.slice(0, index + 1);
  throw new SettingsError({
    kind: "unknown",
    message:
      shape.type === "object"
        ? unknownSettingMessage(here, Object.keys(shape.fields))
        : `Unknown setting ${formatKeyPath(here)}: ${formatKeyPath(here.slice(0, -1))} is not an object.`,
  });
};
