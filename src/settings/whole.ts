import type { Field, Fields, ShapeOf } from "./shape.ts";
import { settingPaths, table } from "./table.ts";

/** A settings file as one shape, made from the table: paths with dots are objects in objects. */
export const wholeShape = (): ShapeOf<"fields"> => {
  const fields: Record<string, Field> = { $schema: { shape: { type: "text" }, about: "The schema, for editors." } };
  const groups: Record<string, Record<string, Field>> = {};
  for (const path of settingPaths) {
    const [first = "", second] = path.split(".");
    if (second === undefined) fields[first] = table[path];
    else (groups[first] ??= groupIn(fields, first))[second] = table[path];
  }
  return { type: "fields", fields };
};

const groupIn = (fields: Record<string, Field>, name: string): Record<string, Field> => {
  const inside: Record<string, Field> = {};
  fields[name] = { shape: { type: "fields", fields: inside as Fields }, about: groupWords[name] ?? "" };
  return inside;
};

const groupWords: { readonly [name: string]: string | undefined } = {
  permissions: "What runs without being asked about, and what never runs.",
  context: "What the model is told at the start.",
  limits: "Where to stop.",
  sessions: "How long sessions are kept.",
  telemetry: "Data for OpenTelemetry. None is made unless there is an endpoint.",
  ui: "The terminal interface.",
  offline: "The model that needs no key.",
};
