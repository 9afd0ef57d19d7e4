import type { Environment } from "../../world/world.ts";

/** Where the means to sign requests were found, in words that hold no secret; or what to do to have some. */
export type CredentialStatus =
  | { readonly found: true; readonly from: string; readonly kind: CredentialKind }
  | { readonly found: false; readonly how: string };

/** What signs a request: nothing, a key, a token somebody else made, AWS keys, Google's, or a sign-in of our own. */
type CredentialKind = "none" | "key" | "token" | "aws" | "google" | "sign-in";

/** Why a request could not be signed, before it is said whose request it was. The message holds no secret. */
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

/** A secret and the variable it came from. */
export type EnvironmentKey = { readonly name: string; readonly secret: string };

/** The first of these variables that holds something. A value no header can carry is refused rather than sent. */
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
