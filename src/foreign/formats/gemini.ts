import type { NewPart } from "../../conversation/ledger.ts";
import type { OutcomeStatus } from "../../conversation/parts.ts";
import type { ConversationBuilder } from "../builder.ts";
import type { FileFormat } from "../format.ts";
import { isResult, partsOf, readModelParts, readPartResults, readUserParts } from "../gemini-parts.ts";
import { objectsOf, textOf, timeOf, wordOf, type ForeignRecord } from "../json.ts";

/** Sessions of Gemini CLI: lines that add, replace and drop messages by id; before version 0.40, one JSON document. */
export const gemini: FileFormat = {
  bases: [{ variable: "GEMINI_CLI_HOME", below: ".gemini" }, { home: ".gemini" }],
  files: [
    ["tmp", "*", "chats", "session-*.jsonl"],
    ["tmp", "*", "chats", "session-*.json"],
  ],
  idOf: (path) => shortId(path.at(-1) ?? ""),
  beside: ([tmp = "", project = ""]) => [[tmp, project, ".project_root"]],
  // The folder has the session's whole id, the file its first eight digits.
  subagents: ([tmp = "", project = "", chats = "", file = ""]) => [tmp, project, chats, `${shortId(file)}*`],
  describe: ({ head, tail, beside: [root = ""] }) => {
    const [header] = head;
    if (header === undefined || wordOf(header["sessionId"]) === undefined) return undefined;
    const { messages, facts } = foldRecords([...head, ...tail]);
    const prompt = messages.find((message) => message["type"] === "user" && promptOf(message) !== "");
    return {
      folder: wordOf(root.trim()),
      created: timeOf(header["startTime"]),
      title: wordOf(facts["summary"]) ?? (prompt === undefined ? undefined : promptOf(prompt)),
    };
  },
  read: (records, builder, [root = ""]) => {
    const { messages, facts, rewound } = foldRecords(records);
    builder.folder = wordOf(root.trim());
    builder.title = wordOf(facts["summary"]);
    builder.omit("messages taken back", rewound);
    messages.forEach((message, index) => emitMessage(builder, message, messages[index + 1]));
  },
};

const shortId = (file: string): string => /([0-9a-f]{8})\.jsonl?$/.exec(file)?.[1] ?? file;

type FoldedRecords = {
  readonly messages: readonly ForeignRecord[];
  readonly facts: ForeignRecord;
  readonly rewound: number;
};

/** Applies the lines in order: a message with a known id replaces it in its place, the last one wins. */
const foldRecords = (records: readonly ForeignRecord[]): FoldedRecords => {
  let messages = new Map<string, ForeignRecord>();
  let facts: ForeignRecord = {};
  let rewound = 0;
  const put = (message: ForeignRecord): void =>
    void messages.set(wordOf(message["id"]) ?? `#${messages.size}`, message);
  for (const record of records) {
    const { $set: change, $rewindTo: target, messages: list, ...own } = record;
    if (typeof target === "string") {
      const ids = [...messages.keys()];
      const at = ids.indexOf(target);
      for (const id of at === -1 ? [] : ids.slice(at)) {
        messages.delete(id);
        rewound += 1;
      }
    } else if (change !== undefined || list !== undefined || record["sessionId"] !== undefined) {
      const { messages: replaced, ...set } = { ...own, messages: list, ...(change as ForeignRecord | undefined) };
      facts = { ...facts, ...set };
      if (Array.isArray(replaced)) {
        // A resumed session begins with the messages it had; what it does not repeat is kept.
        const before = messages;
        messages = new Map();
        objectsOf(replaced).forEach(put);
        if (isOnlyContext([...messages.values()])) messages = new Map([...before, ...messages]);
        else rewound += countMissing(before, messages);
      }
    } else put(record);
  }
  return { messages: [...messages.values()], facts, rewound };
};

