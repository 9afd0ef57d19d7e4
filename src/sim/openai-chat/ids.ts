import { createHash } from "node:crypto";
import type { ChatSimRequest } from "./quirks.ts";

/** Letters that look drawn at random: the same request and purpose always give the same ones. At most 64. */
export const pseudoRandomLetters = (
  ask: ChatSimRequest,
  purpose: string,
  length: number,
  alphabet: string = alphanumeric,
): string => deriveLetters(`${ask.provider.id} ${ask.ordinal} ${ask.time} ${purpose}`, length, alphabet);

/** The same, in hexadecimal digits. */
export const pseudoRandomHex = (ask: ChatSimRequest, purpose: string, length: number): string =>
  pseudoRandomLetters(ask, purpose, length, digits);

/** The same, as a UUID. */
export const pseudoRandomUuid = (ask: ChatSimRequest, purpose: string): string =>
  asUuid(pseudoRandomHex(ask, purpose, 32));

/** The number of a request as 32 hexadecimal digits, for its headers. */
export const requestNumber = (provider: string, ordinal: number): string =>
  deriveLetters(`${provider} ${ordinal}`, 32, digits);

/** 32 hexadecimal digits as a UUID of version 4. */
export const asUuid = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;

/** Small letters and digits, in which several vendors write their ids. */
export const lowerAlphanumeric = "abcdefghijklmnopqrstuvwxyz0123456789";

/** When a request was answered, in whole seconds. */
export const createdSeconds = ({ time }: ChatSimRequest): number => Math.floor(time);

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const digits = "0123456789abcdef";

const deriveLetters = (seed: string, length: number, alphabet: string): string =>
  [...createHash("sha512").update(seed).digest()]
    .slice(0, length)
    .map((byte) => alphabet[byte % alphabet.length])
    .join("");
