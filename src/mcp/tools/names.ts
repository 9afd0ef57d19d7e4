import { createHash } from "node:crypto";

/** A tool of a server, as the server calls it. */
export type ToolKey = { readonly server: string; readonly tool: string };

/** A name providers take: letters, digits, `_`, `.` and `-`, at most 63 of them, whose middle gives way. */
export const toValidName = (name: string): string => {
  const legal = name.replaceAll(/[^A-Za-z0-9_.-]/gu, "_");
  const whole = /^[A-Za-z_]/.test(legal) ? legal : `_${legal}`;
  return whole.length > maxNameLength ? `${whole.slice(0, 28)}___${whole.slice(-32)}` : whole;
};

const maxNameLength = 63;

/**
 * The names models know tools by. A name is given once and stays as long as the session; no two tools ever share one,
 * not even one that differs in case alone, and every name leads back to its tool.
 */
export class ToolNames {
  readonly #names = new Map<string, string>();
  readonly #keys = new Map<string, ToolKey>();
  readonly #taken = new Set<string>();

  /** `reserved` are names nobody may have: those of the tools that come with Parley. */
  constructor(reserved: readonly string[]) {
    for (const name of reserved) this.#taken.add(foldCase(name));
  }

  /**
   * Names tools that come at the same time. One that is alone with its name keeps it; where several want one name, or
   * it is taken, each is called by its server as well.
   */
  assign(keys: readonly ToolKey[]): void {
    const fresh = keys.filter((key) => !this.#names.has(keyId(key)));
    const wanted = new Map<string, number>();
    for (const { tool } of fresh) wanted.set(shortName(tool), (wanted.get(shortName(tool)) ?? 0) + 1);
    const isFree = ({ tool }: ToolKey): boolean =>
      wanted.get(shortName(tool)) === 1 && !this.#taken.has(shortName(tool));
    // Those that keep their name come first, so that no made-up name takes it from them.
    for (const key of fresh.filter(isFree)) this.#keep(key, toValidName(key.tool));
    for (const key of fresh) if (!this.#names.has(keyId(key))) this.#keep(key, this.#qualified(key));
  }

  nameOf(key: ToolKey): string | undefined {
    return this.#names.get(keyId(key));
  }

  keyOf(name: string): ToolKey | undefined {
    return this.#keys.get(name);
  }

  #keep(key: ToolKey, name: string): void {
    this.#names.set(keyId(key), name);
    this.#keys.set(name, key);
    this.#taken.add(foldCase(name));
  }

  /** `server__tool`; with a mark made from both where even that is taken. */
  #qualified(key: ToolKey): string {
    const name = toValidName(`${key.server}__${key.tool}`);
    if (!this.#taken.has(foldCase(name))) return name;
    for (let attempt = 0; ; attempt += 1) {
      const mark = createHash("sha256")
        .update(`${attempt}${keyId(key)}`)
        .digest("hex")
        .slice(0, 8);
      const marked = `${name.slice(0, maxNameLength - 9)}_${mark}`;
      if (!this.#taken.has(foldCase(marked))) return marked;
    }
  }
}

const keyId = ({ server, tool }: ToolKey): string => JSON.stringify([server, tool]);

const shortName = (tool: string): string => foldCase(toValidName(tool));

const foldCase = (name: string): string => name.toLowerCase();
