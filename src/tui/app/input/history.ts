import type { World } from "../../../world/world.ts";

/** Prompts typed in this session and earlier ones. */
export type InputHistory = {
  readonly read: () => Promise<readonly string[]>;
  readonly add: (text: string) => void;
  /** Resolves once all additions are saved. */
  readonly flush: () => Promise<void>;
};

/** Limit of saved lines. */
const maxLines = 500;

/** The input history, saved in a file. */
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
    // History is a convenience: a failed write is ignored.
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
