import { unknownName } from "./check.ts";
import { SettingsError } from "./error.ts";
import { parsePath, pathText, type Path } from "./path.ts";
import type { Shape } from "./shape.ts";
import { wholeShape } from "./whole.ts";

/** A place in the settings: its path, and what may stand there. */
export type Spot = { readonly path: Path; readonly shape: Shape };

/** The setting a person names, or one value within it. Throws a `SettingsError` with the nearest names. */
export const spotNamed = (name: string): Spot => {
  const path = parsePath(name);
  if (path === undefined)
    throw new SettingsError({ kind: "unknown", message: `${JSON.stringify(name)} is not the path of a setting.` });
  return { path, shape: path.reduce<Shape>((shape, _, index) => shapeIn(shape, path, index), wholeShape()) };
};

const shapeIn = (shape: Shape, path: Path, index: number): Shape => {
  const name = path[index] ?? "";
  if (shape.type === "names") return shape.of;
  if (shape.type === "fields" && Object.hasOwn(shape.fields, name)) return shape.fields[name]?.shape ?? shape;
  const here = path.slice(0, index + 1);
  throw new SettingsError({
    kind: "unknown",
    message:
      shape.type === "fields"
        ? unknownName(here, Object.keys(shape.fields))
        : `There is no setting ${pathText(here)}: ${pathText(here.slice(0, -1))} holds no names.`,
  });
};
