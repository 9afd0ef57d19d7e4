import type { SlashCommandContext } from "../slash-command.ts";
import type { RestoreResult } from "../../session/edit-snapshots.ts";

/** `/undo`: puts back the file of the last edit. Said again, the one before. */
export const undoLastEdit = async (_: string, at: SlashCommandContext): Promise<void> => {
  const kept = await at.snapshots().all();
  if (kept.length === 0) return at.info("Nothing was edited in this session.");
  const { workspace } = await at.opened().services();
  for (const each of await at.snapshots().restore(1, workspace, at.world.disk)) at.info(restoreResultText(each));
};

/** What became of a file that was to be put back. */
export const restoreResultText = (restored: RestoreResult): string => {
  switch (restored.type) {
    case "restored":
      return `${restored.path} is as it was before.`;
    case "removed":
      return `${restored.path} was new and is gone.`;
    case "kept":
      return `${restored.path} is left as it is: ${restored.reason}.`;
  }
};
