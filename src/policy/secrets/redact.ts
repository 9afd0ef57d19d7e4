import type { Environment } from "../../world/world.ts";
import { isSecretName } from "./names.ts";
import { secretPlaceholder, redactPatterns } from "./patterns.ts";

/** Redacts the known secrets of this run, and everything that looks like a key. */
export type Redactor = {
  /** Replaces every secret in a text by `[secret]`. Idempotent. */
  readonly redact: (text: string) => string;
  /** Whether a text contains a secret, plain or encoded, ignoring case. */
  readonly containsSecret: (text: string) => boolean;
};

/**
 * Creates a redactor for the values of variables with secret names, for other known secrets, and for everything
 * shaped like a key. Known secrets are also found in base64, hex, JSON and URL encoding.
 */
export const createRedactor = ({
  env = {},
  secrets = [],
}: {
  readonly env?: Environment;
  readonly secrets?: readonly string[];
} = {}): Redactor => {
  const known = [...collectSecrets(env), ...secrets].filter((secret) => secret.length >= minSecretLength);
  const encodings = [...new Set(known.flatMap(listEncodings))].toSorted((one, other) => other.length - one.length);
  const lowerCaseEncodings = encodings.map((encoding) => encoding.toLowerCase());
  const redact = (text: string): string =>
    redactPatterns(encodings.reduce((clean, encoding) => clean.replaceAll(encoding, secretPlaceholder), text));
  return {
    redact,
    containsSecret: (text) => {
      const lower = text.toLowerCase();
      return lowerCaseEncodings.some((encoding) => lower.includes(encoding)) || redactPatterns(text) !== text;
    },
  };
};

/** Shorter values are common words. */
const minSecretLength = 8;

const collectSecrets = (env: Environment): readonly string[] =>
  Object.entries(env).flatMap(([name, value = ""]) => [
    ...(isSecretName(name) && !isPath(name, value) ? [value, ...listLongLines(value)] : []),
    ...collectPasswords(value),
  ]);

/** The path of a secret is not itself a secret. */
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

/** Lists the encodings of a secret. */
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
  ].filter((encoding) => encoding.length >= minSecretLength);
};

/** The part that the base64 of every text containing this secret has in common, given how many bytes precede it in a group of three. */
const base64Fragments = (bytes: Buffer, before: number): readonly string[] => {
  const padded = Buffer.concat([Buffer.alloc(before), bytes]);
  const whole = padded.toString("base64").replace(/=+$/, "");
  const inner = whole.slice(Math.ceil((before * 8) / 6), padded.length % 3 === 0 ? undefined : -1);
  return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
};
