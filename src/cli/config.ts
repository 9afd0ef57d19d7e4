import { createRedactor } from "../policy/redact.ts";
import { openTrust } from "../policy/trust.ts";
import { SettingsError } from "../settings/error.ts";
import { withoutSecrets } from "../settings/hide.ts";
import { homeFolder } from "../settings/home.ts";
import { loadSettings, settingsFile, type Loaded } from "../settings/load.ts";
import { spotNamed } from "../settings/locate.ts";
import type { Source } from "../settings/merge.ts";
import { settingsSchema } from "../settings/schema.ts";
import { settingPaths, table } from "../settings/table.ts";
import type { SettingPath } from "../settings/values.ts";
import { valueOfWord } from "../settings/word.ts";
import { setSetting, unsetSetting } from "../settings/write.ts";
import { realWorld } from "../world/real.ts";
import type { World } from "../world/world.ts";
import type { Arguments } from "./arguments.ts";
import type { Run } from "./commands.ts";
import { Failure, misused } from "./failure.ts";
import { aligned, oneLine, shortened, widest, widthsOf } from "./table.ts";

/** `parley config`: the settings, where they come from, and how to change them. It never prints a secret. */
export const config: Run = async (given) => {
  const world = realWorld();
  const [action = "list"] = given.words;
  const work = actions[action];
  if (work === undefined) throw misused(`config cannot "${action}". It can ${Object.keys(actions).join(", ")}.`);
  try {
    return await work(world, given);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const { kind } = error.fault;
    throw new Failure(safe(world, error.message), { code: kind === "refused" || kind === "unknown" ? 2 : 1 });
  }
};

type Action = (world: World, given: Arguments) => number | Promise<number>;

const list: Action = async (world, given) => {
  atMost(given, 1);
  const loaded = await load(world);
  for (const warning of loaded.warnings) process.stderr.write(`parley: ${oneLine(warning)}\n`);
  print(world, given.has("json") ? inFull(world, loaded) : asTable(world, loaded));
  return 0;
};

const get: Action = async (world, given) => {
  atMost(given, 2);
  const name = needed(given, 1, "PATH");
  const { path } = spotNamed(name);
  const loaded = await load(world);
  const setting = settingPaths.find((each) => path.join(".") === each || path.join(".").startsWith(`${each}.`));
  const rest = setting === undefined ? [] : path.slice(setting.split(".").length);
  const value = setting === undefined ? groupOf(loaded, name) : rest.reduce(inside, shownValue(loaded, setting));
  if (value === undefined) {
    process.stderr.write(`parley: ${oneLine(name)} is not set.\n`);
    return 1;
  }
  const sources = setting === undefined ? {} : { sources: loaded.sources[setting] ?? [] };
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  print(world, given.has("json") ? JSON.stringify({ path: name, value, ...sources }, null, 2) : text);
  return 0;
};

const set: Action = async (world, given) => {
  const name = needed(given, 1, "PATH");
  const word = needed(given, 2, "VALUE");
  await setSetting(world, homeFolder(world), name, valueOfWord(spotNamed(name).shape, word));
  return 0;
};

const unset: Action = async (world, given) => {
  atMost(given, 2);
  const name = needed(given, 1, "PATH");
  if (await unsetSetting(world, homeFolder(world), name)) return 0;
  process.stderr.write(`parley: ${oneLine(name)} is not set in ${settingsFile(homeFolder(world))}.\n`);
  return 1;
};

const path: Action = (world, given) => {
  atMost(given, 1);
  const file = settingsFile(homeFolder(world));
  print(world, given.has("json") ? JSON.stringify({ path: file }, null, 2) : file);
  return 0;
};

const schema: Action = (world, given) => {
  atMost(given, 1);
  print(world, JSON.stringify(settingsSchema(), null, 2));
  return 0;
};

const edit: Action = async (world, given) => {
  atMost(given, 1);
  const { editSettings } = await import("./config-edit.ts");
  await editSettings(world);
  await load(world);
  return 0;
};

const actions: { readonly [name: string]: Action | undefined } = { list, get, set, unset, edit, path, schema };

const atMost = ({ words }: Arguments, most: number): void => {
  const extra = words[most];
  if (extra !== undefined) throw misused(`config ${words[0] ?? "list"} does not know what to do with "${extra}".`);
};

const needed = ({ words }: Arguments, index: number, name: string): string => {
  const word = words[index];
  if (word === undefined) throw misused(`${name} is missing.`);
  return word;
};

const load = async (world: World): Promise<Loaded> => {
  const home = homeFolder(world);
  const root = process.cwd();
  return loadSettings(world, { home, root, scope: await openTrust(world.disk, home).projectScope(root) });
};

/** Servers are often given keys in their arguments and addresses too. */
const safe = ({ env }: World, text: string): string => createRedactor({ env }).redact(text);

const print = (world: World, text: string): void => void process.stdout.write(`${safe(world, text)}\n`);

const shownValue = ({ settings }: Loaded, setting: SettingPath): unknown =>
  withoutSecrets(table[setting].shape, settings[setting]);

const inside = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as { readonly [key: string]: unknown })[name]
    : undefined;

/** All settings of a group such as `limits`. */
const groupOf = (loaded: Loaded, group: string): unknown => {
  const within = settingPaths.filter((each) => each.startsWith(`${group}.`));
  const found = within.flatMap((each) => {
    const value = shownValue(loaded, each);
    return value === undefined ? [] : [[each.slice(group.length + 1), value] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
};

const inFull = (world: World, loaded: Loaded): string => {
  const settings = settingPaths.flatMap((each) => {
    const value = shownValue(loaded, each);
    return value === undefined ? [] : [[each, { value, sources: loaded.sources[each] ?? [] }] as const];
  });
  const { project, warnings } = loaded;
  const consents = project.consents.map(({ key }) => key);
  const file = settingsFile(homeFolder(world));
  return JSON.stringify({ file, settings: Object.fromEntries(settings), consents, warnings }, null, 2);
};

const asTable = (world: World, loaded: Loaded): string => {
  const rows = settingPaths.map((each): readonly [string, string, string] => {
    const value = shownValue(loaded, each);
    const from = (loaded.sources[each] ?? []).map((source) => sourceWords(source, world)).join(", ");
    return [each, value === undefined ? "-" : oneLine(JSON.stringify(value)), from === "" ? "not set" : from];
  });
  const [names = 0, , froms = 0] = widthsOf(rows);
  const room = widest - names - froms - 4;
  const cut = rows.map(([name, value, from]) => [name, shortened(value, Math.max(room, 20)), from]);
  const wanted = loaded.project.consents.map(({ key }) => `${key} of this project runs only if you agree to it.`);
  return [...aligned(cut), ...wanted.map(oneLine)].join("\n");
};

const sourceWords = ({ from, where = "" }: Source, { host }: World): string => {
  switch (from) {
    case "default":
      return "default";
    case "project":
      return "this project";
    case "untrusted":
      return "this folder is not trusted";
    case "gemini":
    case "person":
      return where.startsWith(`${host.home}/`) ? `~${where.slice(host.home.length)}` : where;
    case "environment":
    case "line":
      return where;
  }
};
