import { dirname, resolve } from "node:path";
import { PolicyError } from "../policy/error.ts";
import { openTrust, type Trust } from "../policy/trust.ts";
import { homeFolder } from "../settings/home.ts";
import { DiskError } from "../world/disk.ts";
import { realWorld } from "../world/real.ts";
import type { World } from "../world/world.ts";
import type { Arguments } from "./arguments.ts";
import type { Run } from "./commands.ts";
import { Failure, misused } from "./failure.ts";
import { readably } from "./session-store.ts";
import { printJson } from "./session-words.ts";
import { aligned, oneLine } from "./table.ts";

/** `parley trust`: which folders may tell Parley what to do. */
export const trust: Run = async (given) => {
  if (given.has("list") && (given.has("remove") || given.words.length > 0))
    throw misused("--list shows all folders you trust, so it goes with nothing else.");
  const world = realWorld();
  const home = homeFolder(world);
  const place = { world, home, trusted: openTrust(world.disk, home) };
  return readably(() => work(given, place)).catch((error: unknown) => {
    if (error instanceof PolicyError || error instanceof DiskError) throw new Failure(error.message, { code: 1 });
    throw error;
  });
};

type Place = { readonly world: World; readonly home: string; readonly trusted: Trust };

const work = (given: Arguments, place: Place): Promise<number> => {
  if (given.has("list")) return list(given, place);
  const folder = resolve(given.words[0] ?? ".");
  return given.has("remove") ? remove(given, place, folder) : add(given, place, folder);
};

const list = async (given: Arguments, { world: { disk }, trusted }: Place): Promise<number> => {
  const folders = await Promise.all(
    (await trusted.list()).map(async (folder) => ({
      folder,
      exists: (await disk.canonical(folder).catch(() => undefined)) !== undefined,
    })),
  );
  if (given.has("json")) return printJson({ folders });
  if (folders.length === 0) process.stderr.write("parley: you trust no folder yet.\n");
  for (const { folder, exists } of folders)
    process.stdout.write(`${oneLine(folder)}${exists ? "" : "  (it is gone)"}\n`);
  return 0;
};

const remove = async (given: Arguments, { trusted }: Place, folder: string): Promise<number> => {
  const removed = await trusted.distrust(folder);
  const still = await trusted.isTrusted(folder);
  if (given.has("json")) printJson({ folder, removed, trusted: still });
  else if (removed) process.stdout.write(`${oneLine(folder)} is trusted no longer.\n`);
  if (still) process.stderr.write(`parley: ${oneLine(folder)} is still trusted, because a folder above it is.\n`);
  else if (!removed) process.stderr.write(`parley: ${oneLine(folder)} was not trusted.\n`);
  return still || !removed ? 1 : 0;
};

const add = async (given: Arguments, { world, home, trusted }: Place, folder: string): Promise<number> => {
  const root = await world.disk.canonical(folder);
  if (root === undefined) throw new Failure(`There is no folder ${folder}.`);
  await world.disk.names(root).catch((error: unknown) => {
    if (error instanceof DiskError && error.code === "ENOTDIR") throw new Failure(`${folder} is a file, not a folder.`);
  });
  await trusted.trust(root);
  const { activeIn } = await import("./trust-active.ts");
  const active = await activeIn({ world, home, root, trusted });
  if (given.has("json")) return printJson({ folder: root, ...active });
  const rows = [
    ["context files", active.contextFiles.join(", ")],
    ["settings", active.settings.join(", ")],
    ["MCP servers", active.agreed.join(", ")],
    ["ask first", active.waiting.map(({ key, runs }) => `${key} (${runs})`).join(", ")],
  ].filter(([, words]) => words !== "");
  const lines = [
    `${oneLine(root)} is trusted now.`,
    ...(rows.length === 0 ? ["Nothing in it changes what Parley does."] : aligned(rows).map((line) => `  ${line}`)),
  ];
  process.stdout.write(`${lines.map(oneLine).join("\n")}\n`);
  for (const note of active.notes) process.stderr.write(`parley: ${oneLine(note)}\n`);
  if (root === dirname(root) || root === (await world.disk.canonical(world.host.home)))
    process.stderr.write("parley: everything below it is trusted as well; parley trust --remove takes that back.\n");
  return 0;
};
