import { createHash } from "node:crypto";

/** A tool by its server and the server's own name for it. */
export type ToolKey = { readonly server: string; readonly tool: string };

/**
 * Converts a name to one that providers accept: letters, digits, `_`, `.` and `-`, at most 63 of them; a longer one
 * loses its middle.
 *
 * @internal Exported for its tests.
 */
export const toValidName = (name: string): string => {
  const legal = name.replaceAll(/[^A-Za-z0-9_.-]/gu, "_");
  const whole = /^[A-Za-z_]/.test(legal) ? legal : `_${legal}`;
  return whole.length > maxNameLength ? `${whole.slice(0, 28)}___${whole.slice(-32)}` : whole;
};

const maxNameLength = 63;

/**
 * The names of tools for models. A name is assigned once and stays for the session; no two tools share one, not even in
 * different case, and every name leads back to its tool.
 */
export class ToolNames {
  readonly #names = new Map<string, string>();
  readonly #keys = new Map<string, ToolKey>();
  readonly #taken = new Set<string>();

  /** `reserved` are names that no tool may get: those of the built-in tools. */
  constructor(reserved: readonly string[]) {
    for (const name of reserved) this.#taken.add(foldCase(name));
  }

  /**
   * Assigns names to tools that appear at the same time. A unique name is kept; where several want one name, or it is
   * taken, each gets its server's name as a prefix.
   */
  assign(keys: readonly ToolKey[]): void {
    const fresh = keys.filter((key) => !this.#names.has(keyId(key)));
    const wanted = new Map<string, number>();
    for (const { tool } of fresh) wanted.set(shortName(tool), (wanted.get(shortName(tool)) ?? 0) + 1);
    const isFree = ({ tool }: ToolKey): boolean =>
      wanted.get(shortName(tool)) === 1 && !this.#taken.has(shortName(tool));
    // Unique names are assigned first, so that no generated name takes one.
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

  /** `server__tool`, with a hash suffix where even that is taken. */
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
