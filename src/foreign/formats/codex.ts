import type { NewPart } from "../../conversation/ledger.ts";
import type { Content, Outcome, Seal, Text, Thinking, UserPart } from "../../conversation/parts.ts";
import { ConversationBuilder, otherBranches, textContent, textOutcome } from "../builder.ts";
import type { BranchLeaf, FileFormat, SessionParent } from "../format.ts";
import { listOf, objectOf, objectsOf, textOf, timeOf, wordOf, type ForeignRecord } from "../json.ts";
import { originFromProvider, type ClaimedOrigin } from "../origin.ts";

/** Sessions of Codex: one line per item of the Responses API, in order. */
export const codex: FileFormat = {
  bases: [{ variable: "CODEX_HOME" }, { home: ".codex" }],
  files: [
    ["sessions", "*", "*", "*", "rollout-*.jsonl"],
    ["archived_sessions", "rollout-*.jsonl"],
  ],
  idOf: (path) =>
    /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/.exec(path.at(-1) ?? "")?.[0] ?? path.at(-1) ?? "",
  describe: ({ head, tail }) => {
    const meta = metaOf(head);
    const context = objectOf(head.find((record) => record["type"] === "turn_context")?.["payload"]);
    if (wordOf(meta["id"]) === undefined && wordOf(context["cwd"]) === undefined) return undefined;
    return {
      folder: wordOf(meta["cwd"]) ?? wordOf(context["cwd"]),
      created: timeOf(meta["timestamp"]),
      title: findName([...head, ...tail]) ?? firstPrompt(head),
      parent: parentOf(meta),
    };
  },
  hasSubagentSessions: true,
  earlierPart: (records) => {
    const { thread_id: id, end_ordinal_exclusive: end } = objectOf(metaOf(records)["history_base"]);
    if (typeof id !== "string" || typeof end !== "number") return undefined;
    const isPart = ({ type, ordinal }: ForeignRecord, index: number): boolean =>
      type !== "session_meta" && (typeof ordinal === "number" ? ordinal : index) < end;
    return { id, isPart };
  },
  leaves: (records) => {
    const leaves: BranchLeaf[] = [];
    selectItems(records, new ConversationBuilder(), (id) => void leaves.push({ id, kind: "branch" }));
    return leaves;
  },
  read: (all, builder, _, leaf) => {
    const records = leaf === undefined ? all : cutAtRollback(all, leaf);
    const meta = metaOf(records);
    builder.folder = wordOf(meta["cwd"]);
    builder.title = findName(records);
    const reader = new ItemReader(builder, answeredCalls(records));
    for (const { item, model } of selectItems(records, builder))
      reader.read(item, originFromProvider(textOf(meta["model_provider"]), model));
    reader.flush();
  },
};

const metaOf = (records: readonly ForeignRecord[]): ForeignRecord =>
  objectOf(records.find((record) => record["type"] === "session_meta")?.["payload"]);

/** A subagent's session names the session of the agent that spawned it; a fork, the one it was made from. */
const parentOf = (meta: ForeignRecord): SessionParent | undefined => {
  const { subagent } = objectOf(meta["source"]);
  const { parent_thread_id: spawner } = objectOf(objectOf(subagent)["thread_spawn"]);
  const parent = wordOf(meta["parent_thread_id"]) ?? wordOf(spawner);
  if (subagent !== undefined && parent !== undefined) return { id: parent, kind: "subagent" };
  const origin = wordOf(meta["forked_from_id"]);
  return origin === undefined ? undefined : { id: origin, kind: "branch" };
};

const findName = (records: readonly ForeignRecord[]): string | undefined =>
  wordOf(
    objectOf(records.findLast((record) => objectOf(record["payload"])["type"] === "thread_name_updated")?.["payload"])[
      "thread_name"
    ],
  );

const firstPrompt = (records: readonly ForeignRecord[]): string | undefined => {
  for (const { type, payload } of records) {
    const item = objectOf(payload);
    if (type !== "response_item" || item["type"] !== "message" || item["role"] !== "user") continue;
    const words = objectsOf(item["content"])
      .map((part) => textOf(part["text"]))
      .filter((text) => !isAdded(text));
    if (words.length > 0) return words.join(" ");
  }
  return undefined;
};

/** Texts Codex adds as messages of the user. */
const isAdded = (text: string): boolean =>
  /^\s*(?:<(?:environment_context|user_instructions|permissions instructions|skills_instructions|turn_aborted|subagent_notification|collaboration_mode|personality_spec)\b|# AGENTS\.md instructions)/.test(
    text,
  );

/** An item of the conversation, or an event that changes it, with the model of its turn. */
type ModelItem = { readonly item: ForeignRecord; readonly model: string };

