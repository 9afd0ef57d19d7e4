import { fingerprint } from "../hash.ts";

/** Whether a name is a single path component, so that it cannot lead elsewhere. */
export const isSingleComponent = (name: string, platform: string = process.platform): boolean =>
  name !== "" && name !== "." && name !== ".." && !(platform === "win32" ? /[/\\:\0]/ : /[/\0]/).test(name);

/** A random name for a temporary file. If a file of that name exists, creating it exclusively fails. */
export const createTempName = (): string => `.parley-${randomHex()}${randomHex()}.tmp`;

/** The one name for the next version of a file: creating this file exclusively is the lock on the other. */
export const tempLockName = (name: string): string => `.parley-${fingerprint(name)}.tmp`;

/** Whether a file is one of our temporary files; an old one was left by a process that was killed. */
export const isTempName = (name: string): boolean => /^\.parley-[0-9a-f]{16,24}\.tmp$/.test(name);

const randomHex = (): string =>
  Math.floor(Math.random() * 2 ** 48)
    .toString(16)
    .padStart(12, "0");

/** Age in milliseconds after which an untouched temporary file counts as abandoned. */
export const staleTempAge = 10_000;
