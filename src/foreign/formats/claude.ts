import type { NewPart } from "../../conversation/ledger.ts";
import { readModelBlocks, readUserBlocks, type BlockResult } from "../anthropic-blocks.ts";
import { ConversationBuilder, otherBranches, subagentLines } from "../builder.ts";
import type { BranchLeaf, FileFormat } from "../format.ts";
import { objectOf, objectsOf, textOf, timeOf, wordOf, type ForeignRecord } from "../json.ts";
import { originFromModel, type ClaimedOrigin } from "../origin.ts";
import { findActivePath, listOtherLeaves, type TreeNode } from "../tree.ts";

/** Sessions of Claude Code: one line per content block, in a tree by `parentUuid`. */
export const claude: FileFormat = {
  bases: [{ variable: "CLAUDE_CONFIG_DIR" }, { home: ".claude" }],
  files: [["projects", "*", "*.jsonl"]],
  projectNames: (folder) => [folder.replaceAll(/[^a-zA-Z0-9]/g, "-")],
  subagents: ([projects = "", project = "", file = ""]) => [
    projects,
    project,
    file.replace(/\.jsonl$/, ""),
    "subagents",
  ],
  skip: (record) => textOf(record["type"]).startsWith("api-request"),
  describe: ({ head, tail }) => {
    const first = head.find((record) => record["cwd"] !== undefined);
    const prompt = head.find((record) => isPrompt(record));
    if (first === undefined) return undefined;
    return {
      folder: wordOf(first["cwd"]),
      created: timeOf(first["timestamp"]),
      title: findTitle([...head, ...tail]) ?? (prompt === undefined ? undefined : promptText(prompt)),
    };
  },
  leaves: (records) => {
    const { lines, side } = sortLines(records, new ConversationBuilder());
    return [
      ...(lines.size === 0 ? [] : listLeaves(lines, "branch")),
      // A file of a subagent has no other lines, and is its conversation.
      ...(lines.size === 0 || side.size === 0 ? [] : listLeaves(side, "subagent")),
    ];
  },
  read: (records, builder, _, leaf) => {
    builder.title = findTitle(records);
    const lines = selectLines(records, builder, leaf);
    builder.folder = wordOf(lines[0]?.["cwd"]);
    emitLines(lines, builder);
  },
};

/** Returns the title: the last the user gave, else the last the program gave. */
const findTitle = (records: readonly ForeignRecord[]): string | undefined => {
  const last = (type: string, field: string): string | undefined =>
    wordOf(records.findLast((record) => record["type"] === type && wordOf(record[field]) !== undefined)?.[field]);
  return last("custom-title", "customTitle") ?? last("ai-title", "aiTitle") ?? last("summary", "summary");
};

const isPrompt = (record: ForeignRecord): boolean =>
  record["type"] === "user" &&
  record["isMeta"] !== true &&
  record["isCompactSummary"] !== true &&
  !/^\s*(?:<|$)/.test(promptText(record));

const promptText = (record: ForeignRecord): string => {
  const { content } = objectOf(record["message"]);
  return typeof content === "string"
    ? content
    : objectsOf(content)
        .map((block) => textOf(block["text"]))
        .join(" ")
        .trim();
};

const conversationTypes: ReadonlySet<unknown> = new Set(["user", "assistant", "system", "attachment", "progress"]);

type LinesById = ReadonlyMap<string, ForeignRecord>;

/** Sorts the lines of the main conversation from those of subagents in the same file. */
const sortLines = (
  records: readonly ForeignRecord[],
  builder: ConversationBuilder,
): { readonly lines: LinesById; readonly side: LinesById } => {
  const lines = new Map<string, ForeignRecord>();
  const side = new Map<string, ForeignRecord>();
  for (const record of records) {
    const id = wordOf(record["uuid"]);
    if (!conversationTypes.has(record["type"]) || id === undefined) {
      builder.omit(record["message"] === undefined ? "lines of bookkeeping" : "messages without an id");
      continue;
    }
    const own = record["isSidechain"] === true ? side : lines;
    if (!own.has(id)) own.set(id, record);
  }
  return { lines, side };
};

/** Selects the lines of the active branch, or of the one that ends with `leaf`, in the order of the file. */
const selectLines = (
  records: readonly ForeignRecord[],
  builder: ConversationBuilder,
  leaf: string | undefined,
): readonly ForeignRecord[] => {
  const { lines, side } = sortLines(records, builder);
  const isSide = lines.size === 0 || (leaf !== undefined && side.has(leaf));
  if (!isSide) builder.omit(subagentLines, side.size);
  const own = isSide ? side : lines;
  const { ids, brokenLinks } = findActivePath(listNodes(own), leaf);
  builder.omit("links to a line that is not in the file", brokenLinks);
  const kept = withOwnResults([...own.values()], ids);
  builder.omit(otherBranches, [...own.values()].filter((line) => !kept.has(line) && isMessage(line)).length);
  return [...kept];
};

const listNodes = (lines: LinesById): readonly TreeNode[] =>
  [...lines].map(([id, line]) => ({
    id,
    parent: wordOf(line["parentUuid"]) ?? wordOf(line["logicalParentUuid"]),
  }));

const isMessage = (line: ForeignRecord): boolean => line["type"] === "user" || line["type"] === "assistant";

