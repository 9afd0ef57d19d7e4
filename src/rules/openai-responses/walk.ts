import { asArray, asObject, asString, isObject, join, memoize } from "../walk.ts";

/** One input item that is an object; an item with a role and no type is a message. */
export type ResponsesItem = {
  readonly at: string;
  readonly index: number;
  readonly type: string | undefined;
  readonly id: string | undefined;
  readonly value: Record<string, unknown>;
};

/** One part of a message or of an output, with its owner. */
export type ResponsesPart = {
  readonly at: string;
  readonly type: string | undefined;
  readonly value: Record<string, unknown>;
  readonly item: ResponsesItem;
  readonly owner: "input" | "assistant" | "output";
};

/** One declared tool that is an object. */
export type ResponsesTool = {
  readonly at: string;
  readonly type: string | undefined;
  readonly name: string | undefined;
  readonly value: Record<string, unknown>;
};

/** The items of a body; none when the input is plain text. Every rule uses them, so this loop must be fast. */
export const itemsOf: (body: unknown) => readonly ResponsesItem[] = memoize((body) => {
  const items: ResponsesItem[] = [];
  asArray(asObject(body)["input"]).forEach((value, index) => {
    if (isObject(value))
      items.push({ at: `/input/${index}`, index, type: typeOf(value), id: asString(value["id"]), value });
  });
  return items;
});

const typeOf = (value: Record<string, unknown>): string | undefined => {
  if (value["type"] !== undefined && value["type"] !== null) return asString(value["type"]);
  if (value["role"] !== undefined) return "message";
  return typeof value["id"] === "string" ? "item_reference" : undefined;
};

/** True for an item that asks the client to run something; its `call_id` is answered by an output. */
export const isCall = ({ type }: ResponsesItem): boolean => type === "function_call" || type === "custom_tool_call";

/** True for an item that answers such a call. */
export const isOutput = ({ type }: ResponsesItem): boolean =>
  type === "function_call_output" || type === "custom_tool_call_output";

/** The parts of messages and of outputs, in body order. */
export const partsOf: (body: unknown) => readonly ResponsesPart[] = memoize((body) =>
  itemsOf(body).flatMap((item) => {
    if (item.type === "message") {
      return partsIn(item, "content", item.value["role"] === "assistant" ? "assistant" : "input");
    }
    return isOutput(item) ? partsIn(item, "output", "output") : [];
  }),
);

const partsIn = (item: ResponsesItem, field: string, owner: ResponsesPart["owner"]): readonly ResponsesPart[] =>
  asArray(item.value[field]).flatMap((value, index) =>
    isObject(value) ? [{ at: join(item.at, field, index), type: asString(value["type"]), value, item, owner }] : [],
  );

/** The declared tools, those inside namespaces included. */
export const toolsOf: (body: unknown) => readonly ResponsesTool[] = memoize((body) =>
  toolList(asObject(body)["tools"], "/tools"),
);

const toolList = (list: unknown, pointer: string): readonly ResponsesTool[] =>
  asArray(list).flatMap((value, index) => {
    if (!isObject(value)) return [];
    const at = join(pointer, index);
    const tool: ResponsesTool = { at, type: asString(value["type"]), name: asString(value["name"]), value };
    return tool.type === "namespace" ? [tool, ...nestedTools(value["tools"], join(at, "tools"))] : [tool];
  });

const nestedTools = (list: unknown, pointer: string): readonly ResponsesTool[] =>
  asArray(list).flatMap((value, index) =>
    isObject(value)
      ? [{ at: join(pointer, index), type: asString(value["type"]), name: asString(value["name"]), value }]
      : [],
  );

/** True when earlier items are stored on the server, so that this body is only part of the conversation. */
export const isContinued = (body: unknown): boolean => {
  const { previous_response_id: previous, conversation, prompt } = asObject(body);
  return typeof previous === "string" || typeof conversation === "string" || isObject(conversation) || isObject(prompt);
};
