import type { ToolDeclaration } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { Note } from "../conversation/notes.ts";
import type { WireRequest } from "./wire.ts";

/** The parts of a request that decide how its tools are declared. */
type Declaration<Dialect> = Pick<WireRequest<Dialect>, "tools" | "dialect">;

/**
 * Adds a cache to how a wire declares tools: most requests declare the tools of the one before. Equal requests then share
 * objects, which the transport has encoded already.
 */
export const cacheDeclarations = <Dialect>(
  declare: (request: Declaration<Dialect>, notes: Note[]) => readonly JsonObject[],
): typeof declare => {
  type Declared = { readonly dialect: Dialect; readonly list: readonly JsonObject[]; readonly notes: readonly Note[] };
  const known = new WeakMap<readonly ToolDeclaration[], Declared>();
  return ({ tools, dialect }, notes) => {
    let declared = known.get(tools);
    if (declared?.dialect !== dialect) {
      const added: Note[] = [];
      declared = { dialect, list: declare({ tools, dialect }, added), notes: added };
      known.set(tools, declared);
    }
    notes.push(...declared.notes);
    return declared.list;
  };
};
