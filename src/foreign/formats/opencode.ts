import type { NewPart } from "../../conversation/ledger.ts";
import type { Content, Outcome, Seal, UserPart } from "../../conversation/parts.ts";
import { otherBranches, textContent, type ConversationBuilder } from "../builder.ts";
import { listDescendants } from "../descendants.ts";
import { ForeignSessionError } from "../error.ts";
import type { DatabaseFormat } from "../format.ts";
import { objectOf, objectsOf, parseObject, textOf, timeOf, wordOf, type ForeignRecord } from "../json.ts";
import { originFromProvider } from "../origin.ts";
import type { Database } from "../sqlite/database.ts";

/** Sessions of opencode since version 1.2: messages and their parts as rows with JSON. */
export const opencode: DatabaseFormat = {
  bases: [{ variable: "XDG_DATA_HOME", below: "opencode" }, { home: ".local/share/opencode" }],
  database: ["opencode.db"],
  list: async function* (database) {
    for await (const row of database.rows("session")) {
      // A session with a parent is a subagent's.
      if (wordOf(row["parent_id"]) !== undefined) continue;
      yield {
        id: textOf(row["id"]),
        title: textOf(row["title"]),
        folder: wordOf(row["directory"]),
        created: timeOf(row["time_created"]),
        modified: timeOf(row["time_updated"]),
      };
    }
  },
  leaves: async (database, id) => {
    const sessions = await collect(database.rows("session"));
    const isReverted = sessions.some((row) => row["id"] === id && endOf(row) !== undefined);
    return [
      ...(isReverted ? [{ id: revertedBranch, kind: "branch" } as const] : []),
      ...listDescendants(sessions, "parent_id", id).map((own) => ({ id: own, kind: "subagent" }) as const),
    ];
  },
  load: async (database, id, builder, leaf) => {
    const [session] = await collect(database.rows("session", { column: "id", value: id }));
    if (session === undefined) throw new ForeignSessionError(`opencode:${id} is no longer in its database.`);
    builder.title = wordOf(session["title"]);
    builder.folder = wordOf(session["directory"]);
    const messages = (await collect(database.rows("message", { column: "session_id", value: id }))).toSorted(byId);
    const parts = new Map<string, ForeignRecord[]>();
    for (const row of (await collect(database.rows("part", { column: "session_id", value: id }))).toSorted(byId)) {
      const of = textOf(row["message_id"]);
      parts.set(of, [...(parts.get(of) ?? []), dataOf(row, builder)]);
    }
    emitMessages(builder, messages, parts, leaf === revertedBranch ? undefined : endOf(session));
  },
};

/** The messages from before a session was reverted. They are kept until the next prompt. */
const revertedBranch = "before-revert";

/** The first message that was taken back. */
const endOf = (session: ForeignRecord): string | undefined =>
  wordOf(objectOf(parseObject(textOf(session["revert"])))["messageID"]);

const collect = async (rows: ReturnType<Database["rows"]>): Promise<readonly ForeignRecord[]> => {
  const all: ForeignRecord[] = [];
  for await (const row of rows) all.push(row);
  return all;
};

/** Ids sort by time. */
const byId = (one: ForeignRecord, other: ForeignRecord): number => (textOf(one["id"]) < textOf(other["id"]) ? -1 : 1);

const dataOf = (row: ForeignRecord, builder: ConversationBuilder): ForeignRecord => {
  const data = parseObject(textOf(row["data"]));
  if (data === undefined) builder.omit("rows that are not valid JSON");
  return data ?? {};
};

const emitMessages = (
  builder: ConversationBuilder,
  rows: readonly ForeignRecord[],
  parts: ReadonlyMap<string, readonly ForeignRecord[]>,
  end: string | undefined,
): void => {
  const positions = new Map<unknown, number>();
  let tail: unknown;
  for (const row of rows) {
    const id = textOf(row["id"]);
    if (end !== undefined && id >= end) {
      builder.omit(otherBranches);
      continue;
    }
    positions.set(id, builder.position);
    const message = dataOf(row, builder);
    const own = parts.get(id) ?? [];
    const compaction = own.find((part) => part["type"] === "compaction");
    if (message["role"] === "user" && compaction !== undefined) tail = compaction["tail_start_id"];
    else if (message["role"] === "user") builder.user(own.flatMap((part) => readUserPart(builder, part)));
    else if (message["role"] === "assistant" && message["summary"] === true)
      builder.compaction(
        own.map((part) => (part["type"] === "text" ? textOf(part["text"]) : "")).join(""),
        positions.get(tail),
      );
    else if (message["role"] === "assistant") emitAnswer(builder, message, own);
    else builder.omit(`messages of the unknown role ${JSON.stringify(message["role"] ?? null)}`);
  }
};

