import { createHmac, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acceptOidcTokens } from "../../src/server/oidc.ts";
import type { AuthenticateToken } from "../../src/server/authenticate.ts";

/* A real issuer on loopback: discovery, keys, and tokens signed with Node's own crypto. */

type IssuerKey = {
  readonly kid: string;
  readonly alg: string;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
};

const makeKey = (kid: string, alg: string): IssuerKey => {
  if (alg === "RS256") return { kid, alg, ...generateKeyPairSync("rsa", { modulusLength: 2048 }) };
  if (alg === "ES256") return { kid, alg, ...generateKeyPairSync("ec", { namedCurve: "P-256" }) };
  return { kid, alg, ...generateKeyPairSync("ed25519") };
};

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const signToken = ({ kid, alg, privateKey }: IssuerKey, claims: object, head: object = {}): string => {
  const text = `${encode({ alg, kid, ...head })}.${encode(claims)}`;
  const bytes = Buffer.from(text);
  const signature =
    alg === "EdDSA"
      ? sign(null, bytes, privateKey)
      : sign("sha256", bytes, alg === "ES256" ? { key: privateKey, dsaEncoding: "ieee-p1363" } : privateKey);
  return `${text}.${signature.toString("base64url")}`;
};

const now = Date.UTC(2026, 0, 1);
const seconds = now / 1000;
let issuer: string;
let published: IssuerKey[];
let downloads: number;
let clock: number;
let close: () => Promise<unknown>;
let authenticate: AuthenticateToken;

beforeEach(async () => {
  published = ["RS256", "ES256", "EdDSA"].map((alg) => makeKey(alg.toLowerCase(), alg));
  [downloads, clock] = [0, now];
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.url === "/.well-known/openid-configuration")
      return response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }));
    downloads += 1;
    const keys = published.map(({ kid, publicKey }) => ({ ...publicKey.export({ format: "jwk" }), kid, use: "sig" }));
    return response.end(JSON.stringify({ keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () => new Promise((resolve) => server.close(resolve));
  authenticate = acceptOidcTokens({
    issuer,
    audience: "parley",
    now: () => clock,
    fetchJson: async (url) => (await fetch(url, { headers: { connection: "close" } })).json() as Promise<unknown>,
  });
});
afterEach(() => close());

const claims = (changed: object = {}): object => ({
  iss: issuer,
  aud: "parley",
  sub: "acme",
  exp: seconds + 300,
  nbf: seconds - 10,
  ...changed,
});

describe("a signed token", () => {
  it.each(["rs256", "es256", "eddsa"])("of a published key is worth its tenant: %s", async (kid) => {
    const key = published.find((each) => each.kid === kid)!;
    expect(await authenticate(signToken(key, claims()))).toBe("acme");
    expect(await authenticate(signToken(key, claims({ aud: ["other", "parley"] })))).toBe("acme");
  });

  it.each<readonly [string, object]>([
    ["another issuer", { iss: "https://evil.example" }],
    ["another audience", { aud: "other" }],
    ["no audience", { aud: undefined }],
    ["an end that is past", { exp: seconds - 61 }],
    ["no end", { exp: undefined }],
    ["a beginning that is to come", { nbf: seconds + 61 }],
    ["no tenant", { sub: undefined }],
    ["an empty tenant", { sub: "" }],
  ])("is worth nothing with %s", async (_, changed) => {
    expect(await authenticate(signToken(published[0]!, claims(changed)))).toBeUndefined();
  });

  it("is worth nothing without a signature, with a changed body, or with a critical extension", async () => {
    const [rs] = published as [IssuerKey];
    const good = signToken(rs, claims());
    const [head = "", , signature = ""] = good.split(".");
    const forged = [
      `${encode({ alg: "none" })}.${encode(claims())}.`,
      `${head}.${encode(claims({ sub: "other" }))}.${signature}`,
      `${good}.more`,
      "not a token",
      "a.b.c",
      signToken(rs, claims(), { crit: ["x"] }),
    ];
    expect(await Promise.all(forged.map((token) => authenticate(token)))).toEqual(forged.map(() => undefined));
  });

  it("is worth nothing where the public key was used as a secret", async () => {
    const [rs] = published as [IssuerKey];
    const secret = rs.publicKey.export({ format: "pem", type: "spki" });
    for (const alg of ["HS256", "RS256"]) {
      const text = `${encode({ alg, kid: rs.kid })}.${encode(claims())}`;
      const token = `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
      expect(await authenticate(token)).toBeUndefined();
    }
  });

  it("of a new key is accepted after one download, and one of a withdrawn key no longer", async () => {
    const [old] = published as [IssuerKey];
    expect(await authenticate(signToken(old, claims()))).toBe("acme");
    const fresh = makeKey("fresh", "RS256");
    published = [fresh];
    clock += 31_000;
    expect(await authenticate(signToken(fresh, claims()))).toBe("acme");
    expect(await authenticate(signToken(old, claims()))).toBeUndefined();
    expect(downloads).toBe(2);
  });

  it("with a made-up key id causes no storm of downloads", async () => {
    const other = makeKey("made-up", "RS256");
    for (let count = 0; count < 20; count++) expect(await authenticate(signToken(other, claims()))).toBeUndefined();
    expect(downloads).toBe(1);
  });
});
