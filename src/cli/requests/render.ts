import { stat } from "node:fs/promises";
import { renderRequest } from "../../providers/request.ts";
import type { CommandHandler } from "../command.ts";
import { usageError } from "../user-error.ts";
import { readJson } from "../json/read.ts";
import { printRequest, parseRequestArguments } from "./print-request.ts";

/** `parley render`: renders a saved conversation or a session as the request body for a model. */
export const render: CommandHandler = async (args) => {
  if (args.has("for")) parseRequestArguments(args);
  const [word = ""] = args.positionals;
  if (await isSession(word)) return (await import("./render-session.ts")).renderSession(args, word);
  if (args.has("turn")) throw usageError("--turn is for sessions; this is a file.");
  const { to, options } = parseRequestArguments(args);
  const value = await readJson(word);
  const { parseConversationFile } = await import("./conversation-file.ts");
  return printRequest(args, () => renderRequest(parseConversationFile(value), to, options));
};

/** Whether the argument is a session id. A file of that name takes precedence. */
const isSession = async (word: string): Promise<boolean> =>
  /^[0-9a-z]{1,10}$/.test(word) &&
  (await stat(word).then(
    () => false,
    () => true,
  ));
