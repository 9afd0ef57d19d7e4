import { describeHookFile, findHookFiles } from "../../extensions/hooks/hook-files.ts";
import { addHooks, hookImportAgents, type HookImportAgent } from "../../extensions/hooks/import-hooks.ts";
import { setSetting } from "../../settings/file/write.ts";
import { settingsFilePath } from "../../settings/load/load.ts";
import type { HookSettings } from "../../settings/schema/values.ts";
import { canPrompt, confirm } from "../confirm.ts";
import { sanitizeLine } from "../text-table.ts";
import { UserError, usageError } from "../user-error.ts";
import type { HookContext } from "./context.ts";

/** Shows the person's hooks of another agent, and adds them to the settings with their consent. */
export const importAgentHooks = async (context: HookContext, name: string, skipsQuestion: boolean): Promise<number> => {
  const agent = hookImportAgents.find((each) => each === name);
  if (agent === undefined) throw usageError(`Unknown agent "${name}". Available: ${hookImportAgents.join(", ")}.`);
  const files = await findHookFiles(context.world, agent);
  if (files.length === 0) throw new UserError(`No hooks of ${agent} were found in your home folder.`, { code: 1 });
  for (const line of files.flatMap(describeHookFile)) process.stderr.write(`${sanitizeLine(line)}\n`);
  const found = files.flatMap((file) => ("imported" in file ? [file.imported.hooks] : [])).reduce(addHooks, {});
  const merged = addHooks(context.loaded.settings.hooks, found);
  if (JSON.stringify(merged) === JSON.stringify(context.loaded.settings.hooks)) {
    process.stderr.write("Nothing to add.\n");
    return 0;
  }
  if (!skipsQuestion && !canPrompt())
    throw new UserError("Cannot ask without a terminal. Use --yes to add what is shown above.", { code: 1 });
  if (!skipsQuestion && !(await confirm("Add these hooks to your settings? They run in every folder.")))
    throw new UserError("Nothing was changed.", { code: 1 });
  const backup = await writeHooks(context, agent, merged);
  process.stderr.write(
    `Added to ${settingsFilePath(context.home)}. The file as it was: ${backup}. parley hooks undo takes it back.\n`,
  );
  return 0;
};

/** Restores the settings of before the last import, unless they changed since. */
export const undoImport = async ({ world: { files }, home }: HookContext): Promise<number> => {
  const file = settingsFilePath(home);
  const record = await files.read(backupPath(home));
  if (record === undefined) throw new UserError("There is no import to take back.", { code: 1 });
  const { before, after } = JSON.parse(record) as { readonly before: string; readonly after: string };
  if ((await files.read(file)) !== after)
    throw new UserError(`${file} changed since the import. Its text of before is in ${backupPath(home)}.`, { code: 1 });
  if (before === "") await files.remove(file);
  else await files.writePrivate(file, before);
  await files.remove(backupPath(home));
  process.stderr.write(`Restored ${file}.\n`);
  return 0;
};

const backupPath = (home: string): string => `${home}/hooks-import-backup.json`;

/** Writes the hooks, and beside the settings what is needed to undo that. Returns the path of the backup. */
const writeHooks = async (
  { world, home }: HookContext,
  agent: HookImportAgent,
  hooks: HookSettings,
): Promise<string> => {
  const file = settingsFilePath(home);
  const before = (await world.files.read(file)) ?? "";
  await setSetting(world, home, "hooks", hooks);
  const after = (await world.files.read(file)) ?? "";
  await world.files.writePrivate(backupPath(home), `${JSON.stringify({ agent, before, after }, undefined, 2)}\n`);
  return backupPath(home);
};