/** Selects the items in order. Turns that were rolled back are dropped and counted, and the branch they ended is reported. */
const selectItems = (
  records: readonly ForeignRecord[],
  builder: ConversationBuilder,
  onBranch?: (id: string) => void,
): readonly ModelItem[] => {
  const items: ModelItem[] = [];
  let model = "";
  let rollbacks = 0;
  let isNew = false;
  for (const record of records) {
    const payload = objectOf(record["payload"]);
    switch (record["type"]) {
      case "turn_context":
        model = wordOf(payload["model"]) ?? model;
        break;
      case "response_item":
        items.push({ item: payload, model });
        isNew = true;
        break;
      case "compacted":
        dropSummary(items, textOf(payload["message"]));
        items.push({ item: { ...payload, type: "compacted" }, model });
        break;
      case "event_msg":
        if (payload["type"] === "turn_aborted") items.push({ item: payload, model });
        else if (payload["type"] === "thread_rolled_back") {
          rollbacks += 1;
          const dropped = rollBack(items, payload["num_turns"]);
          builder.omit(otherBranches, dropped);
          // Without new turns in between, a further rollback only cuts a branch that is known.
          if (dropped > 0 && isNew) onBranch?.(`rollback-${rollbacks}`);
          if (dropped > 0) isNew = false;
        }
        break;
      case "session_meta":
      case "world_state":
      case "token_usage_record":
      case "inter_agent_communication":
      case "security_risk_score":
        break;
      default:
        builder.omit(`lines of the unknown kind ${JSON.stringify(record["type"] ?? null)}`);
    }
  }
  return items;
};

/** Returns the records before a rollback, which end with the turns it dropped. */
const cutAtRollback = (records: readonly ForeignRecord[], leaf: string): readonly ForeignRecord[] => {
  const rollbacks = records.flatMap((record, at) =>
    objectOf(record["payload"])["type"] === "thread_rolled_back" && record["type"] === "event_msg" ? [at] : [],
  );
  return records.slice(0, rollbacks[Number(leaf.replace("rollback-", "")) - 1]);
};

/** Removes the summary that the model wrote as a message just before the compaction that contains it. */
const dropSummary = (items: ModelItem[], message: string): void => {
  const item = objectOf(items.at(-1)?.item);
  const text = objectsOf(item["content"])
    .map((part) => textOf(part["text"]))
    .join("");
  if (item["role"] === "assistant" && text !== "" && message.endsWith(text)) items.pop();
};

/** Drops the last turns, and returns how many items they had. */
const rollBack = (items: ModelItem[], turns: unknown): number => {
  const starts = items.flatMap(({ item }, at) => (isPersons(item) ? [at] : []));
  const count = typeof turns === "number" && turns > 0 ? Math.floor(turns) : 0;
  if (count === 0 || starts.length === 0) return 0;
  return items.splice(starts.at(-Math.min(count, starts.length))!).length;
};

const isPersons = (item: ForeignRecord): boolean =>
  item["type"] === "message" &&
  item["role"] === "user" &&
  !objectsOf(item["content"]).every((part) => isAdded(textOf(part["text"])));

const answeredCalls = (records: readonly ForeignRecord[]): ReadonlySet<unknown> =>
  new Set(
    records
      .map(({ payload }) => objectOf(payload))
      .flatMap((item) => (textOf(item["type"]).endsWith("_output") ? [item["call_id"]] : [])),
  );

/** Reads items in order. Consecutive items of the model become one message. */
class ItemReader {
  readonly #builder: ConversationBuilder;
  readonly #answered: ReadonlySet<unknown>;
  #origin: ClaimedOrigin = { provider: "openai", model: "", isCertain: false };
  #parts: NewPart[] = [];
  #finished: string[] = [];

  constructor(builder: ConversationBuilder, answered: ReadonlySet<unknown>) {
    this.#builder = builder;
    this.#answered = answered;
  }

