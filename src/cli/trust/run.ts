import { dirname, resolve } from "node:path";
import { PolicyError } from "../../policy/error.ts";
import { openTrustStore, type TrustStore } from "../../policy/trust/folders.ts";
import { findHomeFolders, type HomeFolders } from "../../world/home-folders.ts";
import { DiskError } from "../../world/disk.ts";
import { realWorld } from "../../world/real/world.ts";
import type { World } from "../../world/world.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { UserError, usageError } from "../user-error.ts";
import { withUserErrors } from "../sessions/context.ts";
import { printJson } from "../format.ts";
import { alignColumns, sanitizeLine } from "../text-table.ts";

/** `parley trust`: adds, removes and lists trusted folders. */
export const trust: CommandHandler = async (args) => {
  if (args.has("list") && (args.has("remove") || args.positionals.length > 0))
    throw usageError("--list cannot be combined with --remove or a folder.");
  const world = realWorld();
  const home = await findHomeFolders(world);
  const context = { world, home, trusted: openTrustStore(world.disk, home.config) };
  return withUserErrors(() => runAction(args, context)).catch((error: unknown) => {
    if (error instanceof PolicyError || error instanceof DiskError) throw new UserError(error.message, { code: 1 });
    throw error;
  });
};

type TrustContext = { readonly world: World; readonly home: HomeFolders; readonly trusted: TrustStore };

const runAction = (args: Arguments, context: TrustContext): Promise<number> => {
  if (args.has("list")) return listFolders(args, context);
  const folder = resolve(args.positionals[0] ?? ".");
  return args.has("remove") ? distrustFolder(args, context, folder) : trustFolder(args, context, folder);
};

const listFolders = async (args: Arguments, { world: { disk }, trusted }: TrustContext): Promise<number> => {
  const folders = await Promise.all(
    (await trusted.listTrusted()).map(async (folder) => ({
      folder,
      exists: (await disk.canonicalPath(folder).catch(() => undefined)) !== undefined,
    })),
  );
  if (args.has("json")) return printJson({ folders });
  if (folders.length === 0) process.stderr.write("parley: No trusted folders.\n");
  for (const { folder, exists } of folders)
    process.stdout.write(`${sanitizeLine(folder)}${exists ? "" : "  (no longer exists)"}\n`);
  return 0;
};

const distrustFolder = async (args: Arguments, { trusted }: TrustContext, folder: string): Promise<number> => {
  const removed = await trusted.untrustFolder(folder);
  const isStillTrusted = await trusted.isTrusted(folder);
  if (args.has("json")) printJson({ folder, removed, trusted: isStillTrusted });
  else if (removed) process.stdout.write(`${sanitizeLine(folder)} is no longer trusted.\n`);
  if (isStillTrusted)
    process.stderr.write(`parley: ${sanitizeLine(folder)} is still trusted, because a parent folder is.\n`);
  else if (!removed) process.stderr.write(`parley: ${sanitizeLine(folder)} was not trusted.\n`);
  return isStillTrusted || !removed ? 1 : 0;
};

const trustFolder = async (
  args: Arguments,
  { world, home, trusted }: TrustContext,
  folder: string,
): Promise<number> => {
  const root = await world.disk.canonicalPath(folder);
  if (root === undefined) throw new UserError(`No such folder: ${folder}.`);
  await world.disk.listNames(root).catch((error: unknown) => {
    if (error instanceof DiskError && error.code === "ENOTDIR")
      throw new UserError(`${folder} is a file, not a folder.`);
  });
  await trusted.trustFolder(root);
  const { describeTrustEffects } = await import("./effects.ts");
  const effects = await describeTrustEffects({ world, home, root, trusted });
  if (args.has("json")) return printJson({ folder: root, ...effects });
  const rows = [
    ["context files", effects.contextFiles.join(", ")],
    ["settings", effects.settings.join(", ")],
    ["MCP servers", effects.allowed.join(", ")],
    ["needs consent", effects.pending.map(({ key, runs }) => `${key} (${runs})`).join(", ")],
  ].filter(([, text]) => text !== "");
  const lines = [
    `${sanitizeLine(root)} is now trusted.`,
    ...(rows.length === 0
      ? ["It has no context files, settings or MCP servers."]
      : alignColumns(rows).map((line) => `  ${line}`)),
  ];
  process.stdout.write(`${lines.map(sanitizeLine).join("\n")}\n`);
  for (const note of effects.notes) process.stderr.write(`parley: ${sanitizeLine(note)}\n`);
  if (root === dirname(root) || root === (await world.disk.canonicalPath(world.host.home)))
    process.stderr.write("parley: All subfolders are trusted, too. Undo with parley trust --remove.\n");
  return 0;
};
