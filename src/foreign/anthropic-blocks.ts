import type { NewPart } from "../conversation/ledger.ts";
import { toPlainJson } from "../conversation/json.ts";
import type { Content, Outcome, UserPart } from "../conversation/parts.ts";
import type { ConversationBuilder } from "./builder.ts";
import { objectOf, textOf, wordOf, type ForeignRecord } from "./json.ts";

/** A result under the other agent's call id. */
export type BlockResult = { readonly id: string; readonly outcome: Outcome };

/** The blocks of a message in Anthropic's form, sorted by what they become. */
export type SortedBlocks<Part> = { readonly parts: readonly Part[]; readonly results: readonly BlockResult[] };

/** Reads the content of a user message in Anthropic's form: one text, or blocks. */
export const readUserBlocks = (builder: ConversationBuilder, content: unknown): SortedBlocks<UserPart> => {
  const parts: UserPart[] = [];
  const results: BlockResult[] = [];
  for (const block of blocksOf(content)) {
    if (block["type"] === "tool_result") results.push(readToolResult(builder, block));
    else parts.push(...readMediaOrText(builder, block));
  }
  return { parts, results };
};

/** Reads the content of a model message in Anthropic's form. A tool that ran on the server is a call with its result. */
export const readModelBlocks = (builder: ConversationBuilder, content: unknown): SortedBlocks<NewPart> => {
  const parts: NewPart[] = [];
  const results: BlockResult[] = [];
  for (const block of blocksOf(content)) {
    const type = textOf(block["type"]);
    if (type.endsWith("_tool_result"))
      results.push({
        id: textOf(block["tool_use_id"]),
        outcome: { status: "complete", content: structured(block["content"]) },
      });
    else parts.push(...readModelBlock(builder, block));
  }
  return { parts, results };
};

/** Reads the content of a tool result: one text, or blocks. */
export const readResultContent = (builder: ConversationBuilder, content: unknown): readonly Content[] =>
  blocksOf(content).flatMap((block): readonly Content[] =>
    block["type"] === "text" && textOf(block["text"]) === "" ? [] : readMediaOrText(builder, block),
  );

const readToolResult = (builder: ConversationBuilder, block: ForeignRecord): BlockResult => ({
  id: textOf(block["tool_use_id"]),
  outcome: {
    status: block["is_error"] === true ? "error" : "complete",
    content: readResultContent(builder, block["content"]),
  },
});

const blocksOf = (content: unknown): readonly ForeignRecord[] =>
  (Array.isArray(content) ? content : content === undefined || content === null ? [] : [content]).map(
    (block: unknown) => (typeof block === "string" ? { type: "text", text: block } : objectOf(block)),
  );

const readMediaOrText = (builder: ConversationBuilder, block: ForeignRecord): readonly UserPart[] => {
  const source = objectOf(block["source"]);
  switch (block["type"]) {
    case "text":
      return [{ type: "text", text: textOf(block["text"]) }];
    case "image":
    case "document": {
      const name = wordOf(block["title"]);
      if (source["type"] === "text") return [{ type: "text", text: textOf(source["data"]) }];
      // Cline writes the image without a source.
      if (block["data"] !== undefined) return builder.mediaFromBase64(block["data"], block["mediaType"], name);
      return source["type"] === "url"
        ? builder.mediaFromUrl(source["url"], name)
        : builder.mediaFromBase64(source["data"], source["media_type"], name);
    }
    default:
      return readUnknown(builder, block);
  }
};

const readModelBlock = (builder: ConversationBuilder, block: ForeignRecord): readonly NewPart[] => {
  switch (block["type"]) {
    case "text":
      return [{ type: "text", text: textOf(block["text"]) }];
    case "thinking": {
      const signature = wordOf(block["signature"]);
      const text = textOf(block["thinking"]);
      return [signature === undefined ? { type: "thinking", text } : { type: "thinking", text, seal: { signature } }];
    }
    case "redacted_thinking": {
      const encrypted = wordOf(block["data"]);
      return encrypted === undefined ? [] : [{ type: "thinking", text: "", seal: { encrypted } }];
    }
    case "tool_use":
    case "server_tool_use":
      return [
        {
          type: "call",
          tool: textOf(block["name"]),
          input: { value: block["input"] ?? {} },
          seal: { id: textOf(block["id"]) },
        },
      ];
    case "image":
    case "document":
      return readMediaOrText(builder, block);
    default:
      return readUnknown(builder, block);
  }
};

/** Keeps the text of a block of an unknown kind, and counts one without any. */
const readUnknown = (builder: ConversationBuilder, block: ForeignRecord): readonly UserPart[] => {
  const text = wordOf(block["text"]);
  if (text !== undefined) return [{ type: "text", text }];
  builder.omit(`blocks of the unknown kind ${JSON.stringify(block["type"] ?? null)}`);
  return [];
};

const structured = (value: unknown): readonly Content[] =>
  value === undefined ? [] : [{ type: "structured", value: toPlainJson(value).value }];
