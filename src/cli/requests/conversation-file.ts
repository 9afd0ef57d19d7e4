import type { Conversation } from "../../conversation/entry.ts";
import { isObject } from "../../conversation/json.ts";
import { ConversationFormatError, parseConversation } from "../../conversation/parse.ts";
import { inferWire } from "../../providers/request.ts";
import { UserError } from "../user-error.ts";
import { describeValue } from "../json/read.ts";

/** Parses a saved conversation. Throws a `UserError` that says what the value is instead and which command takes it. */
export const parseConversationFile = (value: unknown): Conversation => {
  if (!isObject(value) || !("entries" in value))
    throw new UserError(
      inferWire(value) === undefined
        ? `This is ${describeValue(value)}, not a saved conversation: it has no "entries".`
        : `This is a request body (${inferWire(value)}), not a saved conversation. Use parley convert.`,
    );
  try {
    return parseConversation(value);
  } catch (error) {
    if (error instanceof ConversationFormatError) throw new UserError(error.message);
    throw error;
  }
};
