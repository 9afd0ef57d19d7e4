import type { Conversation } from "../conversation/entry.ts";
import { isObject } from "../conversation/json.ts";
import { wireIds } from "../providers/find.ts";
import { inferWire, readRequest, sourceOf } from "../providers/request.ts";
import { sessionFrom } from "../session/create.ts";
import type { Arguments } from "./arguments.ts";
import { conversationIn } from "./conversation-file.ts";
import { Failure, misused } from "./failure.ts";
import { readJson } from "./input.ts";
import { printJson } from "./session-words.ts";
import type { SessionAction } from "./sessions.ts";

/** `parley sessions import`: a conversation held elsewhere, as a session of this folder. */
export const importSession: SessionAction = async ({ sessions, root }, given) => {
  const [, file, extra] = given.words;
  if (file === undefined) throw misused("Say what: parley sessions import FILE.");
  if (extra !== undefined) throw misused(`sessions import does not know what to do with "${extra}".`);
  const conversation = conversationOf(await readJson(file), given);
  const model = lastModel(conversation);
  const title = given.value("title");
  const session = await sessions.create(
    sessionFrom(conversation, {
      root,
      ...(model === undefined ? {} : { model }),
      ...(title === undefined ? {} : { title }),
    }),
  );
  await session.close();
  if (given.has("json")) return printJson({ id: session.id, entries: conversation.entries.length });
  process.stdout.write(`${session.id}\n`);
  process.stderr.write(`parley: go on with it in parley --resume ${session.id}\n`);
  return 0;
};

const conversationOf = (value: unknown, given: Arguments): Conversation => {
  const from = given.value("from");
  if (isObject(value) && "entries" in value) {
    if (from !== undefined) throw new Failure("This is a saved conversation; it needs no --from.");
    return conversationIn(value);
  }
  const source = from ?? inferWire(value);
  if (source === undefined)
    throw new Failure(
      `This is no saved conversation, and it is not obvious which API it was written for. Say so with --from: ${wireIds.join(", ")}.`,
    );
  const { conversation } = readRequest(value, sourceOf(source));
  if (conversation.entries.length === 0) throw new Failure("Nothing was said in it.");
  return conversation;
};

/** Who spoke last. A body alone does not say which model it was for. */
const lastModel = ({ entries }: Conversation): { readonly provider: string; readonly model: string } | undefined => {
  const last = entries.findLast((entry) => entry.type === "model");
  if (last?.type !== "model" || last.origin.model === "") return undefined;
  return { provider: last.origin.provider, model: last.origin.model };
};
