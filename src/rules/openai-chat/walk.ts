import { asArray, asObject, asString, isObject, join, memoize } from "../walk.ts";

/** One message that is an object, with its pointer. */
export type ChatMessage = {
  readonly at: string;
  readonly index: number;
  readonly role: string | undefined;
  readonly value: Record<string, unknown>;
};

/** One entry of `tool_calls` that is an object. */
export type ChatCall = {
  readonly at: string;
  readonly message: ChatMessage;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly value: Record<string, unknown>;
};

/** One part of a content array that is an object. */
export type ChatPart = {
  readonly at: string;
  readonly type: string | undefined;
  readonly value: Record<string, unknown>;
};

/** One declared tool that is an object; `function` is empty for tools the vendor runs itself. */
export type ChatTool = {
  readonly at: string;
  readonly type: string | undefined;
  readonly name: string | undefined;
  readonly value: Record<string, unknown>;
  readonly function: Record<string, unknown>;
};

/** The messages of a body that are objects. Every rule uses them, so this loop must be fast. */
export const messagesOf: (body: unknown) => readonly ChatMessage[] = memoize((body) => {
  const messages: ChatMessage[] = [];
  asArray(asObject(body)["messages"]).forEach((value, index) => {
    if (isObject(value)) messages.push({ at: `/messages/${index}`, index, role: asString(value["role"]), value });
  });
  return messages;
});

/** The calls of an assistant message; none for any other role. To find them costs less than to memoize them. */
export const callsOf = (message: ChatMessage): readonly ChatCall[] => {
  const given: unknown = message.value["tool_calls"];
  if (message.role !== "assistant" || !Array.isArray(given)) return none;
  return given.flatMap((value: unknown, index) => {
    if (!isObject(value)) return [];
    const at = `${message.at}/tool_calls/${index}`;
    return [{ at, message, id: asString(value["id"]), name: asString(asObject(value["function"])["name"]), value }];
  });
};

const none: readonly never[] = [];

/** The parts of a message whose content is an array. */
export const partsOf = (message: ChatMessage): readonly ChatPart[] => {
  const given: unknown = message.value["content"];
  if (!Array.isArray(given)) return none;
  return given.flatMap((value: unknown, index) =>
    isObject(value) ? [{ at: `${message.at}/content/${index}`, type: asString(value["type"]), value }] : [],
  );
};

/** The declared tools. */
export const toolsOf: (body: unknown) => readonly ChatTool[] = memoize((body) =>
  asArray(asObject(body)["tools"]).flatMap((value, index) => {
    if (!isObject(value)) return [];
    const declared = asObject(value["function"]);
    return [
      {
        at: join("/tools", index),
        type: asString(value["type"]),
        name: asString(declared["name"]),
        value,
        function: declared,
      },
    ];
  }),
);
