import { hashToken, isSameSecret } from "../http/request-guard.ts";

/** Finds the tenant of a token; undefined if the token is worth nothing. */
export type AuthenticateToken = (token: string) => Promise<string | undefined>;

/** A token in a file: its digest, and the tenant it is for. */
export type StoredToken = { readonly sha256: string; readonly tenant: string };

/** Accepts random tokens whose digests are known. Every digest is compared, so the time says nothing about which fits. */
export const acceptTokens =
  (tokens: readonly StoredToken[]): AuthenticateToken =>
  async (token) => {
    const given = hashToken(token);
    let tenant: string | undefined;
    for (const stored of tokens) if (isSameSecret(stored.sha256, given)) tenant = stored.tenant;
    return tenant;
  };

/** Accepts what the first of several ways accepts. */
export const acceptAny =
  (ways: readonly AuthenticateToken[]): AuthenticateToken =>
  async (token) => {
    for (const way of ways) {
      const tenant = await way(token);
      if (tenant !== undefined) return tenant;
    }
    return undefined;
  };

/** Reads a file of tokens: `{"tokens": [{"sha256": "...", "tenant": "..."}]}`. Throws an error that names the wrong place. */
export const parseTokenFile = (value: unknown): readonly StoredToken[] => {
  const tokens: unknown = typeof value === "object" && value !== null && "tokens" in value ? value.tokens : undefined;
  if (!Array.isArray(tokens)) throw new Error('Expected {"tokens": [{"sha256": "...", "tenant": "..."}]}.');
  return tokens.map((token: unknown, index) => {
    const { sha256, tenant } = (typeof token === "object" && token !== null ? token : {}) as Record<string, unknown>;
    if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256))
      throw new Error(
        `tokens[${index}].sha256: expected the SHA-256 of the token in hexadecimal, never the token itself.`,
      );
    if (typeof tenant !== "string" || tenant === "") throw new Error(`tokens[${index}].tenant: expected a name.`);
    return { sha256, tenant };
  });
};
