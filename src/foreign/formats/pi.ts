import type { NewPart } from "../../conversation/ledger.ts";
import type { Content, Outcome, Seal, UserPart } from "../../conversation/parts.ts";
import { otherBranches, textOutcome, type ConversationBuilder } from "../builder.ts";
import type { FileFormat } from "../format.ts";
import { listOf, objectOf, objectsOf, parseObject, textOf, timeOf, wordOf, type ForeignRecord } from "../json.ts";
import { originFromProvider } from "../origin.ts";
import { findActivePath, listOtherLeaves, type TreeNode } from "../tree.ts";

const format: Omit<FileFormat, "bases"> = {
  files: [["sessions", "*", "*.jsonl"]],
  idOf: (path) => idOfFile(path.at(-1) ?? ""),
  describe: ({ head, tail }) => {
    const header = head.find((record) => record["type"] === "session");
    if (header === undefined) return undefined;
    const prompt = head.find((record) => objectOf(record["message"])["role"] === "user");
    const origin = wordOf(header["parentSession"]);
    return {
      folder: wordOf(header["cwd"]),
      created: timeOf(header["timestamp"]),
      title: findTitle([...head, ...tail]) ?? textIn(objectOf(prompt?.["message"])["content"]),
      parent: origin === undefined ? undefined : { id: idOfFile(origin), kind: "branch" },
    };
  },
  leaves: (records) => {
    const entries = listEntries(records);
    const nodes = listNodes(entries);
    const messages = entries.filter((entry) => entry["type"] === "message").map((entry) => textOf(entry["id"]));
    const active = findActivePath(nodes, lastLeaf(records)).ids;
    return listOtherLeaves(messages, active, (leaf) => findActivePath(nodes, leaf).ids).map((id) => ({
      id,
      kind: "branch",
    }));
  },
  read: (records, builder, _, leaf) => {
    builder.title = findTitle(records);
    builder.folder = wordOf(records.find((record) => record["type"] === "session")?.["cwd"]);
    const entries = listEntries(records);
    const { ids, brokenLinks } = findActivePath(listNodes(entries), leaf ?? lastLeaf(records));
    builder.omit("links to an entry that is not in the file", brokenLinks);
    const positions = new Map<string, number>();
    for (const entry of entries) {
      const id = textOf(entry["id"]);
      if (!ids.has(id) && entry["type"] === "message") builder.omit(otherBranches);
      if (!ids.has(id) || positions.has(id)) continue;
      positions.set(id, builder.position);
      emitEntry(builder, entry, positions);
    }
  },
};

/** The id in the name of a session file, which may have its folders before it. */
const idOfFile = (file: string): string => file.replace(/^.*[_/]/, "").replace(/\.jsonl$/, "");

const listEntries = (records: readonly ForeignRecord[]): readonly ForeignRecord[] =>
  records.filter((record) => wordOf(record["id"]) !== undefined && record["type"] !== "session");

const listNodes = (entries: readonly ForeignRecord[]): readonly TreeNode[] =>
  entries.map((entry) => ({ id: textOf(entry["id"]), parent: wordOf(entry["parentId"]) }));

/** Sessions of pi: a tree of entries by `parentId`. */
export const pi: FileFormat = {
  ...format,
  bases: [{ variable: "PI_CODING_AGENT_DIR" }, { home: ".pi/agent" }],
};

/** Sessions of omp, which writes pi's format. */
export const omp: FileFormat = {
  ...format,
  bases: [{ variable: "OMP_CODING_AGENT_DIR" }, { home: ".omp/agent" }],
  subagents: ([sessions = "", project = "", file = ""]) => [sessions, project, file.replace(/\.jsonl$/, "")],
};

const findTitle = (records: readonly ForeignRecord[]): string | undefined => {
  const named = records.findLast((record) => record["type"] === "session_info" || record["type"] === "title");
  return wordOf(named?.["name"]) ?? wordOf(named?.["title"]);
};

/** Returns the leaf a person went back to, if the last entry says so. */
const lastLeaf = (records: readonly ForeignRecord[]): string | undefined => {
  const last = records.findLast((record) => record["type"] === "leaf" || wordOf(record["id"]) !== undefined);
  return last?.["type"] === "leaf"
    ? (wordOf(last["leafId"]) ?? wordOf(last["targetId"]) ?? wordOf(last["entryId"]))
    : undefined;
};

const textIn = (content: unknown): string =>
  typeof content === "string"
    ? content
    : objectsOf(content)
        .map((part) => textOf(part["text"]))
        .join(" ");

const emitEntry = (
  builder: ConversationBuilder,
  entry: ForeignRecord,
  positions: ReadonlyMap<string, number>,
): void => {
  switch (entry["type"]) {
    case "message":
      return emitMessage(builder, objectOf(entry["message"]));
    case "custom_message":
      return builder.notice(textIn(entry["content"]));
    case "branch_summary":
      return builder.notice(textOf(entry["summary"]));
    case "compaction":
      return builder.compaction(textOf(entry["summary"]), positions.get(textOf(entry["firstKeptEntryId"])));
    case "model_change":
    case "thinking_level_change":
    case "custom":
    case "label":
    case "leaf":
    case "session_info":
      return builder.omit("lines of bookkeeping");
    default:
      return builder.omit(`lines of the unknown kind ${JSON.stringify(entry["type"] ?? null)}`);
  }
};

