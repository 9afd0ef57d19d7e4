import type { CommandContext, CommandWrite } from "../analysis.ts";
import { alwaysDenied, isDevicePath } from "../always-denied.ts";
import { listFoldersAfter, listOperands, resolveWordPaths, findWriteTargets, type WorkingFolders } from "./targets.ts";
import { commandName } from "./unwrap.ts";
import type { CommandEvent } from "./collect.ts";
import type { CommandWords } from "./nested.ts";
import { literalText, sourceText, type PossibleWord } from "../parse/word.ts";

/** The effects of a command line on files, as far as its text shows them. */
export type FileEffects = {
  readonly writes: readonly CommandWrite[];
  readonly operandPaths: readonly string[];
  readonly readsOutside: boolean;
  readonly writesOutside: boolean;
  readonly alwaysDeniedReason: string | undefined;
};

/** Resolves the files a command line writes, and whether it reads outside the workspace, from every folder it may be in. */
export const resolveFileEffects = async (
  events: readonly CommandEvent[],
  context: CommandContext,
): Promise<FileEffects> => {
  const { home, roots } = context;
  const written = new Map<string, "changed" | "removed">();
  const mentionedPaths = new Set<string>();
  const operandPaths = new Set<string>();
  let workingFolders: WorkingFolders = { folders: [context.folder], home };
  let alwaysDeniedReason: string | undefined;
  for (const event of events) {
    const targets = event.type === "write" ? [event.target] : findWriteTargets(event.words);
    const change =
      event.type === "run" && /^(?:rm|rmdir|unlink|shred)$/.test(commandName(event.words) ?? "")
        ? "removed"
        : "changed";
    for (const path of targets.flatMap((target) => resolveWordPaths(target, workingFolders)))
      if (change === "changed" || !written.has(path)) written.set(path, change);
    if (event.type === "write") continue;
    alwaysDeniedReason ??= alwaysDenied(event.words, workingFolders, roots);
    for (const path of listPossiblePaths(event.words).flatMap((word) => resolveWordPaths(word, workingFolders)))
      operandPaths.add(path);
    for (const path of listOperands(event.words)
      .filter(mayLeaveFolder)
      .flatMap((word) => resolveWordPaths(word, workingFolders)))
      mentionedPaths.add(path);
    workingFolders = { home, folders: listFoldersAfter(event.words, workingFolders) };
  }
  if (written.size > maxPaths) alwaysDeniedReason ??= "it writes to too many files to check";
  const device = [...written.keys()].find(isDevicePath);
  const writes = await Promise.all(
    [...written].slice(0, maxPaths).map(([path, change]) => classifyWrite(path, change, context)),
  );
  const areInside = await Promise.all([...mentionedPaths].slice(0, maxPaths).map((path) => context.isInside(path)));
  return {
    writes,
    operandPaths: [...operandPaths].slice(0, maxPaths),
    readsOutside: mentionedPaths.size > maxPaths || areInside.includes(false),
    writesOutside: writes.some(({ place }) => place === "outside"),
    alwaysDeniedReason: alwaysDeniedReason ?? (device && `it writes to the device ${device}`),
  };
};

const maxPaths = 1000;

/** The words that may be paths: operands, and values of options after an equals sign. */
const listPossiblePaths = (words: CommandWords): readonly PossibleWord[] => [
  ...listOperands(words),
  ...words.flatMap((word) => {
    const value = /^-[^=]*=(.+)$/s.exec(literalText(word) ?? "")?.[1];
    return value === undefined ? [] : [[value]];
  }),
];

/** Whether a word may lead out of the folder it is used in. */
const mayLeaveFolder = (word: PossibleWord): boolean => /^[/~$]|\.\./.test(sourceText(word));

const classifyWrite = async (
  path: string,
  change: "changed" | "removed",
  { isInside, protection }: CommandContext,
): Promise<CommandWrite> => {
  if (path.startsWith("/dev/")) return { path, place: "free", reason: "The device stores nothing." };
  const { level, reason } = await protection(path);
  if (level === "deny") return { path, place: "denied", reason };
  if (!(await isInside(path))) return { path, place: "outside", reason: `${path} is outside the workspace.` };
  // Removing a file that is run automatically does no harm.
  return level === "ask" && change === "changed"
    ? { path, place: "protected", reason }
    : { path, place: "free", reason };
};
