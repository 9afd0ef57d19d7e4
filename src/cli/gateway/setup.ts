import { loadAgentEnvironment } from "../../agent/environment.ts";
import { isObject } from "../../conversation/json.ts";
import { defaultPort } from "../../gateway/settings.ts";
import { createToken, hashToken } from "../../http/request-guard.ts";
import { setSetting, unsetSetting } from "../../settings/file/write.ts";
import type { World } from "../../world/world.ts";
import type { Arguments } from "../command.ts";
import { parsePort } from "../requests/simulate.ts";
import { UserError, usageError } from "../user-error.ts";
import { clientSettings, type ClientChanges, type ClientSettings, type ClientSetup } from "./clients.ts";
import { applyChanges, undoChanges, type PreviousValues } from "./edit-client.ts";

/** `parley gateway setup CLIENT`: prints, writes or restores the settings of a client. */
export const setUpClient = async (args: Arguments): Promise<number> => {
  const [, name] = args.positionals;
  const client = name === undefined || !Object.hasOwn(clientSettings, name) ? undefined : clientSettings[name];
  if (name === undefined || client === undefined)
    throw usageError(`Name a client: ${Object.keys(clientSettings).join(", ")}.`);
  const { world, home, loaded } = await loadAgentEnvironment({ folder: "." });
  const context: SetupContext = { world, home: home.config, name, client, file: `${world.host.home}/${client.file}` };
  if (args.has("undo")) return restore(context);
  const port =
    args.value("port") === undefined ? (loaded.settings["gateway.port"] ?? defaultPort) : parsePort(args.value("port"));
  const setup = { url: `http://127.0.0.1:${port}`, model: args.value("model") };
  if (args.has("write")) return write(context, { ...setup, token: args.value("token") ?? createToken() });
  process.stdout.write(describe(context, client.changes({ ...setup, token: args.value("token") ?? "TOKEN" })));
  return 0;
};

type SetupContext = {
  readonly world: World;
  readonly home: string;
  readonly name: string;
  readonly client: ClientSettings;
  readonly file: string;
};

const describe = ({ client, name }: SetupContext, changes: ClientChanges): string => {
  const lines =
    changes.type === "json"
      ? [
          JSON.stringify(
            changes.values.reduce((whole, { path, value }) => nest(whole, path, value), {}),
            undefined,
            2,
          ),
        ]
      : [...(changes.top ?? []), ...(changes.bottom ?? [])];
  return `${[
    `${client.label}: ~/${client.file}`,
    "",
    ...lines,
    "",
    ...(client.hint === undefined ? [] : [client.hint]),
    `parley gateway setup ${name} --write makes a token and writes this; --undo restores the file.`,
  ].join("\n")}\n`;
};

const nest = (whole: object, [key = "", ...rest]: readonly string[], value: unknown): object => {
  const inner: unknown = (whole as Record<string, unknown>)[key];
  return { ...whole, [key]: rest.length === 0 ? value : nest(isObject(inner) ? inner : {}, rest, value) };
};

const write = async (context: SetupContext, setup: ClientSetup): Promise<number> => {
  const { world, home, name, client, file } = context;
  const before = await world.files.read(file);
  const known = await readRecord(context);
  const { text, previous } = await applyChanges(before ?? "", client.changes(setup)).catch((error: unknown) => {
    throw new UserError(`${file} cannot be changed: ${error instanceof Error ? error.message : String(error)}`, {
      code: 1,
    });
  });
  // Written before the client's file, so that it can always be undone. A second setup keeps what the first one found.
  const record: SetupRecord = { existed: before !== undefined, previous, before: before ?? "", ...known, after: text };
  await world.files.writePrivate(recordPath(context), JSON.stringify(record));
  await setSetting(world, home, `gateway.clients.${name}`, { token: `sha256:${hashToken(setup.token)}` });
  await world.files.writePrivate(file, text);
  process.stdout.write(`${client.label} uses the gateway at ${setup.url} now (${file}).\n`);
  process.stderr.write(`Start it with: parley gateway. Undo with: parley gateway setup ${name} --undo.\n`);
  return 0;
};

const restore = async (context: SetupContext): Promise<number> => {
  const { world, home, name, client, file } = context;
  const record = await readRecord(context);
  if (record === undefined) throw new UserError(`${client.label} was not set up by parley gateway setup.`, { code: 1 });
  const text = await world.files.read(file);
  if (text !== undefined) {
    const restored = text === record.after ? record.before : await undoChanges(text, record.previous);
    if (!record.existed && isEmpty(restored)) await world.files.remove(file);
    else await world.files.writePrivate(file, restored);
  }
  await unsetSetting(world, home, `gateway.clients.${name}`);
  await world.files.remove(recordPath(context));
  process.stdout.write(`${client.label} is as it was before (${file}).\n`);
  return 0;
};

/** The record of a setup: whether the client's file existed, its former values, and its text before and after. */
type SetupRecord = {
  readonly existed: boolean;
  readonly previous: PreviousValues;
  readonly before: string;
  readonly after: string;
};

const recordPath = ({ home, name }: SetupContext): string => `${home}/gateway/${name}.json`;

const readRecord = async (context: SetupContext): Promise<SetupRecord | undefined> => {
  const text = await context.world.files.read(recordPath(context));
  if (text === undefined) return undefined;
  const record: unknown = JSON.parse(text);
  return isObject(record) && Array.isArray(record["previous"])
    ? {
        existed: record["existed"] === true,
        previous: record["previous"] as PreviousValues,
        before: String(record["before"]),
        after: String(record["after"]),
      }
    : undefined;
};

const isEmpty = (text: string): boolean => /^\s*(\{\s*\})?\s*$/.test(text);