  read(item: ForeignRecord, origin: ClaimedOrigin): void {
    const builder = this.#builder;
    const parts = modelParts(builder, item);
    if (parts !== undefined) {
      if (this.#parts.length > 0 && this.#origin.model !== origin.model) this.flush();
      this.#origin = origin;
      this.#parts.push(...parts);
      // The provider ran it, and its result is part of the answer.
      if (/^(?:web_search|tool_search)_call$/.test(textOf(item["type"]))) this.#finished.push(callIdOf(item));
      return;
    }
    if (item["type"] === "turn_aborted") return this.#cancelOpenCalls();
    this.flush();
    switch (item["type"]) {
      case "message":
        return builder.user(personParts(builder, item));
      case "function_call_output":
      case "custom_tool_call_output":
      case "local_shell_call_output":
      case "tool_search_call_output":
      case "mcp_tool_call_output":
        return builder.result(textOf(item["call_id"]), readOutput(builder, item["output"]));
      case "compacted":
        return emitCompaction(builder, item);
      case "ghost_snapshot":
        return builder.omit("checkpoints");
      case "compaction":
      case "context_compaction":
        return builder.omit("compactions only their provider can read (the messages before them are kept)");
      default:
        return builder.omit(`items of the unknown kind ${JSON.stringify(item["type"] ?? null)}`);
    }
  }

  /** Adds the message collected so far. */
  flush(): void {
    if (this.#parts.length > 0) this.#builder.model(this.#origin, this.#parts);
    for (const id of this.#finished) this.#builder.result(id, { status: "complete", content: [] });
    this.#parts = [];
    this.#finished = [];
  }

  #cancelOpenCalls(): void {
    const open = this.#parts.flatMap((part) => (part.type === "call" ? [part.seal?.id ?? ""] : []));
    this.flush();
    for (const id of open)
      if (!this.#answered.has(id)) this.#builder.result(id, textOutcome("cancelled", "The user interrupted the turn."));
  }
}

const callIdOf = (item: ForeignRecord): string => wordOf(item["call_id"]) ?? textOf(item["id"]);

/** Reads an item of the model; undefined if it is none. */
const modelParts = (builder: ConversationBuilder, item: ForeignRecord): readonly NewPart[] | undefined => {
  const call = (tool: unknown, input: { readonly text: string } | { readonly value: unknown }): readonly NewPart[] => {
    const id = wordOf(item["id"]);
    return [
      {
        type: "call",
        tool: textOf(tool),
        input,
        seal: { id: callIdOf(item), ...(id === undefined ? {} : { item: id }) },
      },
    ];
  };
  switch (item["type"]) {
    case "message":
      return item["role"] === "assistant" ? answerParts(item) : undefined;
    case "reasoning":
      return [readReasoning(item)];
    case "function_call":
      return call(item["name"], { text: textOf(item["arguments"]) });
    case "custom_tool_call":
      return call(item["name"], { value: { input: item["input"] ?? "" } });
    case "local_shell_call":
      return call("local_shell", { value: item["action"] ?? {} });
    case "web_search_call":
      return call("web_search", { value: item["action"] ?? {} });
    case "tool_search_call":
      return call("tool_search", { value: item["arguments"] ?? {} });
    case "image_generation_call":
      return builder.mediaFromBase64(item["result"], "image/png");
    default:
      return undefined;
  }
};

const answerParts = (item: ForeignRecord): readonly Text[] => {
  const id = wordOf(item["id"]);
  const phase = wordOf(item["phase"]);
  const seal: Seal = { ...(id === undefined ? {} : { item: id }), ...(phase === undefined ? {} : { phase }) };
  return objectsOf(item["content"]).map((part) => ({
    type: "text",
    text: wordOf(part["text"]) ?? textOf(part["refusal"]),
    ...(id === undefined && phase === undefined ? {} : { seal }),
  }));
};

const readReasoning = (item: ForeignRecord): Thinking => {
  const words = (value: unknown, separator: string): string =>
    objectsOf(value)
      .map((part) => textOf(part["text"]))
      .join(separator);
  const text = words(item["summary"], "\n\n") || words(item["content"], "");
  const id = wordOf(item["id"]);
  const encrypted = wordOf(item["encrypted_content"]);
  // Without its content, the id alone is worth nothing to a server that does not store responses.
  return encrypted === undefined
    ? { type: "thinking", text }
    : { type: "thinking", text, seal: { encrypted, ...(id === undefined ? {} : { item: id }) } };
};

const personParts = (builder: ConversationBuilder, item: ForeignRecord): readonly UserPart[] => {
  if (item["role"] !== "user") {
    builder.omit("texts the program added");
    return [];
  }
  return listOf(item["content"]).flatMap((value): readonly UserPart[] => {
    const part = objectOf(value);
    const text = textOf(part["text"]);
    if (isAdded(text)) {
      builder.omit("texts the program added");
      return [];
    }
    return part["type"] === "input_image" ? builder.mediaFromUrl(part["image_url"]) : [{ type: "text", text }];
  });
};

/** The output of a command that ran when the user interrupted the turn. */
const isAborted = /^(?:Wall time: [\d.]+ seconds\n)?aborted by user/;

const readOutput = (builder: ConversationBuilder, output: unknown): Outcome => {
  if (typeof output === "string") return textOutcome(isAborted.test(output) ? "cancelled" : "complete", output);
  const { content, success } = objectOf(output);
  if (typeof content === "string") return textOutcome(success === false ? "error" : "complete", content);
  const list = listOf(Array.isArray(output) ? output : content).flatMap((value): readonly Content[] => {
    const part = objectOf(value);
    return part["type"] === "input_image" ? builder.mediaFromUrl(part["image_url"]) : textContent(textOf(part["text"]));
  });
  return { status: success === false ? "error" : "complete", content: list };
};

const emitCompaction = (builder: ConversationBuilder, item: ForeignRecord): void => {
  const history = objectsOf(item["replacement_history"]);
  const words = history.flatMap((each) =>
    objectsOf(each["content"])
      .map((part) => textOf(part["text"]))
      .filter((text) => text !== "" && !isAdded(text)),
  );
  const summary = wordOf(item["message"]) ?? words.join("\n\n");
  if (summary === "" || history.some((each) => textOf(each["type"]).endsWith("compaction")))
    return builder.omit("compactions only their provider can read (the messages before them are kept)");
  return builder.compaction(summary);
};
