import type { NewPart } from "../../conversation/ledger.ts";
import type { Content, Outcome, UserPart } from "../../conversation/parts.ts";
import { subagentEvents, textContent, textOutcome, type ConversationBuilder } from "../builder.ts";
import type { FileFormat } from "../format.ts";
import { objectOf, objectsOf, textOf, timeOf, wordOf, type ForeignRecord } from "../json.ts";
import { originFromModel } from "../origin.ts";

/** Sessions of Copilot CLI: events in order, with the bytes of files as events of their own. */
export const copilot: FileFormat = {
  bases: [{ variable: "COPILOT_HOME" }, { home: ".copilot" }],
  files: [["session-state", "*", "events.jsonl"]],
  idOf: ([, id = ""]) => id,
  beside: ([state = "", id = ""]) => [[state, id, "workspace.yaml"]],
  describe: ({ head, beside: [workspace = ""] }) => {
    const start = dataOf(head.find((record) => record["type"] === "session.start") ?? {});
    const prompt = head.find((record) => record["type"] === "user.message");
    if (wordOf(start["sessionId"]) === undefined) return undefined;
    return {
      folder: folderOf(start, workspace),
      created: timeOf(start["startTime"]) ?? timeOf(head[0]?.["timestamp"]),
      title: yamlValue(workspace, "name") ?? yamlValue(workspace, "summary") ?? textOf(dataOf(prompt ?? {})["content"]),
    };
  },
  leaves: (records) =>
    [...new Set(records.flatMap((record) => wordOf(record["agentId"]) ?? []))].map((id) => ({ id, kind: "subagent" })),
  read: (records, builder, [workspace = ""], agent) => {
    const start = dataOf(records.find((record) => record["type"] === "session.start") ?? {});
    builder.folder = folderOf(start, workspace);
    builder.title =
      agent === undefined
        ? (yamlValue(workspace, "name") ?? yamlValue(workspace, "summary"))
        : wordOf(dataOf(records.find((record) => record["agentId"] === agent) ?? {})["agentDisplayName"]);
    const assets = new Map(
      records.flatMap((record) =>
        record["type"] === "session.binary_asset" ? [[dataOf(record)["assetId"], dataOf(record)] as const] : [],
      ),
    );
    const answered = new Set(
      records.flatMap((record) => (record["type"] === "tool.execution_complete" ? [dataOf(record)["toolCallId"]] : [])),
    );
    const open = new Set<string>();
    let model = textOf(start["selectedModel"]);
    for (const record of records) {
      const data = dataOf(record);
      if (wordOf(record["agentId"]) !== agent) {
        if (agent === undefined) builder.omit(subagentEvents);
        continue;
      }
      switch (record["type"]) {
        case "session.model_change":
          model = wordOf(data["newModel"]) ?? wordOf(data["model"]) ?? model;
          break;
        case "user.message":
          builder.user(readPrompt(builder, data, assets));
          break;
        case "assistant.message":
          builder.model(originFromModel(wordOf(data["model"]) ?? model), readAnswer(data));
          for (const { toolCallId } of objectsOf(data["toolRequests"])) open.add(textOf(toolCallId));
          break;
        case "tool.execution_complete":
          open.delete(textOf(data["toolCallId"]));
          builder.result(textOf(data["toolCallId"]), readOutcome(builder, data, assets));
          break;
        case "abort":
          for (const id of open)
            if (!answered.has(id)) builder.result(id, textOutcome("cancelled", "The user interrupted the turn."));
          open.clear();
          break;
        case "session.compaction_complete":
          builder.compaction(textOf(data["summaryContent"]));
          break;
        case "session.truncation":
          builder.omit("truncations of the context (the messages are kept)");
          break;
        case "assistant.reasoning":
        case "session.binary_asset":
          // Read with the message they belong to.
          break;
        default:
          builder.omit(
            isBookkeeping(textOf(record["type"]))
              ? "lines of bookkeeping"
              : `events of the unknown kind ${JSON.stringify(record["type"] ?? null)}`,
          );
      }
    }
  },
};

const dataOf = (record: ForeignRecord): ForeignRecord => objectOf(record["data"]);

const folderOf = (start: ForeignRecord, workspace: string): string | undefined =>
  wordOf(objectOf(start["context"])["cwd"]) ?? yamlValue(workspace, "cwd");

/** Returns the value of a key at the top of a YAML file, if it is one line of text. */
const yamlValue = (text: string, key: string): string | undefined =>
  new RegExp(`^${key}: *(?:"([^"\\n]*)"|'([^'\\n]*)'|([^\\n|>].*?))\\s*$`, "m")
    .exec(text)
    ?.slice(1)
    .find((value) => value !== undefined && value !== "");

const isBookkeeping = (type: string): boolean =>
  /^(?:session|assistant|tool|user|system|hook|permission|skill|subagent|elicitation)\./.test(type);

type Assets = ReadonlyMap<unknown, ForeignRecord>;

const readPrompt = (builder: ConversationBuilder, data: ForeignRecord, assets: Assets): readonly UserPart[] => [
  { type: "text", text: textOf(data["content"]) },
  ...objectsOf(data["attachments"]).flatMap((attachment) => {
    if (attachment["assetId"] !== undefined) return readAsset(builder, attachment, assets);
    if (attachment["data"] !== undefined) return builder.mediaFromBase64(attachment["data"], attachment["mimeType"]);
    builder.omit("attachments without content");
    return [];
  }),
];

const readAsset = (builder: ConversationBuilder, reference: ForeignRecord, assets: Assets): readonly UserPart[] => {
  const asset = assets.get(reference["assetId"]);
  return builder.mediaFromBase64(asset?.["data"], reference["mimeType"] ?? asset?.["mimeType"]);
};

/** Who served the model is not recorded, so its opaque reasoning is not kept. */
const readAnswer = (data: ForeignRecord): readonly NewPart[] => {
  const opaque = wordOf(data["reasoningOpaque"]) ?? wordOf(data["encryptedContent"]);
  const thinking = { type: "thinking", text: textOf(data["reasoningText"]) } as const;
  return [
    opaque === undefined ? thinking : { ...thinking, seal: { encrypted: opaque } },
    { type: "text", text: textOf(data["content"]) },
    ...objectsOf(data["toolRequests"]).map(({ toolCallId, name, arguments: input }): NewPart => ({
      type: "call",
      tool: textOf(name),
      input: typeof input === "string" ? { text: input } : { value: input ?? {} },
      seal: { id: textOf(toolCallId) },
    })),
  ];
};

const readOutcome = (builder: ConversationBuilder, data: ForeignRecord, assets: Assets): Outcome => {
  const result = objectOf(data["result"]);
  const error = objectOf(data["error"]);
  const files = objectsOf(result["binaryResultsForLlm"]).flatMap((file): readonly Content[] =>
    file["assetId"] === undefined
      ? builder.mediaFromBase64(file["data"], file["mimeType"])
      : readAsset(builder, file, assets),
  );
  const text = wordOf(result["content"]) ?? wordOf(error["message"]) ?? textOf(data["error"]);
  const failure = error["code"] === "interrupted" ? "interrupted" : "error";
  return { status: data["success"] === false ? failure : "complete", content: [...textContent(text), ...files] };
};
