import { modelName } from "../../../../agent/models/name.ts";
import { newSessionFromConversation } from "../../../../session/store/create.ts";
import { exportConversation } from "../../../../session/export/conversation.ts";
import { openSessionStore } from "../../../../session/store/store.ts";
import type { SlashCommandContext } from "../slash-command.ts";
import { labelMarkedText } from "../../../editor/state.ts";
import { markSentText } from "../../input/history.ts";
import { promptText } from "../../transcript/session-history.ts";
import { EditSnapshots } from "../../session/edit-snapshots.ts";
import { restoreEdits } from "./undo.ts";
import { pluralize } from "./format.ts";

/** `/rewind`: returns to before one of the user's messages. The session is kept; a new one continues from there. */
export const rewindConversation = async (_: string, at: SlashCommandContext): Promise<void> => {
  // The session log also has entries that are no longer in the context.
  const { entries } = await openSessionStore(at.world, { home: at.home.data }).read(at.opened().session.id);
  const messages = await Promise.all(
    entries.flatMap((entry, place) =>
      entry.type === "user"
        ? [markSentText(promptText(entry.parts), at.readInputHistory).then((marked) => ({ place, marked }))]
        : [],
    ),
  );
  if (messages.length === 0) return at.info("No messages yet.");
  const edits = await at.snapshots().all();
  const after = (place: number): number => edits.filter((each) => each.entries > place).length;
  const picked = await at.pick(
    "Rewind to before which message?",
    messages.toReversed().map(({ place, marked }) => ({
      id: String(place),
      label: labelMarkedText(marked).replaceAll(/\s+/g, " ").slice(0, 100),
      ...(after(place) === 0 ? {} : { detail: `${pluralize(after(place), "edit")} since` }),
    })),
  );
  if (picked === undefined) return;
  const place = Number(picked.id);
  const what = after(place) === 0 ? "conversation" : (await askScope(after(place), at))?.id;
  if (what === undefined) return;
  if (what !== "conversation") await restoreEdits(after(place), at);
  if (what !== "conversation" || after(place) === 0) await reportUnstored(at);
  if (what === "files") return;
  await forkBefore(place, at);
  at.restoreDraft(messages.find((each) => each.place === place)?.marked ?? "");
};

const askScope = (count: number, at: SlashCommandContext): ReturnType<SlashCommandContext["pick"]> =>
  at.pick("What to rewind?", [
    { id: "both", label: "Conversation and files", detail: pluralize(count, "edit") },
    { id: "conversation", label: "Conversation only" },
    { id: "files", label: "Files only" },
  ]);

/** Says why changes of commands were not stored, if they were not. */
const reportUnstored = async (at: SlashCommandContext): Promise<void> => {
  const problem = (await at.commandSnapshots()).problem();
  if (problem !== undefined) at.warn(`Files that commands changed were not restored: ${problem}.`);
};

/** Creates a session with the entries before a place of this one, and returns its id. */
export const createFork = async (place: number, at: SlashCommandContext): Promise<string> => {
  const { agent, session } = at.opened();
  const sessions = openSessionStore(at.world, { home: at.home.data });
  const conversation = exportConversation(await sessions.read(session.id));
  const { provider, model } = agent.model();
  const start = newSessionFromConversation(
    { ...conversation, entries: conversation.entries.slice(0, place) },
    { root: session.head.root, model: { provider: provider.id, model } },
  );
  const fresh = await sessions.create(start);
  await fresh.close();
  return fresh.id;
};

const forkBefore = async (place: number, at: SlashCommandContext): Promise<void> => {
  const { agent, session } = at.opened();
  const id = await createFork(place, at);
  await at.snapshots().copyTo(new EditSnapshots(at.world, at.home.data, id), place);
  await at.reopen({ id });
  at.info(
    `Continuing in a new session with ${modelName(agent.model())}. The previous one is kept: /resume ${session.id}`,
  );
};
