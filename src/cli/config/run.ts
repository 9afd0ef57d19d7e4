import { createRedactor } from "../../policy/secrets/redact.ts";
import { openTrustStore } from "../../policy/trust/folders.ts";
import { SettingsError } from "../../settings/error.ts";
import { redactSecrets } from "../../settings/schema/redact-secrets.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import { loadSettings, settingsFilePath, type LoadedSettings } from "../../settings/load/load.ts";
import { findSetting } from "../../settings/schema/find-setting.ts";
import type { SettingSource } from "../../settings/load/merge.ts";
import { createSettingsSchema } from "../../settings/schema/json-schema.ts";
import { settingPaths, settingsTable } from "../../settings/schema/table.ts";
import type { SettingPath } from "../../settings/schema/values.ts";
import { parseCliValue } from "../../settings/load/parse-cli-value.ts";
import { setSetting, unsetSetting } from "../../settings/file/write.ts";
import { realWorld } from "../../world/real/world.ts";
import type { World } from "../../world/world.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { UserError, usageError } from "../user-error.ts";
import { alignColumns, sanitizeLine, truncate, maxWidth, columnWidths } from "../text-table.ts";

/** `parley config`: shows settings with their sources, and changes them. Never prints a secret. */
export const config: CommandHandler = async (args) => {
  const world = realWorld();
  const [action = "list"] = args.positionals;
  const run = actions[action];
  if (run === undefined)
    throw usageError(`Unknown action "${action}" for config. Available: ${Object.keys(actions).join(", ")}.`);
  try {
    return await run(world, args);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const { kind } = error.fault;
    throw new UserError(redactText(world, error.message), { code: kind === "refused" || kind === "unknown" ? 2 : 1 });
  }
};

type ConfigAction = (world: World, args: Arguments) => number | Promise<number>;

const list: ConfigAction = async (world, args) => {
  limitPositionals(args, 1);
  const loaded = await loadCurrentSettings(world);
  for (const warning of loaded.warnings) process.stderr.write(`parley: ${sanitizeLine(warning)}\n`);
  print(world, args.has("json") ? await formatJson(world, loaded) : formatTable(world, loaded));
  return 0;
};

const get: ConfigAction = async (world, args) => {
  limitPositionals(args, 2);
  const name = requirePositional(args, 1, "PATH");
  const { path } = findSetting(name);
  const loaded = await loadCurrentSettings(world);
  const setting = settingPaths.find((known) => path.join(".") === known || path.join(".").startsWith(`${known}.`));
  const rest = setting === undefined ? [] : path.slice(setting.split(".").length);
  const value =
    setting === undefined ? settingsInGroup(loaded, name) : rest.reduce(getProperty, displayValue(loaded, setting));
  if (value === undefined) {
    process.stderr.write(`parley: ${sanitizeLine(name)} is not set.\n`);
    return 1;
  }
  const sources = setting === undefined ? {} : { sources: loaded.sources[setting] ?? [] };
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  print(world, args.has("json") ? JSON.stringify({ path: name, value, ...sources }, null, 2) : text);
  return 0;
};

const set: ConfigAction = async (world, args) => {
  const name = requirePositional(args, 1, "PATH");
  const word = requirePositional(args, 2, "VALUE");
  await setSetting(
    world,
    (await findHomeFolders(world)).config,
    name,
    await parseCliValue(findSetting(name).shape, word),
  );
  return 0;
};

const unset: ConfigAction = async (world, args) => {
  limitPositionals(args, 2);
  const name = requirePositional(args, 1, "PATH");
  if (await unsetSetting(world, (await findHomeFolders(world)).config, name)) return 0;
  process.stderr.write(`parley: ${sanitizeLine(name)} is not set in ${await findSettingsFile(world)}.\n`);
  return 1;
};

const path: ConfigAction = async (world, args) => {
  limitPositionals(args, 1);
  const file = await findSettingsFile(world);
  print(world, args.has("json") ? JSON.stringify({ path: file }, null, 2) : file);
  return 0;
};

