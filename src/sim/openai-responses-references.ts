import type { Item } from "../rules/openai-responses-walk.ts";
import type { Refusal } from "./family.ts";
import { asObject, asText } from "./json.ts";
import { isKept, isStored, thoughtBehind } from "./openai-responses-ids.ts";
import type { ResponsesAsk } from "./openai-responses-providers.ts";
import { inputOf } from "./openai-responses-request.ts";

/** Refuses what only a server's memory could answer. A simulated one keeps nothing but the names of what it made. */
export const checkReferences = (ask: ResponsesAsk): Refusal | undefined => {
  const { previous_response_id: previous, conversation } = ask.body;
  if (typeof previous === "string")
    return refused(`Previous response with id '${previous}' not found.`, "/previous_response_id", 400);
  if (conversation !== undefined && conversation !== null) {
    const name = asText(conversation) || asText(asObject(conversation)["id"]);
    return refused(`Conversation with id '${name}' not found.`, "/conversation", 404);
  }
  const items = inputOf(ask);
  return items.map((item) => checkItem(item, items, ask)).find((refusal) => refusal !== undefined);
};

const checkItem = (item: Item, items: readonly Item[], ask: ResponsesAsk): Refusal | undefined => {
  const { at, type, id = "", value } = item;
  if (type === "item_reference") return refused(`Item with id '${id}' not found.`, at, 404);
  if (id === "" || ask.provider.quirks.manner === "xai") return undefined;
  if (type === "reasoning") {
    const isNamed = isStored(ask) && typeof value["encrypted_content"] !== "string";
    return isNamed && !isKept(id, ask.provider) ? refused(`Item with id '${id}' not found.`, at, 404) : undefined;
  }
  const thought = thoughtBehind(id, ask.provider);
  if (thought === undefined || items.some((other) => other.id === thought)) return undefined;
  const message = `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: '${thought}'.`;
  return refused(message, at, 400);
};

const refused = (message: string, pointer: string, status: 400 | 404): Refusal => ({
  status,
  kind: status === 404 ? "not-found" : "bad-request",
  message,
  pointer,
});
