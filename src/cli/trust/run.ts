import { dirname, resolve } from "node:path";
import { PolicyError } from "../../policy/error.ts";
import { openTrustStore, type TrustStore } from "../../policy/trust/folders.ts";
import { resolveHomeFolder } from "../../settings/home.ts";
import { DiskError } from "../../world/disk.ts";
import { realWorld } from "../../world/real/world.ts";
import type { World } from "../../world/world.ts";
import type { Arguments } from "../parse-arguments.ts";
import type { CommandHandler } from "../commands.ts";
import { UserError, usageError } from "../user-error.ts";
import { withUserErrors } from "../sessions/context.ts";
import { printJson } from "../format.ts";
import { alignColumns, sanitizeLine } from "../text-table.ts";

/** `parley trust`: which folders may tell Parley what to do. */
export const trust: CommandHandler = async (given) => {
  if (given.has("list") && (given.has("remove") || given.positionals.length > 0))
    throw usageError("--list shows all folders you trust, so it goes with nothing else.");
  const world = realWorld();
  const home = resolveHomeFolder(world);
  const place = { world, home, trusted: openTrustStore(world.disk, home) };
  return withUserErrors(() => runAction(given, place)).catch((error: unknown) => {
    if (error instanceof PolicyError || error instanceof DiskError) throw new UserError(error.message, { code: 1 });
    throw error;
  });
};

type TrustContext = { readonly world: World; readonly home: string; readonly trusted: TrustStore };

const runAction = (given: Arguments, place: TrustContext): Promise<number> => {
  if (given.has("list")) return listFolders(given, place);
  const folder = resolve(given.positionals[0] ?? ".");
  return given.has("remove") ? distrustFolder(given, place, folder) : trustFolder(given, place, folder);
};

const listFolders = async (given: Arguments, { world: { disk }, trusted }: TrustContext): Promise<number> => {
  const folders = await Promise.all(
    (await trusted.listTrusted()).map(async (folder) => ({
      folder,
      exists: (await disk.canonicalPath(folder).catch(() => undefined)) !== undefined,
    })),
  );
  if (given.has("json")) return printJson({ folders });
  if (folders.length === 0) process.stderr.write("parley: you trust no folder yet.\n");
  for (const { folder, exists } of folders)
    process.stdout.write(`${sanitizeLine(folder)}${exists ? "" : "  (it is gone)"}\n`);
  return 0;
};

const distrustFolder = async (given: Arguments, { trusted }: TrustContext, folder: string): Promise<number> => {
  const removed = await trusted.untrustFolder(folder);
  const still = await trusted.isTrusted(folder);
  if (given.has("json")) printJson({ folder, removed, trusted: still });
  else if (removed) process.stdout.write(`${sanitizeLine(folder)} is trusted no longer.\n`);
  if (still) process.stderr.write(`parley: ${sanitizeLine(folder)} is still trusted, because a folder above it is.\n`);
  else if (!removed) process.stderr.write(`parley: ${sanitizeLine(folder)} was not trusted.\n`);
  return still || !removed ? 1 : 0;
};

const trustFolder = async (
  given: Arguments,
  { world, home, trusted }: TrustContext,
  folder: string,
): Promise<number> => {
  const root = await world.disk.canonicalPath(folder);
  if (root === undefined) throw new UserError(`There is no folder ${folder}.`);
  await world.disk.listNames(root).catch((error: unknown) => {
    if (error instanceof DiskError && error.code === "ENOTDIR")
      throw new UserError(`${folder} is a file, not a folder.`);
  });
  await trusted.trustFolder(root);
  const { describeTrustEffects } = await import("./effects.ts");
  const active = await describeTrustEffects({ world, home, root, trusted });
  if (given.has("json")) return printJson({ folder: root, ...active });
  const rows = [
    ["context files", active.contextFiles.join(", ")],
    ["settings", active.settings.join(", ")],
    ["MCP servers", active.agreed.join(", ")],
    ["ask first", active.waiting.map(({ key, runs }) => `${key} (${runs})`).join(", ")],
  ].filter(([, words]) => words !== "");
  const lines = [
    `${sanitizeLine(root)} is trusted now.`,
    ...(rows.length === 0
      ? ["Nothing in it changes what Parley does."]
      : alignColumns(rows).map((line) => `  ${line}`)),
  ];
  process.stdout.write(`${lines.map(sanitizeLine).join("\n")}\n`);
  for (const note of active.notes) process.stderr.write(`parley: ${sanitizeLine(note)}\n`);
  if (root === dirname(root) || root === (await world.disk.canonicalPath(world.host.home)))
    process.stderr.write("parley: everything below it is trusted as well; parley trust --remove takes that back.\n");
  return 0;
};
