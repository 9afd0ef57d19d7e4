import type { World } from "../../world/index.ts";
import type { InterfaceOptions } from "./interface.ts";

/** More lines than this are not kept. */
const most = 500;

/** What the person typed in earlier sessions, kept in a file of their own. */
export const inputHistory = ({ files }: Pick<World, "files">, home: string): InterfaceOptions["history"] => {
  const path = `${home}/history.json`;
  const read = async (): Promise<readonly string[]> => {
    try {
      const lines: unknown = JSON.parse((await files.read(path)) ?? "[]");
      return Array.isArray(lines) ? lines.filter((line) => typeof line === "string") : [];
    } catch {
      return [];
    }
  };
  return {
    read,
    add: async (text) => {
      const lines = await read();
      if (lines.at(-1) === text) return;
      // A convenience: where it cannot be kept, nothing else suffers.
      await files.writePrivate(path, JSON.stringify([...lines, text].slice(-most))).catch(() => undefined);
    },
  };
};
