import { fingerprint } from "./fingerprint.ts";

/** Whether a name is one component: nothing in it can lead elsewhere. */
export const isSingleComponent = (name: string, platform: string = process.platform): boolean =>
  name !== "" && name !== "." && name !== ".." && !(platform === "win32" ? /[/\\:\0]/ : /[/\0]/).test(name);

/** A name for a file on its way to another: nobody has one of that name, and whoever made one would only have this fail. */
export const createTempName = (): string => `.parley-${randomHex()}${randomHex()}.tmp`;

/** The one name for a new version of a file on its way: whoever makes this file holds the lock on the other. */
export const tempLockName = (name: string): string => `.parley-${fingerprint(name)}.tmp`;

/** Whether a file is on its way to another; an old one was left by a program that was killed. */
export const isTempName = (name: string): boolean => /^\.parley-[0-9a-f]{16,24}\.tmp$/.test(name);

const randomHex = (): string =>
  Math.floor(Math.random() * 2 ** 48)
    .toString(16)
    .padStart(12, "0");

/** How long a temporary file may stand untouched before its writer is taken to be gone, in milliseconds. */
export const staleTempAge = 10_000;
