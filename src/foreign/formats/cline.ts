import type { Content, Outcome, UserPart } from "../../conversation/parts.ts";
import { readModelBlocks, readResultContent, readUserBlocks } from "../anthropic-blocks.ts";
import { textContent, type ConversationBuilder } from "../builder.ts";
import type { FileFormat } from "../format.ts";
import { listOf, objectOf, objectsOf, parseObject, textOf, timeOf, wordOf, type ForeignRecord } from "../json.ts";
import { originFromProvider } from "../origin.ts";

/** Sessions of Cline: one document of messages in Anthropic's form. */
export const cline: FileFormat = {
  bases: [{ variable: "CLINE_DIR" }, { home: ".cline" }],
  files: [["data", "sessions", "*", "*.messages.json"]],
  idOf: ([, , id = ""]) => id,
  beside: ([data = "", sessions = "", id = ""]) => [[data, sessions, id, `${id}.json`]],
  describe: ({ head, beside: [text = ""] }) => {
    const facts = parseObject(text) ?? {};
    const messages = objectsOf(head[0]?.["messages"]);
    const prompt = messages.find((message) => message["role"] === "user");
    return {
      folder: wordOf(facts["cwd"]) ?? wordOf(facts["workspaceRoot"]),
      created: timeOf(facts["startedAt"] ?? facts["started_at"] ?? facts["createdAt"]),
      title:
        wordOf(facts["title"]) ??
        wordOf(facts["prompt"]) ??
        (prompt === undefined ? undefined : unwrap(textIn(prompt["content"]))),
    };
  },
  read: ([document = {}], builder, [text = ""]) => {
    const facts = parseObject(text) ?? {};
    builder.folder = wordOf(facts["cwd"]);
    builder.title = wordOf(facts["title"]);
    for (const message of objectsOf(document["messages"])) emitMessage(builder, message, facts);
  },
};

const textIn = (content: unknown): string =>
  typeof content === "string"
    ? content
    : objectsOf(content)
        .map((part) => textOf(part["text"]))
        .join(" ");

/** Removes the tags Cline puts around what a person wrote. */
const unwrap = (text: string): string => /^\s*<user_input[^>]*>([\s\S]*?)<\/user_input>\s*$/.exec(text)?.[1] ?? text;

const emitMessage = (builder: ConversationBuilder, message: ForeignRecord, facts: ForeignRecord): void => {
  const info = objectOf(message["modelInfo"]);
  switch (message["role"]) {
    case "assistant": {
      const provider = wordOf(info["provider"]) ?? wordOf(info["providerId"]) ?? textOf(facts["provider"]);
      const model = wordOf(info["id"]) ?? wordOf(info["modelId"]) ?? textOf(facts["model"]);
      const { parts, results } = readModelBlocks(builder, message["content"]);
      builder.model(originFromProvider(provider, model), parts);
      for (const { id, outcome } of results) builder.result(id, outcome);
      return;
    }
    case "user": {
      const blocks = listOf(typeof message["content"] === "string" ? [message["content"]] : message["content"]);
      for (const block of blocks.map(objectOf))
        if (block["type"] === "tool_result") builder.result(textOf(block["tool_use_id"]), readOutcome(builder, block));
      const rest = blocks.filter((block) => objectOf(block)["type"] !== "tool_result");
      return builder.user(readUserBlocks(builder, rest).parts.map(unwrapPart));
    }
    default:
      return builder.omit(`messages of the unknown role ${JSON.stringify(message["role"] ?? null)}`);
  }
};

const unwrapPart = (part: UserPart): UserPart => (part.type === "text" ? { ...part, text: unwrap(part.text) } : part);

/** A result is plain content, or a list of queries with their results. */
const readOutcome = (builder: ConversationBuilder, block: ForeignRecord): Outcome => {
  const { content } = block;
  const queries = objectsOf(content).filter((each) => each["type"] === undefined && "result" in each);
  const hasFailed =
    block["is_error"] === true || (queries.length > 0 && queries.every((query) => query["success"] === false));
  const parts: readonly Content[] =
    queries.length === 0 ? readResultContent(builder, content) : queries.flatMap((query) => readQuery(builder, query));
  return { status: hasFailed ? "error" : "complete", content: parts };
};

const readQuery = (builder: ConversationBuilder, query: ForeignRecord): readonly Content[] => {
  const words =
    typeof query["result"] === "string" ? textContent(query["result"]) : readResultContent(builder, query["result"]);
  return query["success"] === false && words.length === 0 ? textContent(textOf(query["error"])) : words;
};
