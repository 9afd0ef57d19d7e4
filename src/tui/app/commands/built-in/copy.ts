import type { Entry } from "../../../../conversation/entry.ts";
import { openSessionStore } from "../../../../session/store/store.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/copy`: copies the last answer to the terminal's clipboard. */
export const copyLastAnswer = async (_: string, at: SlashCommandContext): Promise<void> => {
  const { agent, session } = at.opened();
  const held = lastAnswer(agent.conversation().entries);
  // Entries replaced by a compaction are read from the session log.
  const last = held ?? lastAnswer((await openSessionStore(at.world, { home: at.home.data }).read(session.id)).entries);
  if (last === undefined) return at.info("No answer yet.");
  await at.copyToClipboard(last);
  at.info(`Copied ${last.length} characters (if the terminal allows clipboard access).`);
};

const lastAnswer = (entries: readonly Entry[]): string | undefined =>
  entries
    .flatMap((entry) =>
      entry.type === "model" ? [entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")] : [],
    )
    .findLast((each) => each.trim() !== "");