const isOnlyContext = (messages: readonly ForeignRecord[]): boolean => messages.every(isContext);

/** Counts the messages a new list lacks, by id, time or text: a resumed session gives its messages new ids. */
const countMissing = (
  before: ReadonlyMap<string, ForeignRecord>,
  after: ReadonlyMap<string, ForeignRecord>,
): number => {
  const times = new Set([...after.values()].map((message) => message["timestamp"]));
  const texts = new Set([...after.values()].map(wordsOf));
  return [...before].filter(
    ([id, message]) =>
      !after.has(id) && !isContext(message) && !times.has(message["timestamp"]) && !texts.has(wordsOf(message)),
  ).length;
};

const wordsOf = (message: ForeignRecord): string =>
  partsOf(message["content"])
    .map((part) => textOf(part["text"]))
    .join(" ");

/** Whether a message is the environment that opens a session. */
const isContext = (message: ForeignRecord): boolean => wordsOf(message).trimStart().startsWith("<session_context>");

const promptOf = (message: ForeignRecord): string => (isContext(message) ? "" : wordsOf(message).trim());

const statuses: Readonly<Record<string, OutcomeStatus>> = {
  success: "complete",
  error: "error",
  cancelled: "cancelled",
};

const emitMessage = (builder: ConversationBuilder, message: ForeignRecord, next: ForeignRecord | undefined): void => {
  const parts = partsOf(message["content"]);
  switch (message["type"]) {
    case "user":
      if (isContext(message)) builder.omit("texts the program added");
      // Results are read with their calls.
      else if (!parts.some(isResult)) builder.user(readUserParts(builder, parts));
      else
        builder.user(
          readUserParts(
            builder,
            parts.filter((part) => typeof part["text"] === "string"),
          ),
        );
      return;
    case "gemini":
      return emitModelMessage(builder, message, next);
    case "info":
    case "warning":
    case "error":
      return builder.omit("messages of the program to the user");
    default:
      return builder.omit(`messages of the unknown kind ${JSON.stringify(message["type"] ?? null)}`);
  }
};

const emitModelMessage = (
  builder: ConversationBuilder,
  message: ForeignRecord,
  next: ForeignRecord | undefined,
): void => {
  const recorded = objectsOf(message["toolCalls"]);
  const parts = partsOf(message["content"]);
  const thoughts: readonly NewPart[] = objectsOf(message["thoughts"]).map((thought) => ({
    type: "thinking",
    text: [textOf(thought["subject"]), textOf(thought["description"])].filter((text) => text !== "").join("\n"),
  }));
  const calls: readonly NewPart[] = recorded.map((call) => ({
    type: "call",
    tool: textOf(call["name"]),
    input: { value: call["args"] ?? {} },
    seal: { id: textOf(call["id"]) },
  }));
  const words = calls.length === 0 ? parts : parts.filter((part) => part["functionCall"] === undefined);
  const model = textOf(message["model"]);
  builder.model({ provider: "google", model, isCertain: model !== "" }, [
    ...thoughts,
    ...readModelParts(builder, words),
    ...calls,
  ]);
  const following = next?.["type"] === "user" ? readPartResults(builder, partsOf(next["content"])) : [];
  const answered = new Set<string>();
  for (const call of recorded) {
    const status = statuses[textOf(call["status"])];
    const id = textOf(call["id"]);
    const own = readPartResults(builder, partsOf(call["result"]), status);
    // The message that follows has files beside the results, which `result` may lack.
    const [result] = [
      ...following.filter(
        (each) => each.id === id && each.outcome.content.length > (own[0]?.outcome.content.length ?? 0),
      ),
      ...own,
    ];
    if (result === undefined) continue;
    answered.add(id);
    builder.result(id, status === undefined ? result.outcome : { ...result.outcome, status }, result.tool);
  }
  for (const { id, tool, outcome } of following) if (!answered.has(id)) builder.result(id, outcome, tool);
};
