import { isObject } from "../conversation/json.ts";

/** A file that keeps the store over a restart. */
export type SealFile = {
  /** Returns everything that was written; "" for a new file. */
  readonly read: () => string;
  readonly append: (text: string) => void;
  /** Replaces the content, so that the file does not grow for ever. */
  readonly replace: (text: string) => void;
};

/** Options of a seal store. */
export type SealStoreOptions = {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly file?: SealFile;
  /** The most characters kept; the entries that were not used for longest go first. Default: 32 MB. */
  readonly maxSize?: number;
  /** Milliseconds without use after which an entry goes. Default: a week. */
  readonly maxAge?: number;
};

type StoredSeal = { readonly wrapped: string; readonly at: number };

/**
 * Keeps the wrapped seals of calls for clients that do not return them (Chat Completions), by client and call id. A lost
 * entry costs the thinking of that response and the prompt cache after it; the request stays valid.
 */
export class SealStore {
  readonly #options: SealStoreOptions;
  readonly #maxSize: number;
  readonly #maxAge: number;
  /** In the order of their last use. */
  readonly #entries = new Map<string, StoredSeal>();
  #size = 0;
  #written = 0;

  constructor(options: SealStoreOptions) {
    this.#options = options;
    this.#maxSize = options.maxSize ?? 32 * 2 ** 20;
    this.#maxAge = options.maxAge ?? 7 * 24 * 3_600_000;
    const text = options.file?.read() ?? "";
    for (const line of text.split("\n")) this.#load(line);
    this.#evict();
    if (text !== "") this.#rewrite();
  }

  /** The wrapped seal of a call, if it is still here. */
  get(client: string | undefined, callId: string): string | undefined {
    const key = keyOf(client, callId);
    const found = this.#entries.get(key);
    if (found === undefined || this.#options.now() - found.at > this.#maxAge) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, { ...found, at: this.#options.now() });
    return found.wrapped;
  }

  /** Keeps a wrapped seal. The first one of a call stays: ids are unique, and what was sent must not change. */
  put(client: string | undefined, callId: string, wrapped: string): void {
    const key = keyOf(client, callId);
    if (this.#entries.has(key)) return;
    this.#add(key, { wrapped, at: this.#options.now() });
    this.#evict();
    const line = lineOf(key, { wrapped, at: this.#options.now() });
    if (this.#written + line.length > 2 * this.#maxSize) this.#rewrite();
    else this.#write(() => this.#options.file?.append(line), this.#written + line.length);
  }

  #load(line: string): void {
    const { key, wrapped, at } = parseLine(line);
    if (typeof key !== "string" || typeof wrapped !== "string" || typeof at !== "number") return;
    if (this.#options.now() - at <= this.#maxAge && !this.#entries.has(key)) this.#add(key, { wrapped, at });
  }

  #add(key: string, entry: StoredSeal): void {
    this.#entries.set(key, entry);
    this.#size += key.length + entry.wrapped.length;
  }

  #evict(): void {
    const oldest = this.#options.now() - this.#maxAge;
    for (const [key, { wrapped, at }] of this.#entries) {
      if (this.#size <= this.#maxSize && at >= oldest) return;
      this.#entries.delete(key);
      this.#size -= key.length + wrapped.length;
    }
  }

  #rewrite(): void {
    const text = [...this.#entries].map(([key, entry]) => lineOf(key, entry)).join("");
    this.#write(() => this.#options.file?.replace(text), text.length);
  }

  /** A file that cannot be written is no reason to fail: the memory has the entry. */
  #write(work: () => void, written: number): void {
    try {
      work();
      this.#written = written;
    } catch {
      // Lost at the next restart.
    }
  }
}

const keyOf = (client: string | undefined, callId: string): string => JSON.stringify([client ?? "", callId]);

const lineOf = (key: string, { wrapped, at }: StoredSeal): string => `${JSON.stringify({ key, wrapped, at })}\n`;

const parseLine = (line: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
};
