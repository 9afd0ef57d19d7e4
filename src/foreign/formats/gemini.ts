import type { NewPart } from "../../conversation/ledger.ts";
import type { OutcomeStatus } from "../../conversation/parts.ts";
import { otherBranches, type ConversationBuilder } from "../builder.ts";
import type { BranchLeaf, FileFormat } from "../format.ts";
import { isResult, partsOf, readModelParts, readPartResults, readUserParts } from "../gemini-parts.ts";
import { foldRecords, isContext, promptOf, summaryType } from "../gemini-records.ts";
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
    // A session that was resumed has a further file with nothing of the conversation in it.
    if (messages.length > 0 && messages.every((message) => isContext(message) || isNotice(message))) return undefined;
    const prompt = messages.find((message) => message["type"] === "user" && promptOf(message) !== "");
    return {
      folder: wordOf(root.trim()),
      created: timeOf(header["startTime"]),
      title: wordOf(facts["summary"]) ?? (prompt === undefined ? undefined : promptOf(prompt)),
    };
  },
  leaves: (records) => {
    const leaves: BranchLeaf[] = [];
    foldRecords(records, () => void leaves.push({ id: `rewind-${leaves.length + 1}`, kind: "branch" }));
    return leaves;
  },
  read: (records, builder, [root = ""], leaf) => {
    const branches: (readonly ForeignRecord[])[] = [];
    const { messages: active, facts, rewound } = foldRecords(records, (messages) => void branches.push(messages));
    const messages = leaf === undefined ? active : (branches[Number(leaf.replace("rewind-", "")) - 1] ?? []);
    builder.folder = wordOf(root.trim());
    builder.title = wordOf(facts["summary"]);
    if (leaf === undefined) builder.omit(otherBranches, rewound);
    const positions = new Map<unknown, number>();
    messages.forEach((message, index) => {
      positions.set(message["id"], builder.position);
      if (message["type"] === summaryType) builder.compaction(textOf(message["text"]), positions.get(message["from"]));
      else emitMessage(builder, message, messages[index + 1]);
    });
  },
};

/** Whether a message is from the program to the person. */
const isNotice = ({ type }: ForeignRecord): boolean => type === "info" || type === "warning" || type === "error";

const shortId = (file: string): string => /([0-9a-f]{8})\.jsonl?$/.exec(file)?.[1] ?? file;

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
  // A resumed session has the calls and the thoughts among the parts, too.
  const words = parts.filter(
    (part) =>
      (calls.length === 0 || part["functionCall"] === undefined) && (thoughts.length === 0 || part["thought"] !== true),
  );
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
