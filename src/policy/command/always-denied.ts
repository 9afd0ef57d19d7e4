import { posix } from "node:path";
import type { CommandWords } from "./effects/nested.ts";
import { commandName } from "./effects/unwrap.ts";
import { listOperands, type WorkingFolders } from "./effects/targets.ts";
import { literalText, sourceText, type PossibleWord } from "./parse/word.ts";

/** Why no mode and no rule runs this command; undefined where nothing of the kind is known. */
export const alwaysDenied = (
  words: CommandWords,
  places: WorkingFolders,
  roots: readonly string[],
): string | undefined => {
  // A command whose name is not known may be the worst there is.
  const known = commandName(words);
  const name = known ?? "rm";
  const operands = listOperands(words);
  const has = (option: RegExp): boolean => words.some((word, at) => at > 0 && option.test(sourceText(word)));
  if (/^(?:mkfs(?:\..*)?|mke2fs|mkswap|mkdosfs|mkntfs|wipefs|blkdiscard)$/.test(name) && operands.length > 0)
    return `${name} writes over a device`;
  if (/^(?:[sc]?fdisk|s?gdisk|parted|cryptsetup|hdparm)$/.test(name) && !has(/^-l$|^--list/) && operands.some(isDevice))
    return `${name} changes a device`;
  const removes =
    (name === "rm" && has(recursiveOption)) ||
    (/^(?:chmod|chown|chgrp)$/.test(name) && has(recursiveOption)) ||
    name === "mv" ||
    (name === "find" && has(/^-(?:delete|exec|execdir)$/));
  const end =
    name === "find"
      ? countStartFolders(operands)
      : name === "mv" && !has(/^(?:-t|--target-directory)/)
        ? -1
        : undefined;
  const targets = operands.slice(0, end);
  const vital = removes ? targets.find((word) => isVitalPath(word, places, roots)) : undefined;
  return vital && `${known ?? "it may be rm, which"} would take ${sourceText(vital)} with it`;
};

const recursiveOption = /^(?:-[a-zA-Z]*[rR][a-zA-Z]*|--r(?:e(?:c(?:u(?:r(?:s(?:i(?:v(?:e)?)?)?)?)?)?)?)?)$/;

/** How many of find's words are the folders it starts from. */
const countStartFolders = (operands: readonly PossibleWord[]): number => {
  const end = operands.findIndex((word) => /^[(!]/.test(sourceText(word)));
  return end < 0 ? operands.length : end;
};

/** The whole disk, a folder right below it, the home folder, or anything a root of the workspace or the home folder is in. */
const isVitalPath = (word: PossibleWord, { folders, home }: WorkingFolders, roots: readonly string[]): boolean => {
  const text = sourceText(word).replace(/^(?:~[^/]*|\$HOME(?!\w)|\$\{HOME[^}]*\})(?=\/|$)/, () => home);
  const whole = text.replace(/(?:^|\/+)(?:\.?\*+|\.\[!\.\]\*|\.\.?\?\*)$/, "/");
  if (/[$`]/.test(whole) && literalText(word) === undefined) return false;
  // What stood alone for everything in a folder is that folder; "/" alone is the root only where it was written so.
  const base = whole === "/" && !text.startsWith("/") ? "." : whole;
  return folders.some((folder) => {
    const path = posix.resolve(folder, base);
    if (posix.dirname(path) === "/") return true;
    return [home, ...roots].some((kept) => (kept === path ? kept === home : kept.startsWith(`${path}/`)));
  });
};

/** Whether a path is a device that holds data, or switches the machine. */
export const isDevicePath = (path: string): boolean =>
  (path.startsWith("/dev/") &&
    !/^\/dev\/(?:null|zero|full|u?random|tty|std(?:in|out|err)|ptmx|(?:fd|pts|shm|tcp|udp)\/.*)$/.test(path)) ||
  path === "/proc/sysrq-trigger";

const isDevice = (word: PossibleWord): boolean => isDevicePath(sourceText(word));
