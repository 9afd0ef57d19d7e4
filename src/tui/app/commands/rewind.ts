import { modelName } from "../../../agent/model-name.ts";
import { sessionFrom } from "../../../session/create.ts";
import { conversationOf } from "../../../session/export.ts";
import { openSessions } from "../../../session/store.ts";
import type { Desk } from "../command.ts";
import { wordsIn } from "../past.ts";
import { Snapshots } from "../snapshots.ts";
import { restoredText } from "./undo.ts";
import { counted } from "./words.ts";

/** `/rewind`: back to before one of the person's messages. The session as it was stays; a new one goes on from there. */
export const rewind = async (_: string, at: Desk): Promise<void> => {
  // The log has what is no longer in the context too.
  const { entries } = await openSessions(at.world, { home: at.home }).read(at.opened().session.id);
  const messages = entries.flatMap((entry, place) =>
    entry.type === "user" ? [{ place, words: wordsIn(entry.parts) }] : [],
  );
  if (messages.length === 0) return at.say("Nothing was said yet.");
  const edits = await at.snapshots().all();
  const after = (place: number): number => edits.filter((each) => each.entries > place).length;
  const picked = await at.pick(
    "Back to before which message?",
    messages.toReversed().map(({ place, words }) => ({
      id: String(place),
      label: words.replaceAll(/\s+/g, " ").slice(0, 100),
      ...(after(place) === 0 ? {} : { detail: `${counted(after(place), "edit")} since` }),
    })),
  );
  if (picked === undefined) return;
  const place = Number(picked.id);
  const what = after(place) === 0 ? "conversation" : (await askWhat(after(place), at))?.id;
  if (what === undefined) return;
  if (what !== "conversation") await putFilesBack(after(place), at);
  if (what !== "files") await continueBefore(place, at);
};

const askWhat = (count: number, at: Desk): ReturnType<Desk["pick"]> =>
  at.pick("What goes back?", [
    { id: "both", label: "The conversation and the files", detail: counted(count, "edit") },
    { id: "conversation", label: "The conversation alone" },
    { id: "files", label: "The files alone" },
  ]);

const putFilesBack = async (count: number, at: Desk): Promise<void> => {
  const { workspace } = await at.opened().services();
  const restored = await at.snapshots().restore(count, workspace, at.world.disk);
  for (const each of restored) at.say(restoredText(each));
};

const continueBefore = async (place: number, at: Desk): Promise<void> => {
  const { agent, session } = at.opened();
  const sessions = openSessions(at.world, { home: at.home });
  const conversation = conversationOf(await sessions.read(session.id));
  const { provider, model } = agent.model();
  const start = sessionFrom(
    { ...conversation, entries: conversation.entries.slice(0, place) },
    { root: session.head.root, model: { provider: provider.id, model } },
  );
  const fresh = await sessions.create(start);
  await fresh.close();
  await at.snapshots().hand(new Snapshots(at.world, at.home, fresh.id), place);
  await at.reopen({ id: fresh.id });
  at.say(
    `A new session goes on from there, on ${modelName(agent.model())}. The one before is kept: /resume ${session.id}`,
  );
};
