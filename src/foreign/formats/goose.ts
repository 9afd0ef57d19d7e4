import type { NewPart } from "../../conversation/ledger.ts";
import type { Content, Outcome, UserPart } from "../../conversation/parts.ts";
import { textContent, textOutcome, type ConversationBuilder } from "../builder.ts";
import type { DatabaseFormat } from "../format.ts";
import { objectOf, objectsOf, parseObject, textOf, timeOf, wordOf, type ForeignRecord } from "../json.ts";
import { originFromProvider } from "../origin.ts";

/** Sessions of goose: messages as rows, with a list of contents as JSON. */
export const goose: DatabaseFormat = {
  bases: [{ variable: "XDG_DATA_HOME", below: "goose" }, { home: ".local/share/goose" }],
  database: ["sessions", "sessions.db"],
  list: async function* (database) {
    for await (const row of database.rows("sessions"))
      yield {
        id: textOf(row["id"]),
        title: wordOf(row["name"]) ?? textOf(row["description"]),
        folder: wordOf(row["working_dir"]),
        created: timeOf(utc(row["created_at"])),
        modified: timeOf(utc(row["updated_at"])),
      };
  },
  load: async (database, id, builder) => {
    let provider = "";
    let model = "";
    for await (const row of database.rows("sessions", { column: "id", value: id })) {
      builder.title = wordOf(row["name"]) ?? wordOf(row["description"]);
      builder.folder = wordOf(row["working_dir"]);
      provider = textOf(row["provider_name"]);
      model = textOf(objectOf(parseObject(textOf(row["model_config_json"])))["model_name"]);
    }
    for await (const row of database.rows("messages", { column: "session_id", value: id })) {
      const items = parseObject(`{"items":${textOf(row["content_json"])}}`);
      if (items === undefined) builder.omit("rows that are not valid JSON");
      const { agentVisible } = objectOf(parseObject(textOf(row["metadata_json"])));
      if (agentVisible === false) builder.omit("messages the model no longer sees");
      else emitMessage(builder, textOf(row["role"]), objectsOf(items?.["items"]), { provider, model });
    }
  },
};

/** Times without a zone are UTC. */
const utc = (value: unknown): unknown =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/.test(value) ? `${value.replace(" ", "T")}Z` : value;

type Origin = { readonly provider: string; readonly model: string };

const emitMessage = (
  builder: ConversationBuilder,
  role: string,
  items: readonly ForeignRecord[],
  { provider, model }: Origin,
): void => {
  if (role === "assistant")
    builder.model(
      originFromProvider(provider, model),
      items.flatMap((item) => readModelItem(builder, item)),
    );
  for (const item of items)
    if (item["type"] === "toolResponse")
      builder.result(textOf(item["id"]), readOutcome(builder, objectOf(item["toolResult"])));
  if (role === "user")
    builder.user(items.flatMap((item) => (item["type"] === "toolResponse" ? [] : readUserItem(builder, item))));
  else if (role !== "assistant") builder.omit(`messages of the unknown role ${JSON.stringify(role)}`);
};

const readUserItem = (builder: ConversationBuilder, item: ForeignRecord): readonly UserPart[] => {
  switch (item["type"]) {
    case "text":
      return [{ type: "text", text: textOf(item["text"]) }];
    case "image":
      return builder.mediaFromBase64(item["data"], item["mimeType"]);
    default:
      builder.omit(`contents of the kind ${JSON.stringify(item["type"] ?? null)}`);
      return [];
  }
};

const readModelItem = (builder: ConversationBuilder, item: ForeignRecord): readonly NewPart[] => {
  switch (item["type"]) {
    case "thinking": {
      const signature = wordOf(item["signature"]);
      return [
        {
          type: "thinking",
          text: textOf(item["thinking"]),
          ...(signature === undefined ? {} : { seal: { signature } }),
        },
      ];
    }
    case "redactedThinking": {
      const encrypted = wordOf(item["data"]);
      return encrypted === undefined ? [] : [{ type: "thinking", text: "", seal: { encrypted } }];
    }
    case "toolRequest": {
      const { value, error } = objectOf(item["toolCall"]);
      const { name, arguments: input } = objectOf(value);
      const id = textOf(item["id"]);
      if (error !== undefined) return [{ type: "call", tool: "unknown", input: { text: textOf(error) }, seal: { id } }];
      return [{ type: "call", tool: textOf(name), input: { value: input ?? {} }, seal: { id } }];
    }
    case "toolResponse":
      return [];
    default:
      return readUserItem(builder, item);
  }
};

const readOutcome = (builder: ConversationBuilder, result: ForeignRecord): Outcome => {
  if (result["status"] === "error") return textOutcome("error", textOf(result["error"]));
  const value = Array.isArray(result["value"]) ? { content: result["value"] as unknown } : objectOf(result["value"]);
  const isError = "isError" in value && value["isError"] === true;
  const content = objectsOf(value["content"]).flatMap((part): readonly Content[] => {
    if (part["type"] === "resource") return textContent(textOf(objectOf(part["resource"])["text"]));
    return part["type"] === "text" ? textContent(textOf(part["text"])) : readUserItem(builder, part);
  });
  return { status: isError ? "error" : "complete", content };
};
