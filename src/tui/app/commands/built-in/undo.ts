import type { SlashCommandContext } from "../slash-command.ts";
import type { RestoreResult } from "../../session/edit-snapshots.ts";

/** `/undo`: restores the file of the last edit; used again, of the edit before. */
export const undoLastEdit = async (_: string, at: SlashCommandContext): Promise<void> => {
  const kept = await at.snapshots().all();
  if (kept.length === 0) return at.info("No edits in this session.");
  const { workspace } = await at.opened().services();
  for (const each of await at.snapshots().restore(1, workspace, at.world.disk)) at.info(restoreResultText(each));
};

/** Describes the result of restoring a file. */
export const restoreResultText = (restored: RestoreResult): string => {
  switch (restored.type) {
    case "restored":
      return `Restored ${restored.path}.`;
    case "removed":
      return `Removed ${restored.path} (it was created by the edit).`;
    case "kept":
      return `Not restored: ${restored.path} (${restored.reason}).`;
  }
};
