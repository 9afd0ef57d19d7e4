import type { JsonObject, JsonValue } from "../conversation/index.ts";

/** Two messages of one role as one, where a message is a role and a list of blocks. */
export const mergeBlocks = (before: JsonObject, next: JsonObject): JsonObject | undefined =>
  before["role"] === next["role"]
    ? {
        ...before,
        content: [...(before["content"] as readonly JsonValue[]), ...(next["content"] as readonly JsonValue[])],
      }
    : undefined;

/** How an OpenAI family writes the texts of a user message: the type of a part, and whether texts are joined into one string. */
export type TextStyle = { readonly type: "text" | "input_text"; readonly joined: boolean };

/** Two messages of the user as one. What the model said is left as it is: a transcript has no two of its messages in a row. */
export const mergeUserMessages = (before: JsonObject, next: JsonObject, style: TextStyle): JsonObject | undefined => {
  if (before["role"] !== "user" || next["role"] !== "user") return undefined;
  const { content } = before;
  const { content: more } = next;
  if (style.joined && typeof content === "string" && typeof more === "string")
    return { ...before, content: `${content}\n\n${more}` };
  return { ...before, content: [...partsOf(content, style), ...partsOf(more, style)] };
};

const partsOf = (content: JsonValue | undefined, { type }: TextStyle): readonly JsonValue[] =>
  typeof content === "string" ? [{ type, text: content }] : ((content ?? []) as readonly JsonValue[]);
