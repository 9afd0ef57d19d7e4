import type { SlashCommandContext } from "../slash-command.ts";
import type { RestoreResult } from "../../session/edit-snapshots.ts";

/** `/undo`: restores the file of the last edit, or those the last command changed; used again, of the one before. */
export const undoLastEdit = async (_: string, at: SlashCommandContext): Promise<void> => {
  const count = await at.snapshots().lastCount();
  if (count === 0) return at.info("No edits in this session.");
  await restoreEdits(count, at);
};

/** Restores files to before the last edits and command changes, and says what could not be restored. */
export const restoreEdits = async (count: number, at: SlashCommandContext): Promise<void> => {
  const { workspace } = await at.opened().services();
  const readStored = async (blob: string): Promise<Uint8Array | undefined> => (await at.commandSnapshots()).read(blob);
  const restored = await at.snapshots().restore(count, { workspace, disk: at.world.disk, readStored });
  for (const each of restored) at.info(restoreResultText(each));
};

/** Describes the result of restoring a file. */
const restoreResultText = (restored: RestoreResult): string => {
  switch (restored.type) {
    case "restored":
      return `Restored ${restored.path}.`;
    case "removed":
      return `Removed ${restored.path} (it did not exist before).`;
    case "kept":
      return `Not restored: ${restored.path} (${restored.reason}).`;
  }
};
