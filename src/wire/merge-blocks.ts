import type { JsonObject, JsonValue } from "../conversation/json.ts";

/** Merges two messages of one role, for APIs where a message is a role and a list of blocks. */
export const mergeBlocks = (before: JsonObject, next: JsonObject): JsonObject | undefined =>
  before["role"] === next["role"]
    ? {
        ...before,
        content: [...(before["content"] as readonly JsonValue[]), ...(next["content"] as readonly JsonValue[])],
      }
    : undefined;
