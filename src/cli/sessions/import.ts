import type { Conversation } from "../../conversation/entry.ts";
import { isObject } from "../../conversation/json.ts";
import { wireIds } from "../../providers/find.ts";
import { inferWire, readRequest, parseSource } from "../../providers/request.ts";
import { newSessionFromConversation } from "../../session/store/create.ts";
import type { Arguments } from "../parse-arguments.ts";
import { parseConversationFile } from "../requests/conversation-file.ts";
import { UserError, usageError } from "../user-error.ts";
import { readJson } from "../json/read.ts";
import { printJson } from "../format.ts";
import type { SessionAction } from "./run.ts";

/** `parley sessions import`: a conversation held elsewhere, as a session of this folder. */
export const importSession: SessionAction = async ({ sessions, root }, given) => {
  const [, file, extra] = given.positionals;
  if (file === undefined) throw usageError("Say what: parley sessions import FILE.");
  if (extra !== undefined) throw usageError(`sessions import does not know what to do with "${extra}".`);
  const conversation = readConversation(await readJson(file), given);
  const model = lastModelIn(conversation);
  const title = given.value("title");
  const session = await sessions.create(
    newSessionFromConversation(conversation, {
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

const readConversation = (value: unknown, given: Arguments): Conversation => {
  const from = given.value("from");
  if (isObject(value) && "entries" in value) {
    if (from !== undefined) throw new UserError("This is a saved conversation; it needs no --from.");
    return parseConversationFile(value);
  }
  const source = from ?? inferWire(value);
  if (source === undefined)
    throw new UserError(
      `This is no saved conversation, and it is not obvious which API it was written for. Say so with --from: ${wireIds.join(", ")}.`,
    );
  const { conversation } = readRequest(value, parseSource(source));
  if (conversation.entries.length === 0) throw new UserError("Nothing was said in it.");
  return conversation;
};

/** Who spoke last. A body alone does not say which model it was for. */
const lastModelIn = ({ entries }: Conversation): { readonly provider: string; readonly model: string } | undefined => {
  const last = entries.findLast((entry) => entry.type === "model");
  if (last?.type !== "model" || last.origin.model === "") return undefined;
  return { provider: last.origin.provider, model: last.origin.model };
};
