import type { ResponsesItem } from "../../rules/openai-responses/walk.ts";
import type { ApiRefusal } from "../family.ts";
import { asObject, asText } from "../json.ts";
import { isStoredId, isStored, reasoningIdFor } from "./ids.ts";
import type { ResponsesSimRequest } from "./providers.ts";
import { inputItems } from "./request.ts";

/**
 * Refuses references to stored responses, conversations and items: the simulator stores nothing, and only recognizes
 * its own ids.
 */
export const checkRequest = (request: ResponsesSimRequest): ApiRefusal | undefined => {
  const { previous_response_id: previous, conversation } = request.body;
  if (typeof previous === "string")
    return referenceRefusal(`Previous response with id '${previous}' not found.`, "/previous_response_id", 400);
  if (conversation !== undefined && conversation !== null) {
    const name = asText(conversation) || asText(asObject(conversation)["id"]);
    return referenceRefusal(`Conversation with id '${name}' not found.`, "/conversation", 404);
  }
  const items = inputItems(request);
  return items.map((item) => checkItem(item, items, request)).find((refusal) => refusal !== undefined);
};

const checkItem = (
  item: ResponsesItem,
  items: readonly ResponsesItem[],
  request: ResponsesSimRequest,
): ApiRefusal | undefined => {
  const { at, type, id = "", value } = item;
  if (type === "item_reference") return referenceRefusal(`Item with id '${id}' not found.`, at, 404);
  if (id === "" || request.provider.quirks.vendor === "xai") return undefined;
  if (type === "reasoning") {
    const isNamed = isStored(request) && typeof value["encrypted_content"] !== "string";
    return isNamed && !isStoredId(id, request.provider)
      ? referenceRefusal(`Item with id '${id}' not found.`, at, 404)
      : undefined;
  }
  const thought = reasoningIdFor(id, request.provider);
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
