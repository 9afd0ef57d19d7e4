import type { Conversation } from "../../conversation/entry.ts";
import { isObject } from "../../conversation/json.ts";
import { wireIds } from "../../providers/find.ts";
import { inferWire, readRequest, parseSource } from "../../providers/request.ts";
import { newSessionFromConversation } from "../../session/store/create.ts";
import type { Arguments } from "../command.ts";
import { parseConversationFile } from "../requests/conversation-file.ts";
import { withProgress } from "../progress.ts";
import { UserError, usageError } from "../user-error.ts";
import { readJson } from "../json/read.ts";
import { printJson } from "../format.ts";
import type { SessionAction } from "./context.ts";

/** `parley sessions import`: creates a session of this folder from a file, or imports sessions of other agents. */
export const importSession: SessionAction = async (context, args) => {
  const { importForeign, isForeignImport } = await import("./import-foreign.ts");
  return isForeignImport(args) ? importForeign(context, args) : importFile(context, args);
};

const importFile: SessionAction = async ({ sessions, root }, args) => {
  const [, file, extra] = args.positionals;
  if (file === undefined) throw usageError("Missing argument FILE: parley sessions import FILE.");
  for (const option of ["all", "again", "dry-run"])
    if (args.has(option)) throw usageError(`--${option} is for sessions of other agents, not for a file.`);
  if (extra !== undefined) throw usageError(`Unexpected argument "${extra}" for sessions import.`);
  const title = args.value("title");
  const { session, conversation } = await withProgress("Importing", async () => {
    const conversation = readConversation(await readJson(file), args);
    const model = lastModelIn(conversation);
    const session = await sessions.create(
      newSessionFromConversation(conversation, {
        root,
        ...(model === undefined ? {} : { model }),
        ...(title === undefined ? {} : { title }),
      }),
    );
    await session.close();
    return { session, conversation };
  });
  if (args.has("json")) return printJson({ id: session.id, entries: conversation.entries.length });
  process.stdout.write(`${session.id}\n`);
  process.stderr.write(`parley: Resume it with parley --resume ${session.id}\n`);
  return 0;
};

const readConversation = (value: unknown, args: Arguments): Conversation => {
  const from = args.value("from");
  if (isObject(value) && "entries" in value) {
    if (from !== undefined) throw new UserError("--from is for request bodies; this is a saved conversation.");
    return parseConversationFile(value);
  }
  const source = from ?? inferWire(value);
  if (source === undefined)
    throw new UserError(
      `This is not a saved conversation, and its API cannot be detected. Use --from with one of: ${wireIds.join(", ")}.`,
    );
  const { conversation } = readRequest(value, parseSource(source));
  if (conversation.entries.length === 0) throw new UserError("It has no messages.");
  return conversation;
};

/** Returns the model of the last response. A request body does not name one for each message. */
const lastModelIn = ({ entries }: Conversation): { readonly provider: string; readonly model: string } | undefined => {
  const last = entries.findLast((entry) => entry.type === "model");
  if (last?.type !== "model" || last.origin.model === "") return undefined;
  return { provider: last.origin.provider, model: last.origin.model };
};