const emitMessage = (builder: ConversationBuilder, message: ForeignRecord): void => {
  switch (message["role"]) {
    case "user":
      return builder.user(readContent(builder, message["content"]));
    case "assistant": {
      const origin = originFromProvider(textOf(message["provider"]), textOf(message["model"]));
      builder.model(
        origin,
        objectsOf(message["content"]).flatMap((part) => readPart(builder, part)),
      );
      if (wordOf(message["errorMessage"]) !== undefined) builder.omit("error messages of a provider");
      return;
    }
    case "toolResult":
      return builder.result(
        splitId(message["toolCallId"]).id,
        readOutcome(builder, message),
        wordOf(message["toolName"]),
      );
    case "bashExecution":
      return emitShell(builder, message);
    case "custom":
    case "branchSummary":
    case "compactionSummary":
      return builder.notice(textIn(message["content"] ?? message["summary"]));
    case "system":
      return builder.omit("system prompts");
    default:
      return builder.omit(`messages of the unknown role ${JSON.stringify(message["role"] ?? null)}`);
  }
};

/** A command the person ran, with its output, as the model saw it. */
const emitShell = (builder: ConversationBuilder, message: ForeignRecord): void => {
  if (message["excludeFromContext"] === true) return builder.omit("commands the user kept from the model");
  return builder.notice(`The user ran a command: ${textOf(message["command"])}\n\n${textOf(message["output"])}`);
};

const readOutcome = (builder: ConversationBuilder, message: ForeignRecord): Outcome => ({
  status: message["isError"] === true ? "error" : "complete",
  content: readContent(builder, message["content"]).filter(
    (part) => part.type !== "text" || part.text !== "",
  ) as readonly Content[],
});

const readContent = (builder: ConversationBuilder, content: unknown): readonly UserPart[] => {
  if (typeof content === "string") return textOutcome("complete", content).content as readonly UserPart[];
  return listOf(content).flatMap((value): readonly UserPart[] => {
    const part = objectOf(value);
    switch (part["type"]) {
      case "text":
        return [{ type: "text", text: textOf(part["text"]) }];
      case "image":
        return builder.mediaFromBase64(part["data"], part["mimeType"]);
      default:
        builder.omit(`parts of the unknown kind ${JSON.stringify(part["type"] ?? null)}`);
        return [];
    }
  });
};

const readPart = (builder: ConversationBuilder, part: ForeignRecord): readonly NewPart[] => {
  switch (part["type"]) {
    case "text": {
      const seal = messageSeal(part["textSignature"]);
      return [{ type: "text", text: textOf(part["text"]), ...(seal === undefined ? {} : { seal }) }];
    }
    case "thinking": {
      const seal = thinkingSeal(part);
      return [
        {
          type: "thinking",
          text: part["redacted"] === true ? "" : textOf(part["thinking"]),
          ...(seal === undefined ? {} : { seal }),
        },
      ];
    }
    case "toolCall": {
      const signature = wordOf(part["thoughtSignature"]);
      const seal = { ...splitId(part["id"]), ...(signature === undefined ? {} : { signature }) };
      return [{ type: "call", tool: textOf(part["name"]), input: { value: part["arguments"] ?? {} }, seal }];
    }
    case "image":
      return builder.mediaFromBase64(part["data"], part["mimeType"]);
    default:
      builder.omit(`parts of the unknown kind ${JSON.stringify(part["type"] ?? null)}`);
      return [];
  }
};

/** Splits a call id: for OpenAI it is the call's and the item's id, joined by a bar. */
const splitId = (value: unknown): { readonly id: string; readonly item?: string } => {
  const [id = "", item] = textOf(value).split("|", 2);
  return item === undefined || item === "" ? { id } : { id, item };
};

/** A signature is the provider's own text, or for OpenAI the whole reasoning item as JSON. */
const thinkingSeal = (part: ForeignRecord): Seal | undefined => {
  const signature = wordOf(part["thinkingSignature"]);
  if (signature === undefined) return undefined;
  if (part["redacted"] === true) return { encrypted: signature };
  if (!signature.startsWith("{")) return { signature };
  const item = parseObject(signature);
  const encrypted = wordOf(item?.["encrypted_content"]);
  const id = wordOf(item?.["id"]);
  if (encrypted === undefined && id === undefined) return undefined;
  return { ...(id === undefined ? {} : { item: id }), ...(encrypted === undefined ? {} : { encrypted }) };
};

/** The signature of a text: for OpenAI the id of its message, as text or with its phase as JSON; for Gemini a signature. */
const messageSeal = (value: unknown): Seal | undefined => {
  const signature = wordOf(value);
  if (signature === undefined) return undefined;
  if (!/^(?:\{|msg_)/.test(signature)) return { signature };
  const { id, phase } = signature.startsWith("{")
    ? objectOf(parseObject(signature))
    : { id: signature, phase: undefined };
  const item = wordOf(id);
  if (item === undefined) return undefined;
  return typeof phase === "string" ? { item, phase } : { item };
};
