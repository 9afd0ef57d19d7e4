import type { NewPart } from "../../conversation/ledger.ts";
import type { Content, Outcome, UserPart } from "../../conversation/parts.ts";
import { textContent, textOutcome, type ConversationBuilder } from "../builder.ts";
import { listDescendants } from "../descendants.ts";
import type { DatabaseFormat } from "../format.ts";
import { objectOf, objectsOf, parseObject, textOf, timeOf, wordOf, type ForeignRecord } from "../json.ts";
import { originFromProvider } from "../origin.ts";
import type { Database } from "../sqlite/database.ts";

/** Sessions of goose: messages as rows, with a list of contents as JSON. */
export const goose: DatabaseFormat = {
  bases: [{ variable: "XDG_DATA_HOME", below: "goose" }, { home: ".local/share/goose" }],
  database: ["sessions", "sessions.db"],
  list: async function* (database) {
    for await (const row of database.rows("sessions")) {
      // A session with a parent is a subagent's.
      if (wordOf(row["parent_session_id"]) !== undefined) continue;
      yield {
        id: textOf(row["id"]),
        title: wordOf(row["name"]) ?? textOf(row["description"]),
        folder: wordOf(row["working_dir"]),
        created: timeOf(utc(row["created_at"])),
        modified: timeOf(utc(row["updated_at"])),
      };
    }
  },
  leaves: async (database, id) => {
    const sessions: ForeignRecord[] = [];
    for await (const row of database.rows("sessions")) sessions.push(row);
    return listDescendants(sessions, "parent_session_id", id).map((own) => ({ id: own, kind: "subagent" }));
  },
  load: async (database, id, builder) => {
    let session: Origin = { provider: "", model: "" };
    for await (const row of database.rows("sessions", { column: "id", value: id })) {
      builder.title = wordOf(row["name"]) ?? wordOf(row["description"]);
      builder.folder = wordOf(row["working_dir"]);
      const { model_name: model } = objectOf(parseObject(textOf(row["model_config_json"])));
      session = { provider: textOf(row["provider_name"]), model: textOf(model) };
    }
    emitMessages(builder, await readMessages(database, id, builder), session);
  },
};

/** A row of a message. One that goose replaced by a summary is shown to the person and not sent to the model. */
type Message = {
  readonly role: string;
  readonly items: readonly ForeignRecord[];
  readonly isShown: boolean;
  readonly isSent: boolean;
  /** The provider and model that wrote it, where the row says so. */
  readonly origin: Origin | undefined;
};

/** Reads the messages of a session without the time and folder that goose adds to each prompt. */
const readMessages = async (
  database: Database,
  id: string,
  builder: ConversationBuilder,
): Promise<readonly Message[]> => {
  const messages: Message[] = [];
  for await (const row of database.rows("messages", { column: "session_id", value: id })) {
    const items = parseObject(`{"items":${textOf(row["content_json"])}}`);
    if (items === undefined) builder.omit("rows that are not valid JSON");
    const { userVisible, agentVisible, turnContext, inference } = objectOf(parseObject(textOf(row["metadata_json"])));
    const { provider, requestedModel } = objectOf(inference);
    if (turnContext === true) builder.omit(programTexts);
    else
      messages.push({
        role: textOf(row["role"]),
        items: objectsOf(items?.["items"]),
        isShown: userVisible !== false,
        isSent: agentVisible !== false,
        origin:
          wordOf(provider) === undefined ? undefined : { provider: textOf(provider), model: textOf(requestedModel) },
      });
  }
  return messages;
};

const programTexts = "texts the program added";

/** Emits messages in order. A text that only the model sees, after messages it no longer sees, is the summary of those. */
const emitMessages = (builder: ConversationBuilder, messages: readonly Message[], session: Origin): void => {
  const isSummary = (message: Message, index: number): boolean => {
    const before = messages[index - 1];
    return isHiddenText(message) && before !== undefined && before.isShown && !before.isSent;
  };
  const lastSummary = messages.findLastIndex(isSummary);
  const places = new Map<string, number>();
  messages.forEach((message, index) => {
    if (isSummary(message, index)) {
      // The current prompt is repeated after the summary: from there on the conversation is kept.
      const end = messages.findIndex((each, at) => at > index && !isHiddenText(each));
      const repeated = messages
        .slice(index + 1, end === -1 ? undefined : end)
        .map((each) => places.get(JSON.stringify([each.role, each.items])))
        .find((place) => place !== undefined);
      builder.compaction(message.items.map((item) => textOf(item["text"])).join(""), repeated);
    } else if (isHiddenText(message)) builder.omit(programTexts);
    else if (!message.isSent && index > lastSummary) builder.omit("messages the model does not see");
    else {
      if (message.role === "user") places.set(JSON.stringify([message.role, message.items]), builder.position);
      emitMessage(builder, message, message.origin ?? session);
    }
  });
};

const isHiddenText = ({ isShown, items }: Message): boolean =>
  !isShown && items.length > 0 && items.every((item) => item["type"] === "text");

/** Times without a zone are UTC. */
const utc = (value: unknown): unknown =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/.test(value) ? `${value.replace(" ", "T")}Z` : value;

type Origin = { readonly provider: string; readonly model: string };

const emitMessage = (builder: ConversationBuilder, { role, items }: Message, { provider, model }: Origin): void => {
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
