import type { ResponsesItem } from "../../rules/openai-responses/walk.ts";
import type { ApiRefusal } from "../family.ts";
import { asObject, asText } from "../json.ts";
import { isStoredId, isStored, reasoningIdFor } from "./ids.ts";
import type { ResponsesSimRequest } from "./providers.ts";
import { inputItems } from "./request.ts";

/** Refuses what only a server's memory could answer. A simulated one keeps nothing but the names of what it made. */
export const checkRequest = (ask: ResponsesSimRequest): ApiRefusal | undefined => {
  const { previous_response_id: previous, conversation } = ask.body;
  if (typeof previous === "string")
    return referenceRefusal(`Previous response with id '${previous}' not found.`, "/previous_response_id", 400);
  if (conversation !== undefined && conversation !== null) {
    const name = asText(conversation) || asText(asObject(conversation)["id"]);
    return referenceRefusal(`Conversation with id '${name}' not found.`, "/conversation", 404);
  }
  const items = inputItems(ask);
  return items.map((item) => checkItem(item, items, ask)).find((refusal) => refusal !== undefined);
};

const checkItem = (
  item: ResponsesItem,
  items: readonly ResponsesItem[],
  ask: ResponsesSimRequest,
): ApiRefusal | undefined => {
  const { at, type, id = "", value } = item;
  if (type === "item_reference") return referenceRefusal(`Item with id '${id}' not found.`, at, 404);
  if (id === "" || ask.provider.quirks.vendor === "xai") return undefined;
  if (type === "reasoning") {
    const isNamed = isStored(ask) && typeof value["encrypted_content"] !== "string";
    return isNamed && !isStoredId(id, ask.provider)
      ? referenceRefusal(`Item with id '${id}' not found.`, at, 404)
      : undefined;
  }
  const thought = reasoningIdFor(id, ask.provider);
  if (thought === undefined || items.some((other) => other.id === thought)) return undefined;
  const message = `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: '${thought}'.`;
  return referenceRefusal(message, at, 400);
};

const referenceRefusal = (message: string, pointer: string, status: 400 | 404): ApiRefusal => ({
  status,
  kind: status === 404 ? "not-found" : "bad-request",
  message,
  pointer,
});
