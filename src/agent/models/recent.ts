import type { World } from "../../world/world.ts";

/** How many choices are remembered. */
const maxRecent = 10;

const recentFile = (home: string): string => `${home}/models.json`;

/** The models and pools the user chose, last one first. */
export const readRecentModels = async ({ files }: Pick<World, "files">, home: string): Promise<readonly string[]> => {
  try {
    const stored: unknown = JSON.parse((await files.read(recentFile(home))) ?? "[]");
    return Array.isArray(stored) ? stored.filter((name) => typeof name === "string") : [];
  } catch {
    // The list is a convenience: a damaged one is replaced by the next choice.
    return [];
  }
};

/** Remembers a choice, so that later sessions begin with it. False if it cannot be written. */
export const recordModelChoice = async (world: Pick<World, "files">, home: string, name: string): Promise<boolean> => {
  const others = (await readRecentModels(world, home)).filter((each) => each !== name);
  try {
    await world.files.writePrivate(recentFile(home), `${JSON.stringify([name, ...others].slice(0, maxRecent))}\n`);
    return true;
  } catch {
    return false;
  }
};
