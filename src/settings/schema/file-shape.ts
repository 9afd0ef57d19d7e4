import type { SettingField, SettingFields, ShapeOf } from "./shape.ts";
import { settingPaths, settingsTable } from "./table.ts";

/** A settings file as one shape, made from the table: paths with dots are objects in objects. */
export const createFileShape = (): ShapeOf<"fields"> => {
  const fields: Record<string, SettingField> = {
    $schema: { shape: { type: "text" }, description: "The schema, for editors." },
  };
  const groups: Record<string, Record<string, SettingField>> = {};
  for (const path of settingPaths) {
    const [first = "", second] = path.split(".");
    if (second === undefined) fields[first] = settingsTable[path];
    else (groups[first] ??= addGroup(fields, first))[second] = settingsTable[path];
  }
  return { type: "fields", fields };
};

const addGroup = (fields: Record<string, SettingField>, name: string): Record<string, SettingField> => {
  const inside: Record<string, SettingField> = {};
  fields[name] = {
    shape: { type: "fields", fields: inside as SettingFields },
    description: groupDescriptions[name] ?? "",
  };
  return inside;
};

const groupDescriptions: { readonly [name: string]: string | undefined } = {
  permissions: "What runs without being asked about, and what never runs.",
  context: "What the model is told at the start.",
  limits: "Where to stop.",
  sessions: "How long sessions are kept.",
  telemetry: "Data for OpenTelemetry. None is made unless there is an endpoint.",
  ui: "The terminal interface.",
  offline: "The model that needs no key.",
};
