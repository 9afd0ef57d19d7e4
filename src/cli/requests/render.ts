import { stat } from "node:fs/promises";
import { renderRequest } from "../../providers/request.ts";
import type { CommandHandler } from "../commands.ts";
import { usageError } from "../user-error.ts";
import { readJson } from "../json/read.ts";
import { printRequest, parseRequestArguments } from "./print-request.ts";

/** `parley render`: a saved conversation, or a session as it is or was, as the request body for a model. */
export const render: CommandHandler = async (given) => {
  if (given.has("for")) parseRequestArguments(given);
  const [word = ""] = given.positionals;
  if (await isSession(word)) return (await import("./render-session.ts")).renderSession(given, word);
  if (given.has("turn")) throw usageError("--turn is about the requests of a session; this is a file.");
  const { to, options } = parseRequestArguments(given);
  const value = await readJson(word);
  const { parseConversationFile } = await import("./conversation-file.ts");
  return printRequest(given, () => renderRequest(parseConversationFile(value), to, options));
};

/** A file counts before a session; what looks like the name of a file is never taken for an id. */
const isSession = async (word: string): Promise<boolean> =>
  /^[0-9a-z]{1,10}$/.test(word) &&
  (await stat(word).then(
    () => false,
    () => true,
  ));
