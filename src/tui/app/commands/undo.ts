import type { Desk } from "../command.ts";
import type { Restored } from "../snapshots.ts";

/** `/undo`: puts back the file of the last edit. Said again, the one before. */
export const undo = async (_: string, at: Desk): Promise<void> => {
  const kept = await at.snapshots().all();
  if (kept.length === 0) return at.say("Nothing was edited in this session.");
  const { workspace } = await at.opened().services();
  for (const each of await at.snapshots().restore(1, workspace, at.world.disk)) at.say(restoredText(each));
};

/** What became of a file that was to be put back. */
export const restoredText = (restored: Restored): string => {
  switch (restored.type) {
    case "restored":
      return `${restored.path} is as it was before.`;
    case "removed":
      return `${restored.path} was new and is gone.`;
    case "kept":
      return `${restored.path} is left as it is: ${restored.why}.`;
  }
};