const schema: ConfigAction = (world, args) => {
  limitPositionals(args, 1);
  print(world, JSON.stringify(createSettingsSchema(), null, 2));
  return 0;
};

const edit: ConfigAction = async (world, args) => {
  limitPositionals(args, 1);
  const { editSettings } = await import("./edit.ts");
  await editSettings(world);
  await loadCurrentSettings(world);
  return 0;
};

const actions: { readonly [name: string]: ConfigAction | undefined } = { list, get, set, unset, edit, path, schema };

const limitPositionals = ({ positionals }: Arguments, most: number): void => {
  const extra = positionals[most];
  if (extra !== undefined) throw usageError(`Unexpected argument "${extra}" for config ${positionals[0] ?? "list"}.`);
};

const requirePositional = ({ positionals }: Arguments, index: number, name: string): string => {
  const value = positionals[index];
  if (value === undefined) throw usageError(`Missing argument ${name}.`);
  return value;
};

const findSettingsFile = async (world: World): Promise<string> =>
  settingsFilePath((await findHomeFolders(world)).config);

const loadCurrentSettings = async (world: World): Promise<LoadedSettings> => {
  const { config: home } = await findHomeFolders(world);
  const root = process.cwd();
  return loadSettings(world, { home, root, scope: await openTrustStore(world.disk, home).projectScope(root) });
};

/** Redacts secrets: keys also occur in the arguments and URLs of MCP servers. */
const redactText = ({ env }: World, text: string): string => createRedactor({ env }).redact(text);

const print = (world: World, text: string): void => void process.stdout.write(`${redactText(world, text)}\n`);

const displayValue = ({ settings }: LoadedSettings, setting: SettingPath): unknown =>
  redactSecrets(settingsTable[setting].shape, settings[setting]);

const getProperty = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as { readonly [key: string]: unknown })[name]
    : undefined;

/** Returns all settings of a group such as `limits`. */
const settingsInGroup = (loaded: LoadedSettings, group: string): unknown => {
  const within = settingPaths.filter((setting) => setting.startsWith(`${group}.`));
  const found = within.flatMap((setting) => {
    const value = displayValue(loaded, setting);
    return value === undefined ? [] : [[setting.slice(group.length + 1), value] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
};

const formatJson = async (world: World, loaded: LoadedSettings): Promise<string> => {
  const settings = settingPaths.flatMap((setting) => {
    const value = displayValue(loaded, setting);
    return value === undefined ? [] : [[setting, { value, sources: loaded.sources[setting] ?? [] }] as const];
  });
  const { project, warnings } = loaded;
  const consents = project.consents.map(({ key }) => key);
  const file = await findSettingsFile(world);
  return JSON.stringify({ file, settings: Object.fromEntries(settings), consents, warnings }, null, 2);
};

const formatTable = (world: World, loaded: LoadedSettings): string => {
  const rows = settingPaths.map((setting): readonly [string, string, string] => {
    const value = displayValue(loaded, setting);
    const from = (loaded.sources[setting] ?? []).map((source) => describeSource(source, world)).join(", ");
    return [setting, value === undefined ? "-" : sanitizeLine(JSON.stringify(value)), from === "" ? "not set" : from];
  });
  const [names = 0, , froms = 0] = columnWidths(rows);
  const room = maxWidth - names - froms - 4;
  const cut = rows.map(([name, value, from]) => [name, truncate(value, Math.max(room, 20)), from]);
  const consentLines = loaded.project.consents.map(({ key }) => `${key} of this project runs only if you allow it.`);
  return [...alignColumns(cut), ...consentLines.map(sanitizeLine)].join("\n");
};

const describeSource = ({ from, where = "" }: SettingSource, { host }: World): string => {
  switch (from) {
    case "default":
      return "default";
    case "project":
      return "this project";
    case "untrusted":
      return "this folder is not trusted";
    case "gemini":
    case "user":
      return where.startsWith(`${host.home}/`) ? `~${where.slice(host.home.length)}` : where;
    case "environment":
    case "flag":
      return where;
  }
};
