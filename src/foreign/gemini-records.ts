import { isResult, partsOf } from "./gemini-parts.ts";
import { objectOf, objectsOf, textOf, wordOf, type ForeignRecord } from "./json.ts";

/** A summary that replaces the messages before one of those that follow it in a file of Gemini CLI. */
export const summaryType = "parley-summary";

/** The lines of a Gemini CLI file, applied in order. */
export type FoldedRecords = {
  readonly messages: readonly ForeignRecord[];
  readonly facts: ForeignRecord;
  /** How many messages were taken back. */
  readonly rewound: number;
};

/**
 * Applies the lines in order: a message with a known id replaces it in its place, the last one wins. Before messages are
 * taken back, `onBranch` gets the messages so far, if some of them are in no branch yet.
 */
export const foldRecords = (
  records: readonly ForeignRecord[],
  onBranch?: (messages: readonly ForeignRecord[]) => void,
): FoldedRecords => {
  const fold = new MessageFold(onBranch);
  for (const record of records) fold.apply(record);
  return { messages: [...fold.messages.values()], facts: fold.facts, rewound: fold.rewound };
};

class MessageFold {
  messages = new Map<string, ForeignRecord>();
  facts: ForeignRecord = {};
  rewound = 0;
  readonly #onBranch: ((messages: readonly ForeignRecord[]) => void) | undefined;
  /** Ids of messages that are known under another one: after a compression, those that are kept get new ids. */
  readonly #aliases = new Map<string, string>();
  #hasNew = false;

  constructor(onBranch: ((messages: readonly ForeignRecord[]) => void) | undefined) {
    this.#onBranch = onBranch;
  }

  apply(record: ForeignRecord): void {
    const { $set: change, $rewindTo: target, messages: list, ...own } = record;
    if (typeof target === "string") return this.#rewindTo(this.#aliases.get(target) ?? target);
    if (change === undefined && list === undefined && record["sessionId"] === undefined) return this.#put(record);
    const { messages: replaced, ...set } = { ...own, messages: list, ...objectOf(change) };
    this.facts = { ...this.facts, ...set };
    if (Array.isArray(replaced)) this.#replace(objectsOf(replaced));
  }

  #put(message: ForeignRecord): void {
    const id = wordOf(message["id"]);
    const key = id === undefined ? `#${this.messages.size}` : (this.#aliases.get(id) ?? id);
    this.#hasNew ||= !this.messages.has(key) && !isContext(message);
    this.messages.set(key, message);
  }

  #rewindTo(target: string): void {
    const ids = [...this.messages.keys()];
    const at = ids.indexOf(target);
    this.#leave(at === -1 ? [] : ids.slice(at));
  }

  /** Drops messages by id; the branch they were the end of is reported. */
  #leave(ids: readonly string[]): void {
    if (ids.length === 0) return;
    if (this.#hasNew) this.#onBranch?.([...this.messages.values()]);
    this.#hasNew = false;
    for (const id of ids) this.messages.delete(id);
    this.rewound += ids.length;
  }

  /** Replaces all messages. A resumed session begins with those it had, and a compressed one with a summary. */
  #replace(list: readonly ForeignRecord[]): void {
    const start = list.findIndex((message) => !isContext(message));
    if (start === -1) return list.forEach((message) => this.#put(message));
    const [summary, reply, ...kept] = list.slice(start);
    if (summary !== undefined && isSummaryReply(reply)) return this.#compress(summary, reply, kept);
    const missing = listMissing(this.messages, list);
    this.#leave(missing);
    this.messages = new Map();
    const hadNew = this.#hasNew;
    for (const message of list) this.#put(message);
    this.#hasNew = hadNew;
  }

  /** Keeps what the summary replaces. The messages after it are known, apart from those that were added since. */
  #compress(summary: ForeignRecord, reply: ForeignRecord | undefined, kept: readonly ForeignRecord[]): void {
    const known = [...this.messages].map(([id, message]) => [id, signatureOf(message)] as const);
    let [end, from] = [known.length, undefined as string | undefined];
    const added: ForeignRecord[] = [];
    // They are the last ones, so the search goes backwards.
    for (const message of kept.toReversed()) {
      const signature = signatureOf(message);
      const isSame = (at: number): boolean => known[at]![0] === message["id"] || known[at]![1] === signature;
      let at = end - 1;
      while (at >= 0 && !isSame(at)) at -= 1;
      if (at === -1) added.unshift(message);
      else {
        [end, from] = [at, known[at]![0]];
        this.#aliases.set(textOf(message["id"]), from);
      }
    }
    const id = textOf(summary["id"]);
    if (!this.messages.has(id)) {
      this.messages.set(id, { id, type: summaryType, text: wordsOf(summary), from });
      this.#aliases.set(textOf(reply?.["id"]), id);
    }
    for (const message of added) this.#put(message);
  }
}

/** The model's part of a summary, which is always the same and from no model. */
const isSummaryReply = (message: ForeignRecord | undefined): boolean =>
  message?.["type"] === "gemini" && wordsOf(message) === "Got it. Thanks for the additional context!";

/** A message without its id and the fields that only its first copy has. */
const signatureOf = (message: ForeignRecord): string => {
  const parts = partsOf(message["content"]);
  const recorded = objectsOf(message["toolCalls"]).map(({ id, name }) => [id, name]);
  const said = parts
    .map((part) => objectOf(part["functionCall"]))
    .flatMap(({ id, name }) => (name ? [[id, name]] : []));
  const results = parts.filter(isResult).map((part) => objectOf(part["functionResponse"])["id"]);
  return JSON.stringify([message["type"], wordsOf(message), recorded.length > 0 ? recorded : said, results]);
};

/** Lists the messages a new list lacks, by id, time or text: a resumed session gives its messages new ids. */
const listMissing = (
  before: ReadonlyMap<string, ForeignRecord>,
  after: readonly ForeignRecord[],
): readonly string[] => {
  const ids = new Set(after.map((message) => message["id"]));
  const times = new Set(after.map((message) => message["timestamp"]));
  const texts = new Set(after.map(wordsOf));
  return [...before].flatMap(([id, message]) =>
    ids.has(id) || isContext(message) || times.has(message["timestamp"]) || texts.has(wordsOf(message)) ? [] : [id],
  );
};

const wordsOf = (message: ForeignRecord): string =>
  partsOf(message["content"])
    .flatMap((part) => (part["thought"] === true ? [] : (wordOf(part["text"]) ?? [])))
    .join(" ");

/** Whether a message is the environment that opens a session. */
export const isContext = (message: ForeignRecord): boolean =>
  wordsOf(message).trimStart().startsWith("<session_context>");

/** The words of a person; empty for the environment. */
export const promptOf = (message: ForeignRecord): string => (isContext(message) ? "" : wordsOf(message).trim());
