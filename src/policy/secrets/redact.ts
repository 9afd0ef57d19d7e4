import type { Environment } from "../../world/world.ts";
import { isSecretName } from "./names.ts";
import { secretPlaceholder, redactPatterns } from "./patterns.ts";

/** Knows the secrets of this run, and what keys in general look like. */
export type Redactor = {
  /** The text with `[secret]` in place of every secret. Doing it twice changes nothing. */
  readonly redact: (text: string) => string;
  /** Whether a text holds a secret, plain or encoded, also where letters lost their case. */
  readonly containsSecret: (text: string) => boolean;
};

/**
 * A redactor for the values of variables whose names say that they are secret,
 * for other secrets that are known, and for everything shaped like a key. A known
 * secret is found in base64, hex, JSON and URL encoding as well.
 */
export const createRedactor = ({
  env = {},
  secrets = [],
}: {
  readonly env?: Environment;
  readonly secrets?: readonly string[];
} = {}): Redactor => {
  const known = [...collectSecrets(env), ...secrets].filter((secret) => secret.length >= minSecretLength);
  const forms = [...new Set(known.flatMap(listEncodings))].toSorted((one, other) => other.length - one.length);
  const folded = forms.map((form) => form.toLowerCase());
  const redact = (text: string): string =>
    redactPatterns(forms.reduce((clean, form) => clean.replaceAll(form, secretPlaceholder), text));
  return {
    redact,
    containsSecret: (text) => {
      const lower = text.toLowerCase();
      return folded.some((form) => lower.includes(form)) || redactPatterns(text) !== text;
    },
  };
};

/** Shorter values are words that stand everywhere. */
const minSecretLength = 8;

const collectSecrets = (env: Environment): readonly string[] =>
  Object.entries(env).flatMap(([name, value = ""]) => [
    ...(isSecretName(name) && !isPath(name, value) ? [value, ...listLongLines(value)] : []),
    ...collectPasswords(value),
  ]);

/** Where a secret is kept is none. */
const isPath = (name: string, value: string): boolean =>
  /(FILE|PATH|DIR|SOCK|CREDENTIALS)$/i.test(name) && /^(~?\/|[A-Za-z]:\\)/.test(value);

const listLongLines = (value: string): readonly string[] =>
  value.includes("\n") ? value.split(/\r?\n/).filter((line) => line.length >= 16) : [];

const collectPasswords = (value: string): readonly string[] => {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/]*@/i.test(value) || !URL.canParse(value)) return [];
  const { password } = new URL(value);
  return [password, decodeComponent(password)];
};

const decodeComponent = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Every spelling in which a secret is still one. */
const listEncodings = (secret: string): readonly string[] => {
  const bytes = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    bytes.toString("base64url"),
    bytes.toString("base64").replace(/=+$/, ""),
    ...[0, 1, 2].flatMap((before) => base64Fragments(bytes, before)),
  ].filter((form) => form.length >= minSecretLength);
};

/** What all base64 of texts with this secret inside has in common, by how many bytes stand before it in a group of three. */
const base64Fragments = (bytes: Buffer, before: number): readonly string[] => {
  const padded = Buffer.concat([Buffer.alloc(before), bytes]);
  const whole = padded.toString("base64").replace(/=+$/, "");
  const inner = whole.slice(Math.ceil((before * 8) / 6), padded.length % 3 === 0 ? undefined : -1);
  return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
};
