import { openSessionPlugins } from "../../extensions/plugins/session.ts";
import { openTrustStore } from "../../policy/trust/folders.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import { builtInCommands } from "../../tui/app/commands/built-in.ts";
import { findCommands } from "../../tui/app/commands/custom/custom-commands.ts";
import { realWorld } from "../../world/real/world.ts";
import type { CommandHandler } from "../command.ts";
import { printJson } from "../format.ts";
import { alignColumns, sanitizeLine } from "../text-table.ts";
import { usageError } from "../user-error.ts";

/** `parley commands`: lists custom commands with their files, and what is not used of them. */
export const listCustomCommands: CommandHandler = async (args) => {
  const [action = "list"] = args.positionals;
  if (action !== "list") throw usageError(`Unknown action "${action}". Available: list.`);
  const world = realWorld();
  const { config: home, data } = await findHomeFolders(world);
  const project = (await world.disk.canonicalPath(process.cwd())) ?? process.cwd();
  const { isTrusted } = openTrustStore(world.disk, home);
  const isOpen = await isTrusted(project);
  const plugins = await openSessionPlugins(world, { home: data, folder: project });
  const { listed, problems } = await findCommands({
    plugins: plugins.commands,
    disk: world.disk,
    home,
    userHome: world.host.home,
    isTrusted,
    ...(isOpen ? { project } : {}),
  });
  const builtIn = new Set(builtInCommands.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
  const commands = listed.map((command) =>
    builtIn.has(command.name) ? { ...command, shadowedBy: `the built-in /${command.name}` } : command,
  );
  const notes = isOpen
    ? problems
    : [...problems, `${project} is not trusted, so its commands are not used. parley trust changes that.`];
  if (args.has("json")) return printJson({ commands, notes });
  const rows = commands.map(({ name, source, file, description, shadowedBy, notes: unused }) => [
    `/${name}`,
    source,
    file,
    shadowedBy === undefined ? (unused.length === 0 ? description : unused.join("; ")) : `not used: ${shadowedBy}`,
  ]);
  for (const row of alignColumns(rows)) process.stdout.write(`${sanitizeLine(row)}\n`);
  for (const note of notes) process.stderr.write(`parley: ${sanitizeLine(note)}\n`);
  return 0;
};
