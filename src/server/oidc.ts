import { createPublicKey, verify, type JsonWebKey, type KeyObject } from "node:crypto";
import type { AuthenticateToken } from "./authenticate.ts";

/** An identity provider whose tokens are accepted. */
export type OidcOptions = {
  /** The issuer, exactly as tokens name it. */
  readonly issuer: string;
  /** The audience tokens must be for. */
  readonly audience: string;
  /** The claim that names the tenant. Default: `sub`. */
  readonly tenantClaim?: string;
  /** Where the keys are. Default: as the issuer's discovery document says. */
  readonly jwksUrl?: string;
  readonly fetchJson: (url: string) => Promise<unknown>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** Seconds by which clocks may differ. */
const leeway = 60;
/** Milliseconds between two downloads because of an unknown key: a token with a made-up key id causes no storm. */
const minRefresh = 30_000;
/** Milliseconds after which keys are downloaded again, so that a key that was withdrawn ends. */
const maxAge = 3_600_000;

/**
 * Accepts signed tokens of an identity provider: RS256, ES256 or EdDSA by a key of its published set, for this issuer and
 * audience, in their time. The algorithm is decided by the key, never by the token alone, so `none` and a public key used as
 * a secret are refused. An unknown key id causes one download (key rotation).
 */
export const acceptOidcTokens = (options: OidcOptions): AuthenticateToken => {
  const keys = new KeySet(options);
  return async (token) => {
    const [head, body, signature, ...more] = token.split(".");
    if (head === undefined || body === undefined || signature === undefined || more.length > 0) return undefined;
    const { alg, kid, crit } = parsePart(head);
    // An extension the verifier must understand (RFC 7515, 4.1.11); none is understood here.
    if (crit !== undefined || typeof alg !== "string") return undefined;
    const key = await keys.find(typeof kid === "string" ? kid : undefined, alg);
    const signed = Buffer.from(`${head}.${body}`);
    if (key === undefined || !isSignedBy(key, signed, Buffer.from(signature, "base64url"))) return undefined;
    const claims = parsePart(body);
    if (!isMeantForUs(claims, options)) return undefined;
    const tenant = claims[options.tenantClaim ?? "sub"];
    return typeof tenant === "string" && tenant !== "" ? tenant : undefined;
  };
};

type Claims = { readonly [name: string]: unknown };
type SigningKey = { readonly kid: string | undefined; readonly alg: SigningAlgorithm; readonly key: KeyObject };
type SigningAlgorithm = "RS256" | "ES256" | "EdDSA";

const parsePart = (part: string): Claims => {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Claims) : {};
  } catch {
    return {};
  }
};

const isSignedBy = ({ alg, key }: SigningKey, bytes: Buffer, signature: Buffer): boolean => {
  try {
    if (alg === "EdDSA") return verify(null, bytes, key, signature);
    return verify("sha256", bytes, alg === "ES256" ? { key, dsaEncoding: "ieee-p1363" } : key, signature);
  } catch {
    return false;
  }
};

const isMeantForUs = ({ iss, aud, exp, nbf }: Claims, { issuer, audience, now }: OidcOptions): boolean => {
  const seconds = now() / 1000;
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  return (
    iss === issuer &&
    audiences.includes(audience) &&
    typeof exp === "number" &&
    exp > seconds - leeway &&
    (nbf === undefined || (typeof nbf === "number" && nbf <= seconds + leeway))
  );
};

/** The keys an issuer publishes. */
class KeySet {
  readonly #options: OidcOptions;
  #keys: readonly SigningKey[] = [];
  #loadedAt: number | undefined;
  #loading: Promise<void> | undefined;

  constructor(options: OidcOptions) {
    this.#options = options;
  }

  async find(kid: string | undefined, alg: string): Promise<SigningKey | undefined> {
    const age = this.#loadedAt === undefined ? Infinity : this.#options.now() - this.#loadedAt;
    if (age > maxAge) await this.#reload();
    const known = this.#select(kid, alg);
    if (known !== undefined || age <= minRefresh) return known;
    if (age <= maxAge) await this.#reload();
    return this.#select(kid, alg);
  }

  /** Without a key id, the only key of the algorithm fits. */
  #select(kid: string | undefined, alg: string): SigningKey | undefined {
    const fits = this.#keys.filter((key) => key.alg === alg && (kid === undefined || key.kid === kid));
    return fits.length === 1 ? fits[0] : undefined;
  }

  async #reload(): Promise<void> {
    this.#loading ??= this.#load().finally(() => (this.#loading = undefined));
    // Keys that are known stay while the issuer cannot be reached.
    await this.#loading.catch(() => undefined);
  }

  async #load(): Promise<void> {
    const { issuer, jwksUrl, fetchJson, now } = this.#options;
    const url = jwksUrl ?? (await findKeysUrl(issuer, fetchJson));
    const found = (await fetchJson(url)) as { readonly keys?: unknown } | null;
    this.#keys = (Array.isArray(found?.keys) ? found.keys : []).flatMap(readKey);
    this.#loadedAt = now();
  }
}

const findKeysUrl = async (issuer: string, fetchJson: OidcOptions["fetchJson"]): Promise<string> => {
  const found = (await fetchJson(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`)) as Claims | null;
  if (found?.["issuer"] !== issuer || typeof found["jwks_uri"] !== "string")
    throw new Error(`The discovery document of ${issuer} names another issuer or no keys.`);
  return found["jwks_uri"];
};

const readKey = (value: unknown): readonly SigningKey[] => {
  const jwk = value as JsonWebKey & { readonly kid?: string; readonly use?: string };
  if (typeof jwk !== "object" || jwk === null || (jwk.use !== undefined && jwk.use !== "sig")) return [];
  const alg = algorithmOf(jwk);
  if (alg === undefined) return [];
  try {
    return [{ kid: jwk.kid, alg, key: createPublicKey({ key: jwk, format: "jwk" }) }];
  } catch {
    return [];
  }
};

const algorithmOf = ({ kty, crv }: JsonWebKey): SigningAlgorithm | undefined => {
  if (kty === "RSA") return "RS256";
  if (kty === "EC" && crv === "P-256") return "ES256";
  return kty === "OKP" && crv === "Ed25519" ? "EdDSA" : undefined;
};
