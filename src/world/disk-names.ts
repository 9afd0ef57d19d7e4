import { fingerprint } from "./fingerprint.ts";

/** Whether a name is one component: nothing in it can lead elsewhere. */
export const isPlainName = (name: string, platform: string = process.platform): boolean =>
  name !== "" && name !== "." && name !== ".." && !(platform === "win32" ? /[/\\:\0]/ : /[/\0]/).test(name);

/** A name for a file on its way to another: nobody has one of that name, and whoever made one would only have this fail. */
export const temporaryName = (): string => `.${unlikely()}${unlikely()}.tmp`;

/** The one name for a new version of a file on its way: whoever makes this file holds the lock on the other. */
export const lockingName = (name: string): string => `.${fingerprint(name)}.tmp`;

/** Whether a file was left on its way by a program that was killed. */
export const isTemporaryName = (name: string): boolean => /^\.[0-9a-f]+\.tmp$/.test(name);

const unlikely = (): string => Math.floor(Math.random() * 2 ** 48).toString(16);
