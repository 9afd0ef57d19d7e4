import type { CommandContext, CommandWrite } from "../analysis.ts";
import { alwaysDenied, isDevicePath } from "../always-denied.ts";
import { listFoldersAfter, listOperands, resolveWordPaths, findWriteTargets, type WorkingFolders } from "./targets.ts";
import { commandName } from "./unwrap.ts";
import type { CommandEvent } from "./collect.ts";
import { sourceText, type PossibleWord } from "../parse/word.ts";

/** What a line does to files, as far as it is seen. */
export type FileEffects = {
  readonly writes: readonly CommandWrite[];
  readonly readsOutside: boolean;
  readonly writesOutside: boolean;
  readonly alwaysDeniedReason: string | undefined;
};

/** Follows a line through the folders it may be in, and tells what it writes and where it reads. */
export const resolveFileEffects = async (
  events: readonly CommandEvent[],
  context: CommandContext,
): Promise<FileEffects> => {
  const { home, roots } = context;
  const written = new Map<string, "changed" | "removed">();
  const named = new Set<string>();
  let places: WorkingFolders = { folders: [context.folder], home };
  let floor: string | undefined;
  for (const event of events) {
    const targets = event.type === "write" ? [event.target] : findWriteTargets(event.words);
    const how =
      event.type === "run" && /^(?:rm|rmdir|unlink|shred)$/.test(commandName(event.words) ?? "")
        ? "removed"
        : "changed";
    for (const path of targets.flatMap((target) => resolveWordPaths(target, places)))
      if (how === "changed" || !written.has(path)) written.set(path, how);
    if (event.type === "write") continue;
    floor ??= alwaysDenied(event.words, places, roots);
    for (const path of listOperands(event.words)
      .filter(mayLeaveFolder)
      .flatMap((word) => resolveWordPaths(word, places)))
      named.add(path);
    places = { home, folders: listFoldersAfter(event.words, places) };
  }
  if (written.size > maxPaths) floor ??= "it writes to more files than can be looked at";
  const device = [...written.keys()].find(isDevicePath);
  const writes = await Promise.all(
    [...written].slice(0, maxPaths).map(([path, how]) => classifyWrite(path, how, context)),
  );
  const near = await Promise.all([...named].slice(0, maxPaths).map((path) => context.isInside(path)));
  return {
    writes,
    readsOutside: named.size > maxPaths || near.includes(false),
    writesOutside: writes.some(({ place }) => place === "outside"),
    alwaysDeniedReason: floor ?? (device && `it would write to the device ${device}`),
  };
};

const maxPaths = 1000;

/** Whether a word may lead out of the folder it is used in. */
const mayLeaveFolder = (word: PossibleWord): boolean => /^[/~$]|\.\./.test(sourceText(word));

const classifyWrite = async (
  path: string,
  how: "changed" | "removed",
  { isInside, protection }: CommandContext,
): Promise<CommandWrite> => {
  if (path.startsWith("/dev/")) return { path, place: "free", reason: "It keeps nothing." };
  const { level, reason } = await protection(path);
  if (level === "deny") return { path, place: "kept", reason };
  if (!(await isInside(path))) return { path, place: "outside", reason: `${path} lies outside the workspace.` };
  // What runs by being there does not run by being gone.
  return level === "ask" && how === "changed" ? { path, place: "guarded", reason } : { path, place: "free", reason };
};
