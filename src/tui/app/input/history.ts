import type { World } from "../../../world/world.ts";

/** What the person typed, in this session and in those before. */
export type InputHistory = {
  readonly read: () => Promise<readonly string[]>;
  readonly add: (text: string) => void;
  /** Resolves once all that was added is kept. */
  readonly flush: () => Promise<void>;
};

/** More lines than this are not kept. */
const maxLines = 500;

/** What the person typed in earlier sessions, kept in a file of their own. */
export const createInputHistory = ({ files }: Pick<World, "files">, home: string): InputHistory => {
  const path = `${home}/history.json`;
  const read = async (): Promise<readonly string[]> => {
    try {
      const lines: unknown = JSON.parse((await files.read(path)) ?? "[]");
      return Array.isArray(lines) ? lines.filter((line) => typeof line === "string") : [];
    } catch {
      return [];
    }
  };
  const keep = async (text: string): Promise<void> => {
    const lines = await read();
    if (lines.at(-1) === text) return;
    // A convenience: where it cannot be kept, nothing else suffers.
    await files.writePrivate(path, JSON.stringify([...lines, text].slice(-maxLines))).catch(() => undefined);
  };
  let keeping: Promise<void> = Promise.resolve();
  return {
    read,
    add: (text) => {
      keeping = keeping.then(() => keep(text));
    },
    flush: () => keeping,
  };
};