/** The branches beside the active one; of a subagent's lines, all are others. */
const listLeaves = (lines: LinesById, kind: BranchLeaf["kind"]): readonly BranchLeaf[] => {
  const nodes = listNodes(lines);
  const pathTo = (leaf?: string): ReadonlySet<string> =>
    new Set(
      [...withOwnResults([...lines.values()], findActivePath(nodes, leaf).ids)].map((line) => textOf(line["uuid"])),
    );
  const messages = [...lines].filter(([, line]) => isMessage(line)).map(([id]) => id);
  return listOtherLeaves(messages, kind === "branch" ? pathTo() : new Set(), pathTo).map((id) => ({ id, kind }));
};

/**
 * Adds what the path misses: parallel calls fork the tree, so that blocks of the same response and results of its calls
 * hang beside it.
 */
const withOwnResults = (lines: readonly ForeignRecord[], path: ReadonlySet<string>): ReadonlySet<ForeignRecord> => {
  const isOnPath = (line: ForeignRecord): boolean => path.has(textOf(line["uuid"]));
  const responses = new Set(lines.flatMap((line) => (isOnPath(line) ? (messageId(line) ?? []) : [])));
  const said = new Set(lines.filter((line) => isOnPath(line) || responses.has(messageId(line) ?? "")));
  const saidIds = new Set([...said].map((line) => line["uuid"]));
  const calls = new Set([...said].flatMap((line) => (line["type"] === "assistant" ? blockIds(line, "id") : [])));
  for (const line of said) for (const id of blockIds(line, "tool_use_id")) calls.delete(id);
  const hangsOn = (line: ForeignRecord): boolean =>
    saidIds.has(line["parentUuid"]) || saidIds.has(line["sourceToolAssistantUUID"]);
  const nearIds = new Set(lines.flatMap((line) => (hangsOn(line) ? blockIds(line, "tool_use_id") : [])));
  return new Set(
    lines.filter((line) => {
      if (said.has(line)) return true;
      const answers = blockIds(line, "tool_use_id").filter((id) => calls.has(id));
      const isOwn = answers.length > 0 && (hangsOn(line) || answers.every((id) => !nearIds.has(id)));
      if (isOwn) for (const id of answers) calls.delete(id);
      return isOwn;
    }),
  );
};

const messageId = (line: ForeignRecord): string | undefined =>
  line["type"] === "assistant" ? wordOf(objectOf(line["message"])["id"]) : undefined;

const blockIds = (line: ForeignRecord, field: "id" | "tool_use_id"): readonly string[] =>
  objectsOf(objectOf(line["message"])["content"]).flatMap((block) => wordOf(block[field]) ?? []);

/** The blocks of one response so far. They are added before anything but a result follows. */
type OpenResponse = {
  readonly id: string | undefined;
  readonly origin: ClaimedOrigin;
  readonly parts: NewPart[];
  readonly results: BlockResult[];
};

const emitLines = (lines: readonly ForeignRecord[], builder: ConversationBuilder): void => {
  const positions = new Map<unknown, number>();
  const ran = new Set(lines.filter(isLocalOutput).map((line) => line["parentUuid"]));
  let boundary: number | undefined;
  let open: OpenResponse | undefined;
  const flush = (): void => {
    if (open !== undefined) builder.model(open.origin, open.parts);
    for (const { id, outcome } of open?.results ?? []) builder.result(id, outcome);
    open = undefined;
  };
  for (const line of lines) {
    const message = objectOf(line["message"]);
    switch (line["type"]) {
      case "assistant": {
        if (isNotFromModel(line, message)) {
          flush();
          builder.notice(promptText(line));
          break;
        }
        const id = wordOf(message["id"]);
        if (open === undefined || id === undefined || open.id !== id) {
          flush();
          positions.set(line["uuid"], builder.position);
          open = { id, origin: originOf(textOf(message["model"])), parts: [], results: [] };
        }
        const { parts, results } = readModelBlocks(builder, message["content"]);
        open.parts.push(...parts);
        open.results.push(...results);
        break;
      }
      case "user": {
        if (line["isCompactSummary"] === true) {
          flush();
          builder.compaction(promptText(line), boundary);
          boundary = undefined;
          break;
        }
        if (line["isMeta"] === true) {
          builder.omit("texts the program added");
          break;
        }
        if (isLocalOutput(line) || (ran.has(line["uuid"]) && promptText(line).startsWith("<command-name>"))) {
          builder.omit("commands to the program and their output");
          break;
        }
        const { parts, results } = readUserBlocks(builder, message["content"]);
        // Another block of the same response may follow its first result.
        if (open === undefined) for (const { id, outcome } of results) builder.result(id, outcome);
        else open.results.push(...results);
        if (parts.length > 0) {
          flush();
          positions.set(line["uuid"], builder.position);
          builder.user(parts);
        }
        break;
      }
      case "system":
        if (line["subtype"] === "compact_boundary") {
          flush();
          const { headUuid } = objectOf(objectOf(line["compactMetadata"])["preservedSegment"]);
          boundary = positions.get(headUuid) ?? builder.position;
        } else builder.omit("messages of the program to the user");
        break;
      case "attachment":
        builder.omit("attachments the program added");
        break;
      default:
        builder.omit("lines of bookkeeping");
    }
  }
  flush();
};

/** The output of a command such as /compact, which is not for the model. It hangs on the command. */
const isLocalOutput = (line: ForeignRecord): boolean =>
  line["type"] === "user" && /^<local-command-std(?:out|err)>/.test(promptText(line));

const isNotFromModel = (line: ForeignRecord, message: ForeignRecord): boolean =>
  line["isApiErrorMessage"] === true || message["model"] === "<synthetic>";

/** Claude Code can be pointed at other models; only Claude's signatures are Anthropic's. */
const originOf = (model: string): ClaimedOrigin => {
  const origin = originFromModel(model);
  return { ...origin, isCertain: origin.provider === "anthropic" };
};
