import { loadAgentEnvironment } from "../../agent/environment.ts";
import { isObject } from "../../conversation/json.ts";
import { defaultPort } from "../../gateway/settings.ts";
import { createToken, hashToken } from "../../http/request-guard.ts";
import type { GatewayClientSettings } from "../../settings/schema/values.ts";
import { setSetting, unsetSetting } from "../../settings/file/write.ts";
import type { World } from "../../world/world.ts";
import type { Arguments } from "../command.ts";
import { parsePort } from "../requests/simulate.ts";
import { UserError, usageError } from "../user-error.ts";
import {
  clientSettings,
  type ClientChanges,
  type ClientFile,
  type ClientSettings,
  type ClientSetup,
} from "./clients.ts";
import { applyChanges, undoChanges, type PreviousValues } from "./edit-client.ts";

/** `parley gateway setup CLIENT`: prints, writes or restores the settings of a client. */
export const setUpClient = async (args: Arguments): Promise<number> => {
  const [, name] = args.positionals;
  const client = name === undefined || !Object.hasOwn(clientSettings, name) ? undefined : clientSettings[name];
  if (name === undefined || client === undefined)
    throw usageError(`Name a client: ${Object.keys(clientSettings).join(", ")}.`);
  const { world, home, loaded } = await loadAgentEnvironment({ folder: "." });
  const context: SetupContext = { world, home: home.config, name, client };
  if (args.has("undo")) return restore(context);
  const port =
    args.value("port") === undefined ? (loaded.settings["gateway.port"] ?? defaultPort) : parsePort(args.value("port"));
  const setup = { url: `http://127.0.0.1:${port}`, model: args.value("model") };
  if (args.has("write")) {
    const spec = loaded.settings["gateway.clients"]?.[name];
    return write(context, { ...setup, token: args.value("token") ?? createToken() }, spec);
  }
  process.stdout.write(describe(context, { ...setup, token: args.value("token") ?? "TOKEN" }));
  return 0;
};

type SetupContext = {
  readonly world: World;
  readonly home: string;
  readonly name: string;
  readonly client: ClientSettings;
};

const describe = ({ client, name }: SetupContext, setup: ClientSetup): string =>
  `${[
    ...client.files.flatMap(({ file, changes }) => [
      `${client.label}: ~/${file}`,
      "",
      ...describeChanges(changes(setup)),
      "",
    ]),
    ...(client.hint === undefined ? [] : [client.hint]),
    `parley gateway setup ${name} --write makes a token and writes this; --undo restores ${client.files.length === 1 ? "the file" : "the files"}.`,
  ].join("\n")}\n`;

const describeChanges = (changes: ClientChanges): readonly string[] =>
  changes.type === "json"
    ? [
        JSON.stringify(
          changes.values.reduce((whole, { path, value }) => nest(whole, path, value), {}),
          undefined,
          2,
        ),
      ]
    : [...(changes.top ?? []), ...(changes.bottom ?? [])];

const nest = (whole: object, [key = "", ...rest]: readonly string[], value: unknown): object => {
  const inner: unknown = (whole as Record<string, unknown>)[key];
  return { ...whole, [key]: rest.length === 0 ? value : nest(isObject(inner) ? inner : {}, rest, value) };
};

const write = async (
  context: SetupContext,
  setup: ClientSetup,
  known: GatewayClientSettings | undefined,
): Promise<number> => {
  const { world, home, name, client } = context;
  const earlier = await readRecord(context);
  const records = await Promise.all(client.files.map((each) => editFile(context, each, { setup, earlier })));
  // Written before the client's files, so that they can always be restored.
  await world.files.writePrivate(recordPath(context), JSON.stringify({ files: records }));
  await setSetting(world, home, `gateway.clients.${name}`, { ...known, token: `sha256:${hashToken(setup.token)}` });
  for (const { file, after } of records) await world.files.writePrivate(pathOf(context, file), after);
  process.stdout.write(`${client.label} uses the gateway at ${setup.url} now (${filesOf(context)}).\n`);
  if (client.hint !== undefined) process.stderr.write(`${client.hint}\n`);
  process.stderr.write(`Start it with: parley gateway. Undo with: parley gateway setup ${name} --undo.\n`);
  return 0;
};

/** Returns the record of a changed file. A second setup keeps what the first one found. */
const editFile = async (
  context: SetupContext,
  { file, changes }: ClientFile,
  { setup, earlier = [] }: { readonly setup: ClientSetup; readonly earlier: readonly FileRecord[] | undefined },
): Promise<FileRecord> => {
  const path = pathOf(context, file);
  const before = await context.world.files.read(path);
  const { text, previous } = await applyChanges(before ?? "", changes(setup)).catch((error: unknown) => {
    throw new UserError(`${path} cannot be changed: ${error instanceof Error ? error.message : String(error)}`, {
      code: 1,
    });
  });
  const first = earlier.find((record) => record.file === file);
  return { existed: before !== undefined, previous, before: before ?? "", ...first, file, after: text };
};

const restore = async (context: SetupContext): Promise<number> => {
  const { world, home, name, client } = context;
  const records = await readRecord(context);
  if (records === undefined)
    throw new UserError(`${client.label} was not set up by parley gateway setup.`, { code: 1 });
  for (const record of records) await restoreFile(context, record);
  await unsetSetting(world, home, `gateway.clients.${name}`);
  await world.files.remove(recordPath(context));
  process.stdout.write(`${client.label} is as it was before (${filesOf(context)}).\n`);
  return 0;
};

const restoreFile = async (context: SetupContext, record: FileRecord): Promise<void> => {
  const { files } = context.world;
  const path = pathOf(context, record.file);
  const text = await files.read(path);
  if (text === undefined) return;
  const restored = text === record.after ? record.before : await undoChanges(text, record.previous);
  if (!record.existed && isEmpty(restored)) await files.remove(path);
  else await files.writePrivate(path, restored);
};

const pathOf = ({ world }: SetupContext, file: string): string => `${world.host.home}/${file}`;

const filesOf = (context: SetupContext): string =>
  context.client.files.map(({ file }) => pathOf(context, file)).join(", ");

/** The record of a changed file: whether it existed, its former values, and its text before and after. */
type FileRecord = {
  readonly file: string;
  readonly existed: boolean;
  readonly previous: PreviousValues;
  readonly before: string;
  readonly after: string;
};

const recordPath = ({ home, name }: SetupContext): string => `${home}/gateway/${name}.json`;

const readRecord = async (context: SetupContext): Promise<readonly FileRecord[] | undefined> => {
  const text = await context.world.files.read(recordPath(context));
  if (text === undefined) return undefined;
  const record: unknown = JSON.parse(text);
  return isObject(record) && Array.isArray(record["files"]) ? (record["files"] as readonly FileRecord[]) : undefined;
};

const isEmpty = (text: string): boolean => /^\s*(\{\s*\})?\s*$/.test(text);
