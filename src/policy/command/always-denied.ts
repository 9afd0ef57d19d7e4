import { posix } from "node:path";
import type { CommandWords } from "./effects/nested.ts";
import { commandName } from "./effects/unwrap.ts";
import { listOperands, type WorkingFolders } from "./effects/targets.ts";
import { literalText, sourceText, type PossibleWord } from "./parse/word.ts";

/** Returns why no mode and no rule allows this command (it would destroy a disk or a home folder); undefined otherwise. */
export const alwaysDenied = (
  words: CommandWords,
  places: WorkingFolders,
  roots: readonly string[],
): string | undefined => {
  // An unknown command name is treated as the most destructive one.
  const knownName = commandName(words);
  const name = knownName ?? "rm";
  const operands = listOperands(words);
  const hasOption = (option: RegExp): boolean => words.some((word, at) => at > 0 && option.test(sourceText(word)));
  if (/^(?:mkfs(?:\..*)?|mke2fs|mkswap|mkdosfs|mkntfs|wipefs|blkdiscard)$/.test(name) && operands.length > 0)
    return `${name} overwrites a device`;
  if (
    /^(?:[sc]?fdisk|s?gdisk|parted|cryptsetup|hdparm)$/.test(name) &&
    !hasOption(/^-l$|^--list/) &&
    operands.some(isDevice)
  )
    return `${name} changes a device`;
  const removes =
    (name === "rm" && hasOption(recursiveOption)) ||
    (/^(?:chmod|chown|chgrp)$/.test(name) && hasOption(recursiveOption)) ||
    name === "mv" ||
    (name === "find" && hasOption(/^-(?:delete|exec|execdir)$/));
  const targetCount =
    name === "find"
      ? countStartFolders(operands)
      : name === "mv" && !hasOption(/^(?:-t|--target-directory)/)
        ? -1
        : undefined;
  const targets = operands.slice(0, targetCount);
  const vitalPath = removes ? targets.find((word) => isVitalPath(word, places, roots)) : undefined;
  return vitalPath && `${knownName ?? "it may be rm, which"} would remove or change ${sourceText(vitalPath)}`;
};

const recursiveOption = /^(?:-[a-zA-Z]*[rR][a-zA-Z]*|--r(?:e(?:c(?:u(?:r(?:s(?:i(?:v(?:e)?)?)?)?)?)?)?)?)$/;

/** Counts the start folders among find's operands. */
const countStartFolders = (operands: readonly PossibleWord[]): number => {
  const targetCount = operands.findIndex((word) => /^[(!]/.test(sourceText(word)));
  return targetCount < 0 ? operands.length : targetCount;
};

/** Whether a word means the whole disk, a folder right below it, the home folder, or a folder that contains the home folder or a workspace root. */
const isVitalPath = (word: PossibleWord, { folders, home }: WorkingFolders, roots: readonly string[]): boolean => {
  const text = sourceText(word).replace(/^(?:~[^/]*|\$HOME(?!\w)|\$\{HOME[^}]*\})(?=\/|$)/, () => home);
  const withoutGlob = text.replace(/(?:^|\/+)(?:\.?\*+|\.\[!\.\]\*|\.\.?\?\*)$/, "/");
  if (/[$`]/.test(withoutGlob) && literalText(word) === undefined) return false;
  // A glob for everything in a folder counts as that folder; "/" is the root only if the word itself started with it.
  const base = withoutGlob === "/" && !text.startsWith("/") ? "." : withoutGlob;
  return folders.some((folder) => {
    const path = posix.resolve(folder, base);
    if (posix.dirname(path) === "/") return true;
    return [home, ...roots].some((vitalFolder) =>
      vitalFolder === path ? vitalFolder === home : vitalFolder.startsWith(`${path}/`),
    );
  });
};

/** Whether a path is a device that stores data or controls the machine. */
export const isDevicePath = (path: string): boolean =>
  (path.startsWith("/dev/") &&
    !/^\/dev\/(?:null|zero|full|u?random|tty|std(?:in|out|err)|ptmx|(?:fd|pts|shm|tcp|udp)\/.*)$/.test(path)) ||
  path === "/proc/sysrq-trigger";

const isDevice = (word: PossibleWord): boolean => isDevicePath(sourceText(word));
