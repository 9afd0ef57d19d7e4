import type { Environment } from "../../world/world.ts";

/** Where credentials were found, without any secret; or how to set them up. */
export type CredentialStatus =
  | { readonly found: true; readonly from: string; readonly kind: CredentialKind }
  | { readonly found: false; readonly how: string };

/** The kind of credentials: none, an API key, a token from outside, AWS keys, Google credentials, or our own OAuth sign-in. */
type CredentialKind = "none" | "key" | "token" | "aws" | "google" | "sign-in";

/** Thrown when a request cannot be signed. The message contains no secret. */
export class AuthError extends Error {
  readonly kind: "no-key" | "bad-key" | "network";
  /** The host that could not be reached. */
  readonly host: string;

  constructor(kind: "no-key" | "bad-key" | "network", message: string, host: string = "") {
    super(message);
    this.name = "AuthProblem";
    this.kind = kind;
    this.host = host;
  }
}

/** A secret and its environment variable. */
export type EnvironmentKey = { readonly name: string; readonly secret: string };

/** Reads the first of these variables that is set. A value that no HTTP header can hold is refused. */
export const readKey = (env: Environment, names: readonly string[]): EnvironmentKey | undefined => {
  for (const name of names) {
    const secret = env[name]?.trim() ?? "";
    if (secret === "") continue;
    if (!/^[\x21-\x7e]+$/.test(secret))
      throw new AuthError(
        "bad-key",
        `${name} holds a space, a line break or a character outside plain ASCII, which no key does.`,
      );
    return { name, secret };
  }
  return undefined;
};