const readUserPart = (builder: ConversationBuilder, part: ForeignRecord): readonly UserPart[] => {
  switch (part["type"]) {
    case "text":
      if (part["synthetic"] !== true && part["ignored"] !== true) return [{ type: "text", text: textOf(part["text"]) }];
      builder.omit("texts the program added");
      return [];
    case "file":
      return builder.mediaFromUrl(part["url"], wordOf(part["filename"]));
    default:
      builder.omit(`parts of the kind ${JSON.stringify(part["type"] ?? null)}`);
      return [];
  }
};

/** Adds an answer; one with several steps becomes several messages, each followed by the results of its calls. */
const emitAnswer = (builder: ConversationBuilder, message: ForeignRecord, parts: readonly ForeignRecord[]): void => {
  const origin = originFromProvider(textOf(message["providerID"]), textOf(message["modelID"]));
  let said: NewPart[] = [];
  let results: (readonly [id: string, outcome: Outcome])[] = [];
  const flush = (): void => {
    builder.model(origin, said);
    for (const [id, outcome] of results) builder.result(id, outcome);
    said = [];
    results = [];
  };
  for (const part of parts) {
    switch (part["type"]) {
      case "step-start":
        flush();
        break;
      case "text":
        said.push({ type: "text", text: textOf(part["text"]) });
        break;
      case "reasoning":
        said.push({ type: "thinking", text: textOf(part["text"]), ...reasoningSeal(objectOf(part["metadata"])) });
        break;
      case "tool": {
        const id = textOf(part["callID"]);
        const state = objectOf(part["state"]);
        const outcome = readOutcome(builder, state);
        said.push({ type: "call", tool: textOf(part["tool"]), input: { value: state["input"] ?? {} }, seal: { id } });
        if (outcome !== undefined) results.push([id, outcome]);
        break;
      }
      case "file":
        said.push(...builder.mediaFromUrl(part["url"], wordOf(part["filename"])));
        break;
      case "step-finish":
      case "snapshot":
      case "patch":
      case "retry":
        builder.omit("parts of bookkeeping");
        break;
      default:
        builder.omit(`parts of the kind ${JSON.stringify(part["type"] ?? null)}`);
    }
  }
  flush();
  if (message["error"] !== undefined && message["error"] !== null) builder.omit("error messages of a provider");
};

const readOutcome = (builder: ConversationBuilder, state: ForeignRecord): Outcome | undefined => {
  const files = objectsOf(state["attachments"]).flatMap((file): readonly Content[] =>
    builder.mediaFromUrl(file["url"], wordOf(file["filename"])),
  );
  switch (state["status"]) {
    case "completed":
      return { status: "complete", content: [...textContent(textOf(state["output"])), ...files] };
    case "error":
      return { status: "error", content: [...textContent(textOf(state["error"])), ...files] };
    default:
      return undefined;
  }
};

/** The seal of reasoning, which the AI SDK keeps under the name of the API. */
const reasoningSeal = ({ anthropic, openai, google, vertex }: ForeignRecord): { readonly seal?: Seal } => {
  const { signature, redactedData } = objectOf(anthropic);
  const { itemId, reasoningEncryptedContent: encrypted } = objectOf(openai);
  const thought = wordOf(objectOf(google)["thoughtSignature"]) ?? wordOf(objectOf(vertex)["thoughtSignature"]);
  if (typeof signature === "string" && signature !== "") return { seal: { signature } };
  if (typeof redactedData === "string" && redactedData !== "") return { seal: { encrypted: redactedData } };
  if (typeof encrypted === "string" && encrypted !== "")
    return { seal: { encrypted, ...(typeof itemId === "string" ? { item: itemId } : {}) } };
  return thought === undefined ? {} : { seal: { signature: thought } };
};
