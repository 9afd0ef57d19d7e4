import type { Origin } from "../conversation/entry.ts";
import { callOrdinal } from "../conversation/call-ids.ts";
import { note, type Note } from "../conversation/notes.ts";
import type { Call, CallId } from "../conversation/parts.ts";
import { emptyHash, extendHash, hashToHex } from "../hash.ts";
import type { Target } from "./target.ts";

/**
 * Maps tool-call ids and tool names to the ones a target accepts.
 *
 * Both mappings are injective over the whole conversation and depend only on earlier entries, so nothing changes once it
 * was sent. They survive compaction: names of removed entries stay reserved.
 */
export class NameMapper {
  readonly notes: Note[] = [];
  readonly #target: Target;
  /** Target ids by call ordinal. */
  readonly #ids: string[] = [];
  /** Needed once a provider's own id was kept: until then, ids made from ordinals cannot collide. */
  #usedIds: Set<string> | undefined;
  readonly #aliases = new Map<string, string>();
  readonly #tools = new Map<string, string>();

  constructor(target: Target, declared: readonly string[]) {
    this.#target = target;
    for (const tool of declared) this.toolName(tool);
  }

  /** Returns the target's id for a call. A legal id from this same provider is kept; any other is derived from our ordinal. */
  callId(call: Call, origin: Origin): string {
    const ordinal = callOrdinal(call.id);
    const known = this.#ids[ordinal];
    if (known !== undefined) return known;
    const native = origin.provider === this.#target.provider ? call.seal?.id : undefined;
    const { ids } = this.#target;
    let id = native !== undefined && ids.legal.test(native) && this.#claim(native) ? native : undefined;
    if (id === undefined) {
      const tool = this.toolName(call.tool);
      let attempt = 0;
      do id = ids.project(ordinal, tool, attempt++);
      while (this.#usedIds !== undefined && !this.#claim(id));
      if (native !== undefined)
        this.notes.push(
          note("id-projected", `The id "${native.slice(0, 80)}" cannot be used here; ${id} replaces it.`, call.id),
        );
    }
    this.#ids[ordinal] = id;
    return id;
  }

  /** Reserves an id; false if it is taken. */
  #claim(id: string): boolean {
    this.#usedIds ??= new Set(this.#ids);
    const before = this.#usedIds.size;
    return this.#usedIds.add(id).size > before;
  }

  /** Returns the id a call was mapped to before. */
  idOf(call: CallId): string {
    return this.#ids[callOrdinal(call)] ?? "";
  }

  /** Returns the target's name for a tool: its own if legal and free, otherwise an alias. */
  toolName(tool: string): string {
    const known = this.#aliases.get(tool);
    if (known !== undefined) return known;
    let alias = tool;
    for (let attempt = 0; !this.#target.toolName.test(alias) || this.#tools.has(alias); attempt++)
      alias = makeAlias(tool, attempt);
    if (alias !== tool)
      this.notes.push(note("tool-renamed", `The tool "${tool.slice(0, 80)}" is called ${alias} here.`));
    this.#aliases.set(tool, alias);
    this.#tools.set(alias, tool);
    return alias;
  }

  /** Returns our name for a tool the model called by its alias. */
  originalTool(alias: string): string {
    return this.#tools.get(alias) ?? alias;
  }
}

/** Makes a tool name that matches `^[A-Za-z_][A-Za-z0-9_-]{0,63}$`, which every API accepts. */
const makeAlias = (tool: string, attempt: number): string => {
  const plain = tool.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 54);
  const salted = attempt === 0 ? tool : `${tool}#${attempt}`;
  return `${/^[A-Za-z_]/.test(plain) ? plain : `_${plain}`}_${hashToHex(extendHash(emptyHash, salted)).slice(0, 8)}`;
};
