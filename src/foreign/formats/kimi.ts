import type { NewPart } from "../../conversation/ledger.ts";
import type { Content, Outcome, UserPart } from "../../conversation/parts.ts";
import { textContent, type ConversationBuilder } from "../builder.ts";
import type { FileFormat } from "../format.ts";
import { listOf, objectOf, objectsOf, parseObject, textOf, timeOf, wordOf, type ForeignRecord } from "../json.ts";
import { originFromModel } from "../origin.ts";

/** Sessions of Kimi Code: events in order. */
export const kimi: FileFormat = {
  bases: [{ variable: "KIMI_CODE_HOME" }, { home: ".kimi-code" }],
  files: [["sessions", "*", "*", "agents", "main", "wire.jsonl"]],
  idOf: ([, , session = ""]) => session.replace(/^session_/, ""),
  beside: ([sessions = "", project = "", session = ""]) => [
    ["session_index.jsonl"],
    [sessions, project, session, "state.json"],
  ],
  subagents: ([sessions = "", project = "", session = ""]) => [sessions, project, session, "agents", "subagents"],
  describe: ({ path: [, , session = ""], head, beside: [index = "", state = ""] }) => {
    const prompt = head.find((record) => isPrompt(record));
    if (head.length === 0) return undefined;
    const facts = parseObject(state) ?? {};
    return {
      folder: folderOf(index, session) ?? wordOf(facts["workDir"]),
      created: timeOf(facts["createdAt"]) ?? timeOf(head[0]?.["timestamp"] ?? head[0]?.["time"]),
      title:
        wordOf(facts["title"]) ?? (prompt === undefined ? undefined : textIn(objectOf(prompt["message"])["content"])),
    };
  },
  read: (records, builder, [, state = ""]) => {
    const facts = parseObject(state) ?? {};
    builder.title = wordOf(facts["title"]);
    builder.folder = wordOf(facts["workDir"]);
    const reader = new EventReader(builder);
    for (const record of records) reader.read(record);
    reader.flush();
  },
};

const folderOf = (index: string, session: string): string | undefined => {
  const line = index.split("\n").findLast((each) => each.includes(session));
  return line === undefined ? undefined : wordOf(parseObject(line)?.["workDir"]);
};

const isPrompt = (record: ForeignRecord): boolean => {
  const message = objectOf(record["message"]);
  return (
    record["type"] === "context.append_message" &&
    message["role"] === "user" &&
    objectOf(message["origin"])["kind"] === "user"
  );
};

const textIn = (content: unknown): string =>
  typeof content === "string"
    ? content
    : objectsOf(content)
        .map((part) => textOf(part["text"]))
        .join(" ");

/** Reads events in order. Parts and calls of one step become one message. */
class EventReader {
  readonly #builder: ConversationBuilder;
  #model = "";
  #parts: NewPart[] = [];

  constructor(builder: ConversationBuilder) {
    this.#builder = builder;
  }

  read(record: ForeignRecord): void {
    const builder = this.#builder;
    const type = textOf(record["type"]);
    switch (type) {
      case "context.append_message":
        return this.#readMessage(objectOf(record["message"]));
      case "context.append_loop_event":
        return this.#readEvent(objectOf(record["event"]));
      case "context.apply_compaction":
        this.flush();
        return builder.compaction(wordOf(record["summary"]) ?? textIn(objectOf(record["message"])["content"]));
      case "profile.bind":
        this.#model = wordOf(record["model"]) ?? wordOf(record["modelAlias"]) ?? this.#model;
        return builder.omit("system prompts");
      default:
        // An unknown change of the context would be guessed at; it is reported by its name.
        return builder.omit(
          type.startsWith("context.")
            ? `changes of the context of the unknown kind ${JSON.stringify(type)}`
            : "lines of bookkeeping",
        );
    }
  }

  flush(): void {
    if (this.#parts.length > 0) this.#builder.model(originFromModel(this.#model), this.#parts);
    this.#parts = [];
  }

  #readMessage(message: ForeignRecord): void {
    const builder = this.#builder;
    if (objectOf(message["origin"])["kind"] === "injection") return builder.omit("texts the program added");
    switch (message["role"]) {
      case "user":
        this.flush();
        return builder.user(readContent(builder, message["content"]));
      case "system":
        return builder.omit("system prompts");
      default:
        return builder.omit(`messages of the unknown role ${JSON.stringify(message["role"] ?? null)}`);
    }
  }

  #readEvent(event: ForeignRecord): void {
    const builder = this.#builder;
    switch (event["type"]) {
      case "content.part":
        this.#parts.push(...readPart(builder, objectOf(event["part"])));
        return;
      case "tool.call":
        this.#parts.push({
          type: "call",
          tool: textOf(event["name"]),
          input: typeof event["args"] === "string" ? { text: event["args"] } : { value: event["args"] ?? {} },
          seal: { id: textOf(event["toolCallId"]) },
        });
        return;
      case "tool.result": {
        this.flush();
        return builder.result(textOf(event["toolCallId"]), readOutcome(builder, objectOf(event["result"])));
      }
      case "step.begin":
        this.#model = wordOf(event["model"]) ?? this.#model;
        return this.flush();
      case "step.end":
        return;
      default:
        return builder.omit(`events of the unknown kind ${JSON.stringify(event["type"] ?? null)}`);
    }
  }
}

const readPart = (builder: ConversationBuilder, part: ForeignRecord): readonly NewPart[] => {
  switch (part["type"]) {
    case "text":
      return [{ type: "text", text: textOf(part["text"]) }];
    case "think":
    case "thinking": {
      const encrypted = wordOf(part["encrypted"]);
      const thinking = { type: "thinking", text: wordOf(part["think"]) ?? textOf(part["text"]) } as const;
      return [encrypted === undefined ? thinking : { ...thinking, seal: { signature: encrypted } }];
    }
    default:
      return readContent(builder, [part]);
  }
};

const readContent = (builder: ConversationBuilder, content: unknown): readonly UserPart[] => {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return listOf(content).flatMap((value): readonly UserPart[] => {
    const part = objectOf(value);
    switch (part["type"]) {
      case "text":
        return [{ type: "text", text: textOf(part["text"]) }];
      case "image_url":
      case "video_url":
      case "audio_url": {
        const media = part["imageUrl"] ?? part[textOf(part["type"])] ?? part["videoUrl"] ?? part["audioUrl"];
        return builder.mediaFromUrl(typeof media === "string" ? media : objectOf(media)["url"]);
      }
      default:
        builder.omit(`parts of the unknown kind ${JSON.stringify(part["type"] ?? null)}`);
        return [];
    }
  });
};

const readOutcome = (builder: ConversationBuilder, result: ForeignRecord): Outcome => {
  const { output } = result;
  const content: readonly Content[] =
    typeof output === "string"
      ? textContent(output)
      : readContent(builder, output).filter((part) => part.type !== "text" || part.text !== "");
  return { status: result["isError"] === true ? "error" : "complete", content };
};
