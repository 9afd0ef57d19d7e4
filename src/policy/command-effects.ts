import type { CommandContext, Write } from "./command-analysis.ts";
import { floorOf, isDevicePath } from "./command-floor.ts";
import { foldersAfter, operandsOf, pathsOf, writtenBy, type Places } from "./command-reach.ts";
import { nameOf } from "./command-open.ts";
import type { SeenEvent } from "./command-sight.ts";
import { spelled, type PossibleWord } from "./command-word.ts";

/** What a line does to files, as far as it is seen. */
export type Effects = {
  readonly writes: readonly Write[];
  readonly readsOutside: boolean;
  readonly writesOutside: boolean;
  readonly floor: string | undefined;
};

/** Follows a line through the folders it may be in, and tells what it writes and where it reads. */
export const effectsOf = async (events: readonly SeenEvent[], context: CommandContext): Promise<Effects> => {
  const { home, roots } = context;
  const written = new Map<string, "changed" | "removed">();
  const named = new Set<string>();
  let places: Places = { folders: [context.folder], home };
  let floor: string | undefined;
  for (const event of events) {
    const targets = event.type === "write" ? [event.target] : writtenBy(event.words);
    const how =
      event.type === "run" && /^(?:rm|rmdir|unlink|shred)$/.test(nameOf(event.words) ?? "") ? "removed" : "changed";
    for (const path of targets.flatMap((target) => pathsOf(target, places)))
      if (how === "changed" || !written.has(path)) written.set(path, how);
    if (event.type === "write") continue;
    floor ??= floorOf(event.words, places, roots);
    for (const path of operandsOf(event.words)
      .filter(looksFar)
      .flatMap((word) => pathsOf(word, places)))
      named.add(path);
    places = { home, folders: foldersAfter(event.words, places) };
  }
  if (written.size > most) floor ??= "it writes to more files than can be looked at";
  const device = [...written.keys()].find(isDevicePath);
  const writes = await Promise.all([...written].slice(0, most).map(([path, how]) => placed(path, how, context)));
  const near = await Promise.all([...named].slice(0, most).map((path) => context.isInside(path)));
  return {
    writes,
    readsOutside: named.size > most || near.includes(false),
    writesOutside: writes.some(({ place }) => place === "outside"),
    floor: floor ?? (device && `it would write to the device ${device}`),
  };
};

const most = 1000;

/** Whether a word may lead out of the folder it is used in. */
const looksFar = (word: PossibleWord): boolean => /^[/~$]|\.\./.test(spelled(word));

const placed = async (
  path: string,
  how: "changed" | "removed",
  { isInside, protection }: CommandContext,
): Promise<Write> => {
  if (path.startsWith("/dev/")) return { path, place: "free", reason: "It keeps nothing." };
  const { level, reason } = await protection(path);
  if (level === "deny") return { path, place: "kept", reason };
  if (!(await isInside(path))) return { path, place: "outside", reason: `${path} lies outside the workspace.` };
  // What runs by being there does not run by being gone.
  return level === "ask" && how === "changed" ? { path, place: "guarded", reason } : { path, place: "free", reason };
};
