import type { OutcomeStatus } from "../../conversation/parts.ts";
import { otherBranches, type ConversationBuilder } from "../builder.ts";
import type { FileFormat } from "../format.ts";
import { isResult, partsOf, readModelParts, readPartResults, readUserParts } from "../gemini-parts.ts";
import { objectOf, objectsOf, textOf, timeOf, wordOf, type ForeignRecord } from "../json.ts";
import { originFromModel } from "../origin.ts";
import { findActivePath, listOtherLeaves, type TreeNode } from "../tree.ts";

/** Sessions of qwen-code: a chain of lines by `parentUuid`, with messages in Gemini's form. */
export const qwen: FileFormat = {
  bases: [{ home: ".qwen" }],
  files: [["projects", "*", "chats", "*.jsonl"]],
  projectNames: (folder) => [folder.replaceAll(/[^a-zA-Z0-9]/g, "-")],
  subagents: ([projects = "", project = "", , file = ""]) => [
    projects,
    project,
    "subagents",
    file.replace(/\.jsonl$/, ""),
  ],
  describe: ({ head, tail }) => {
    const first = head.find((record) => record["cwd"] !== undefined);
    if (first === undefined) return undefined;
    const prompt = head.find((record) => record["type"] === "user" && promptOf(record) !== "");
    return {
      folder: wordOf(first["cwd"]),
      created: timeOf(first["timestamp"]),
      title: findTitle([...head, ...tail]) ?? (prompt === undefined ? undefined : promptOf(prompt)),
    };
  },
  leaves: (records) => {
    const lines = records.filter((record) => wordOf(record["uuid"]) !== undefined);
    const nodes = listNodes(lines);
    const messages = lines.filter((line) => line["type"] !== "system").map((line) => textOf(line["uuid"]));
    const active = findActivePath(nodes).ids;
    return listOtherLeaves(messages, active, (leaf) => findActivePath(nodes, leaf).ids).map((id) => ({
      id,
      kind: "branch",
    }));
  },
  read: (records, builder, _, leaf) => {
    builder.title = findTitle(records);
    builder.folder = wordOf(records.find((record) => record["cwd"] !== undefined)?.["cwd"]);
    const lines = records.filter((record) => wordOf(record["uuid"]) !== undefined);
    builder.omit("lines of unknown kinds", records.length - lines.length);
    const { ids, brokenLinks } = findActivePath(listNodes(lines), leaf);
    builder.omit("links to a line that is not in the file", brokenLinks);
    const seen = new Set<string>();
    for (const line of lines) {
      const id = textOf(line["uuid"]);
      if (!ids.has(id) && line["type"] !== "system") builder.omit(otherBranches);
      if (!ids.has(id) || seen.has(id)) continue;
      seen.add(id);
      emitLine(builder, line);
    }
  },
};

const listNodes = (lines: readonly ForeignRecord[]): readonly TreeNode[] =>
  lines.map((line) => ({ id: textOf(line["uuid"]), parent: wordOf(line["parentUuid"]) }));

const findTitle = (records: readonly ForeignRecord[]): string | undefined => {
  const last = records.findLast((record) => record["subtype"] === "custom_title");
  const payload = objectOf(last?.["systemPayload"]);
  return wordOf(payload["customTitle"]) ?? wordOf(payload["title"]);
};

const promptOf = (record: ForeignRecord): string =>
  partsOf(objectOf(record["message"])["parts"])
    .filter((part) => !isReminder(part))
    .map((part) => textOf(part["text"]))
    .join(" ")
    .trim();

/** Text qwen-code adds to a prompt, as a part of its own. */
const isReminder = (part: ForeignRecord): boolean => textOf(part["text"]).startsWith("<system-reminder>");

const statuses: Readonly<Record<string, OutcomeStatus>> = {
  success: "complete",
  error: "error",
  cancelled: "cancelled",
};

const emitLine = (builder: ConversationBuilder, line: ForeignRecord): void => {
  const parts = partsOf(objectOf(line["message"])["parts"]);
  switch (line["type"]) {
    case "user": {
      // The end of a subagent in the background, which the model answers.
      if (line["subtype"] === "notification") return builder.notice(promptOf(line));
      builder.omit("texts the program added", parts.filter(isReminder).length);
      return builder.user(
        readUserParts(
          builder,
          parts.filter((part) => !isReminder(part)),
        ),
      );
    }
    case "assistant":
      return builder.model(originFromModel(textOf(line["model"])), readModelParts(builder, parts));
    case "tool_result": {
      const recorded = objectOf(line["toolCallResult"]);
      for (const { id, tool, outcome } of readPartResults(builder, parts, statuses[textOf(recorded["status"])]))
        builder.result(id === "" ? textOf(recorded["callId"]) : id, outcome, tool);
      return builder.user(
        readUserParts(
          builder,
          parts.filter((part) => typeof part["text"] === "string"),
        ),
      );
    }
    case "system":
      return emitSystemLine(builder, line);
    default:
      return builder.omit(`lines of the unknown kind ${JSON.stringify(line["type"] ?? null)}`);
  }
};

const emitSystemLine = (builder: ConversationBuilder, line: ForeignRecord): void => {
  const payload = objectOf(line["systemPayload"]);
  switch (line["subtype"]) {
    case "chat_compression":
      return builder.compaction(summaryOf(objectsOf(payload["compressedHistory"])));
    case "mid_turn_user_message":
      return builder.user(readUserParts(builder, partsOf(payload["parts"] ?? payload["message"] ?? payload["text"])));
    default:
      return builder.omit("lines of bookkeeping");
  }
};

/** The compressed history begins with the summary as a user message; what follows was kept and is in the file before it. */
const summaryOf = (history: readonly ForeignRecord[]): string =>
  history
    .flatMap((content) => partsOf(content["parts"]))
    .filter((part) => !isResult(part))
    .map((part) => textOf(part["text"]))
    .filter((text) => text !== "")
    .join("\n\n");
