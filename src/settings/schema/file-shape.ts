import type { SettingField, SettingFields, ShapeOf } from "./shape.ts";
import { settingPaths, settingsTable } from "./table.ts";

/** Creates the shape of a settings file from the table; dots in paths become nested objects. */
export const createFileShape = (): ShapeOf<"object"> => {
  const fields: Record<string, SettingField> = {
    $schema: { shape: { type: "string" }, description: "The schema, for editors." },
  };
  const groups: Record<string, Record<string, SettingField>> = {};
  for (const path of settingPaths) {
    const [first = "", second] = path.split(".");
    if (second === undefined) fields[first] = settingsTable[path];
    else (groups[first] ??= addGroup(fields, first))[second] = settingsTable[path];
  }
  return { type: "object", fields };
};

const addGroup = (fields: Record<string, SettingField>, name: string): Record<string, SettingField> => {
  const inside: Record<string, SettingField> = {};
  fields[name] = {
    shape: { type: "object", fields: inside as SettingFields },
    description: groupDescriptions[name] ?? "",
  };
  return inside;
};

const groupDescriptions: { readonly [name: string]: string | undefined } = {
  permissions: "Which tool calls run without asking, and which never run.",
  context: "What the model gets at the start of a session.",
  limits: "Limits of a run.",
  sessions: "How long sessions are kept.",
  telemetry: "OpenTelemetry export; off unless an endpoint is set.",
  ui: "The terminal UI.",
  offline: "The built-in demo model.",
};
