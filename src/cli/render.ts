import { isObject, type Conversation } from "../conversation/index.ts";
import { ConversationFormatError, parseConversation } from "../conversation/parse.ts";
import { inferWire, renderRequest } from "../providers/index.ts";
import type { Run } from "./commands.ts";
import { Failure } from "./failure.ts";
import { kindOfValue, readJson } from "./input.ts";
import { printRequest, requestWanted } from "./request.ts";

/** `parley render`: a saved conversation as the request body for a model. */
export const render: Run = async (given) => {
  const { to, options } = requestWanted(given);
  const conversation = conversationIn(await readJson(given.words[0]!));
  return printRequest(given, () => renderRequest(conversation, to, options));
};

const conversationIn = (value: unknown): Conversation => {
  if (!isObject(value) || !("entries" in value))
    throw new Failure(
      inferWire(value) === undefined
        ? `This is ${kindOfValue(value)}, not a saved conversation: it has no "entries".`
        : `This is a request body (${inferWire(value)}), not a saved conversation. Use parley convert.`,
    );
  try {
    return parseConversation(value);
  } catch (error) {
    if (error instanceof ConversationFormatError) throw new Failure(error.message);
    throw error;
  }
};
