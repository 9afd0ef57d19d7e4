import { createHash } from "node:crypto";
import type { ChatSimRequest } from "./quirks.ts";

/** Pseudo-random letters derived from the request and the purpose. At most 64. */
export const pseudoRandomLetters = (
  request: ChatSimRequest,
  purpose: string,
  length: number,
  alphabet: string = alphanumeric,
): string => deriveLetters(`${request.provider.id} ${request.ordinal} ${request.time} ${purpose}`, length, alphabet);

/** Pseudo-random hexadecimal digits. */
export const pseudoRandomHex = (request: ChatSimRequest, purpose: string, length: number): string =>
  pseudoRandomLetters(request, purpose, length, digits);

/** A pseudo-random UUID. */
export const pseudoRandomUuid = (request: ChatSimRequest, purpose: string): string =>
  asUuid(pseudoRandomHex(request, purpose, 32));

/** The number of a request as 32 hexadecimal digits, for its headers. */
export const requestNumber = (provider: string, ordinal: number): string =>
  deriveLetters(`${provider} ${ordinal}`, 32, digits);

/** 32 hexadecimal digits as a UUID of version 4. */
export const asUuid = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;

/** The alphabet of several vendors' ids. */
export const lowerAlphanumeric = "abcdefghijklmnopqrstuvwxyz0123456789";

/** The time of the response in whole seconds. */
export const createdSeconds = ({ time }: ChatSimRequest): number => Math.floor(time);

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const digits = "0123456789abcdef";

const deriveLetters = (seed: string, length: number, alphabet: string): string =>
  [...createHash("sha512").update(seed).digest()]
    .slice(0, length)
    .map((byte) => alphabet[byte % alphabet.length])
    .join("");
