import type { NewPart } from "../../conversation/ledger.ts";
import type { Outcome, UserPart } from "../../conversation/parts.ts";
import { textContent, type ConversationBuilder } from "../builder.ts";
import { listDescendants } from "../descendants.ts";
import type { DatabaseFormat } from "../format.ts";
import { objectOf, objectsOf, parseObject, textOf, timeOf, wordOf, type ForeignRecord } from "../json.ts";
import { originFromProvider } from "../origin.ts";

/** Sessions of crush: messages as rows, with a list of parts as JSON, in a database inside the project. */
export const crush: DatabaseFormat = {
  bases: [{ project: ".crush" }],
  database: ["crush.db"],
  list: async function* (database) {
    for await (const row of database.rows("sessions")) {
      // A session with a parent is a subagent's.
      if (wordOf(row["parent_session_id"]) !== undefined) continue;
      yield {
        id: textOf(row["id"]),
        title: textOf(row["title"]),
        created: timeOf(row["created_at"]),
        modified: timeOf(row["updated_at"]),
      };
    }
  },
  leaves: async (database, id) => {
    const sessions: ForeignRecord[] = [];
    for await (const row of database.rows("sessions")) sessions.push(row);
    return listDescendants(sessions, "parent_session_id", id).map((own) => ({ id: own, kind: "subagent" }));
  },
  load: async (database, id, builder) => {
    for await (const row of database.rows("sessions", { column: "id", value: id }))
      builder.title = wordOf(row["title"]);
    const messages: ForeignRecord[] = [];
    for await (const row of database.rows("messages", { column: "session_id", value: id })) messages.push(row);
    // Rows are in the order they were written, which breaks ties.
    const sorted = messages.toSorted(
      (one, other) => (timeOf(one["created_at"]) ?? 0) - (timeOf(other["created_at"]) ?? 0),
    );
    for (const row of sorted) {
      const parts = parseObject(`{"parts":${textOf(row["parts"])}}`);
      if (parts === undefined) builder.omit("rows that are not valid JSON");
      emitMessage(builder, row, objectsOf(parts?.["parts"]));
    }
  },
};

const emitMessage = (builder: ConversationBuilder, row: ForeignRecord, parts: readonly ForeignRecord[]): void => {
  const dataOf = (part: ForeignRecord): ForeignRecord => objectOf(part["data"]);
  if (row["is_summary_message"] === 1)
    return builder.compaction(
      parts.map((part) => (part["type"] === "text" ? textOf(dataOf(part)["text"]) : "")).join(""),
    );
  switch (row["role"]) {
    case "user":
      return builder.user(parts.flatMap((part) => readUserPart(builder, part["type"], dataOf(part))));
    case "assistant":
      return builder.model(
        originFromProvider(textOf(row["provider"]), textOf(row["model"])),
        parts.flatMap((part) => readModelPart(builder, part["type"], dataOf(part))),
      );
    case "tool":
      for (const part of parts)
        if (part["type"] === "tool_result") {
          const data = dataOf(part);
          builder.result(textOf(data["tool_call_id"]), readOutcome(builder, data), wordOf(data["name"]));
        }
      return;
    default:
      return builder.omit(`messages of the unknown role ${JSON.stringify(row["role"] ?? null)}`);
  }
};

const readUserPart = (builder: ConversationBuilder, type: unknown, data: ForeignRecord): readonly UserPart[] => {
  switch (type) {
    case "text":
      return [{ type: "text", text: textOf(data["text"]) }];
    case "image_url":
      return builder.mediaFromUrl(data["url"]);
    case "binary":
      return builder.mediaFromBase64(
        data["Data"] ?? data["data"],
        data["MIMEType"] ?? data["mime_type"],
        wordOf(data["Path"] ?? data["path"]),
      );
    case "shell_command":
      return [
        {
          type: "text",
          text: [data["command"], data["output"]]
            .map(textOf)
            .filter((text) => text !== "")
            .join("\n\n"),
        },
      ];
    case "finish":
      return [];
    default:
      builder.omit(`parts of the kind ${JSON.stringify(type ?? null)}`);
      return [];
  }
};

const readModelPart = (builder: ConversationBuilder, type: unknown, data: ForeignRecord): readonly NewPart[] => {
  switch (type) {
    case "reasoning": {
      const signature = wordOf(data["signature"]) ?? wordOf(data["thought_signature"]);
      return [
        {
          type: "thinking",
          text: textOf(data["thinking"]),
          ...(signature === undefined ? {} : { seal: { signature } }),
        },
      ];
    }
    case "tool_call": {
      const { id, name, input } = data;
      return [{ type: "call", tool: textOf(name), input: { text: wordOf(input) ?? "{}" }, seal: { id: textOf(id) } }];
    }
    default:
      return readUserPart(builder, type, data);
  }
};

const readOutcome = (builder: ConversationBuilder, data: ForeignRecord): Outcome => ({
  status: data["is_error"] === true ? "error" : "complete",
  content: [
    ...textContent(textOf(data["content"])),
    ...(wordOf(data["data"]) === undefined ? [] : builder.mediaFromBase64(data["data"], data["mime_type"])),
  ],
});
