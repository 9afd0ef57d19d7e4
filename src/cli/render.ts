import { stat } from "node:fs/promises";
import { renderRequest } from "../providers/request.ts";
import type { Run } from "./commands.ts";
import { misused } from "./failure.ts";
import { readJson } from "./input.ts";
import { printRequest, requestWanted } from "./request.ts";

/** `parley render`: a saved conversation, or a session as it is or was, as the request body for a model. */
export const render: Run = async (given) => {
  if (given.has("for")) requestWanted(given);
  const [word = ""] = given.words;
  if (await isSession(word)) return (await import("./render-session.ts")).renderSession(given, word);
  if (given.has("turn")) throw misused("--turn is about the requests of a session; this is a file.");
  const { to, options } = requestWanted(given);
  const value = await readJson(word);
  const { conversationIn } = await import("./conversation-file.ts");
  return printRequest(given, () => renderRequest(conversationIn(value), to, options));
};

/** A file counts before a session; what looks like the name of a file is never taken for an id. */
const isSession = async (word: string): Promise<boolean> =>
  /^[0-9a-z]{1,10}$/.test(word) &&
  (await stat(word).then(
    () => false,
    () => true,
  ));
