import type { NewPart } from "../../conversation/ledger.ts";
import type { Content, Outcome, UserPart } from "../../conversation/parts.ts";
import { otherBranches, textContent, type ConversationBuilder } from "../builder.ts";
import type { BranchLeaf, FileFormat } from "../format.ts";
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
  subagents: ([sessions = "", project = "", session = ""]) => [sessions, project, session, "agents"],
  isMainFile: (path) => path.at(-2) === "main",
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
  leaves: (records) => {
    const leaves: BranchLeaf[] = [];
    dropUndone(records, (id) => void leaves.push({ id, kind: "branch" }));
    return leaves;
  },
  read: (all, builder, [, state = ""], leaf) => {
    const facts = parseObject(state) ?? {};
    builder.title = wordOf(facts["title"]);
    builder.folder = wordOf(facts["workDir"]);
    const { records, dropped } = dropUndone(leaf === undefined ? all : cutAtUndo(all, leaf));
    builder.omit(otherBranches, dropped);
    const reader = new EventReader(builder);
    for (const record of records) reader.read(record);
    reader.flush();
  },
};

const isUndo = ({ type }: ForeignRecord): boolean => type === "context.undo" || type === "context.clear";

/** Drops the turns that were taken back, or all of them, and reports each branch that ends there. */
const dropUndone = (
  records: readonly ForeignRecord[],
  onBranch?: (id: string) => void,
): { readonly records: readonly ForeignRecord[]; readonly dropped: number } => {
  let kept: ForeignRecord[] = [];
  let [undos, dropped, isNew] = [0, 0, false];
  for (const record of records) {
    if (!isUndo(record)) {
      kept.push(record);
      isNew ||= isMessage(record);
      continue;
    }
    undos += 1;
    const prompts = kept.flatMap((each, at) => (isPrompt(each) ? [at] : []));
    const count = record["type"] === "context.clear" ? prompts.length : Number(record["count"]);
    const start = count > 0 ? prompts[Math.max(0, prompts.length - count)] : undefined;
    if (start === undefined) continue;
    // Without a new turn in between, it only cuts a branch that is known.
    if (isNew) onBranch?.(`undo-${undos}`);
    isNew = false;
    const rest = kept.slice(start);
    dropped += rest.filter(isMessage).length;
    // Bookkeeping such as the model stays.
    kept = [...kept.slice(0, start), ...rest.filter((each) => !textOf(each["type"]).startsWith("context."))];
  }
  return { records: kept, dropped };
};

/** Returns the records before an undo, which end with the turns it dropped. */
const cutAtUndo = (records: readonly ForeignRecord[], leaf: string): readonly ForeignRecord[] => {
  const undos = records.flatMap((record, at) => (isUndo(record) ? [at] : []));
  return records.slice(0, undos[Number(leaf.replace("undo-", "")) - 1]);
};

const isMessage = ({ type }: ForeignRecord): boolean =>
  type === "context.append_message" || type === "context.append_loop_event";

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
        return builder.compaction(
          wordOf(record["summary"]) ??
            wordOf(record["contextSummary"]) ??
            textIn(objectOf(record["summary"])["content"]),
        );
      case "context.undone":
        return builder.omit("lines of bookkeeping");
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
