import type { JsonObject, JsonValue } from "../conversation/json.ts";

/** Two messages of one role as one, where a message is a role and a list of blocks. */
export const mergeBlocks = (before: JsonObject, next: JsonObject): JsonObject | undefined =>
  before["role"] === next["role"]
    ? {
        ...before,
        content: [...(before["content"] as readonly JsonValue[]), ...(next["content"] as readonly JsonValue[])],
      }
    : undefined;
