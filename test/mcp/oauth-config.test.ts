import { createPublicKey, generateKeyPairSync, verify, type KeyObject } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readServerConfigs } from "../../src/mcp/config/read-servers.ts";
import type { SignInPage } from "../../src/mcp/oauth/browser.ts";
import { signIn, withOAuthService, connectAndDescribe, openInBrowser, type OAuthService } from "./oauth-service.ts";

/*
 * Configured sign-ins: a preregistered client id, a named authorization server, client credentials.
 */

const keptIn = async ({ home }: OAuthService): Promise<string> => {
  const files = await readdir(join(home, "auth")).catch(() => []);
  return (await Promise.all(files.map((file) => readFile(join(home, "auth", file), "utf8")))).join("");
};

const basic = (id: string, secret: string): string => `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`;

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

describe("a preregistered client id", () => {
  it("is used with its secret, which is not stored", async () => {
    await withOAuthService({ closed: true }, async (place) => {
      const oauth = { enabled: true, clientId: "known", clientSecret: "s3cret-value", scopes: ["a", "b"] };
      const pages: SignInPage[] = [];
      const show = (page: SignInPage): void => (pages.push(page), void openInBrowser(page));
      expect([await signIn(place, { oauth, show }), await connectAndDescribe(place, oauth)]).toEqual([
        "signed in",
        "you",
      ]);
      const { searchParams } = new URL(pages[0]!.url);
      expect([searchParams.get("client_id"), searchParams.get("scope"), place.shown]).toEqual([
        "known",
        "a b",
        [basic("known", "s3cret-value")],
      ]);
      expect(await keptIn(place)).toContain("access-1");
      expect(await keptIn(place)).not.toContain("s3cret-value");
      expect(place.visits).not.toContain("POST /register");
    });
  });

  it("uses the registered redirect URI character for character", async () => {
    await withOAuthService({ closed: true }, async (place) => {
      const redirectUri = `http://localhost:${await freePort()}/oauth/callback`;
      expect(await signIn(place, { oauth: { clientId: "known", redirectUri } })).toBe("signed in");
      expect(place.asked.map((query) => [query.get("client_id"), query.get("redirect_uri")])).toEqual([
        ["known", redirectUri],
      ]);
    });
  });

  it("may be the URL of a metadata document, where the service supports it", async () => {
    const clientId = "https://parley.test/client.json";
    const registered = async (more: object): Promise<readonly (string | null | undefined)[]> => {
      let ids: readonly (string | null | undefined)[] = [];
      await withOAuthService({ more }, async (place) => {
        expect(await signIn(place, { oauth: { clientId } })).toBe("signed in");
        ids = place.asked.map((query) => query.get("client_id"));
      });
      return ids;
    };
    expect([await registered({ client_id_metadata_document_supported: true }), await registered({})]).toEqual([
      [clientId],
      ["client-1"],
    ]);
  });
});

describe("a configured authorization server", () => {
  it("is used where there is no metadata", async () => {
    await withOAuthService({ described: null, closed: true }, async (place) => {
      const [authorizationUrl, tokenUrl] = [`${place.origin}/authorize`, `${place.origin}/token`];
      const oauth = { clientId: "known", authorizationUrl, tokenUrl };
      expect([await signIn(place, { oauth }), await connectAndDescribe(place, oauth)]).toEqual(["signed in", "you"]);
    });
  });

  it("is used, whatever the MCP server says", async () => {
    await withOAuthService({ service: "/other" }, async (wrong) => {
      await withOAuthService({}, async (right) => {
        const oauth = { issuer: right.origin };
        expect(await signIn(wrong, { oauth })).toBe("signed in");
        expect([wrong.asked.length, right.asked.length]).toEqual([0, 1]);
      });
    });
  });

  it.each([
    ["/.well-known/oauth-authorization-server/tenant1"],
    ["/.well-known/openid-configuration/tenant1"],
    ["/tenant1/.well-known/openid-configuration"],
  ])("with a path is found at %s, and rejected where its issuer differs", async (described) => {
    await withOAuthService({ service: "/tenant1", described }, async (place) => {
      expect(await signIn(place)).toBe("signed in");
    });
    await withOAuthService({ service: "/tenant1", described, issuer: "http://127.0.0.1" }, async (place) => {
      expect([await signIn(place), place.asked]).toEqual([expect.stringMatching(/issuer/i), []]);
    });
  });

  it("gets no tokens of another one", async () => {
    await withOAuthService({}, async (place) => {
      expect(await signIn(place)).toBe("signed in");
      await withOAuthService({}, async (other) => {
        const oauth = {
          clientId: "x",
          authorizationUrl: `${other.origin}/authorize`,
          tokenUrl: `${other.origin}/token`,
        };
        expect(await connectAndDescribe(place, oauth)).toBe("sign-in: s requires a sign-in. Run parley mcp login s.");
        expect(other.visits).toEqual([]);
      });
      expect(await connectAndDescribe(place)).toBe("you");
    });
  });
});

describe("tokens from another host than the described one", () => {
  it("need the user's consent, and nothing is shown before", async () => {
    await withOAuthService({ tokensElsewhere: true }, async (place) => {
      const [pages, questions]: [SignInPage[], SignInPage[]] = [[], []];
      const show = (page: SignInPage): void => (pages.push(page), void openInBrowser(page));
      const elsewhere = place.origin.replace("http://127.0.0.1", "localhost");
      const words = `The tokens would come from ${elsewhere}, another host than the one that describes the sign-in. This was not confirmed.`;
      const no = async (page: SignInPage): Promise<boolean> => (questions.push(page), false);
      expect([await signIn(place, { show }), await signIn(place, { show, confirm: no })]).toEqual([words, words]);
      expect([pages, place.asked, questions.map(({ tokenHost }) => tokenHost)]).toEqual([[], [], [elsewhere]]);
      expect(await signIn(place, { show, confirm: async () => true })).toBe("signed in");
      expect(pages.map(({ tokenHost }) => tokenHost)).toEqual([elsewhere]);
    });
  });

  it("need consent also where users sign in there", async () => {
    await withOAuthService({ tokensElsewhere: true }, async (other) => {
      const authorize = `${other.origin.replace("127.0.0.1", "localhost")}/authorize`;
      await withOAuthService({ authorize, more: { token_endpoint: authorize } }, async (place) => {
        const pages: SignInPage[] = [];
        expect(await signIn(place, { show: (page) => void pages.push(page) })).toContain(new URL(authorize).host);
        expect(pages).toEqual([]);
      });
    });
  });

  it("need no consent where configured, or from the same host", async () => {
    await withOAuthService({ described: null }, async (place) => {
      const tokenUrl = `${place.origin.replace("127.0.0.1", "localhost")}/token`;
      const oauth = { clientId: "x", authorizationUrl: `${place.origin}/authorize`, tokenUrl };
      expect(await signIn(place, { oauth })).toBe("signed in");
    });
    await withOAuthService({}, async (place) => {
      const confirm = (): Promise<boolean> => Promise.reject(new Error("asked"));
      expect(await signIn(place, { confirm })).toBe("signed in");
    });
  });
});

describe("a machine", () => {
  const oauth = { grantType: "client_credentials", clientId: "robot", clientSecret: "s3cret-value", scopes: ["x"] };

  it("signs in by itself with a secret, and stores nothing", async () => {
    await withOAuthService({}, async (place) => {
      expect(await connectAndDescribe(place, oauth)).toBe("you");
      expect([place.asked.map((query) => Object.fromEntries(query)), place.shown]).toEqual([
        [{ grant_type: "client_credentials", scope: "x", resource: place.url }],
        [basic("robot", "s3cret-value")],
      ]);
      expect(await keptIn(place)).not.toMatch(/access-|s3cret/);
      expect(await signIn(place, { oauth })).toBe("s signs in by itself (client_credentials).");
    });
  });

  it("signs in with a private key, which is not sent", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    await withOAuthService({}, async (place) => {
      const keyed = { grantType: "client_credentials", clientId: "robot", privateKey: pem };
      expect(await connectAndDescribe(place, keyed)).toBe("you");
      const [asked] = place.asked;
      expect(asked?.get("client_assertion_type")).toBe("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
      expect(claimsIn(asked?.get("client_assertion") ?? "", publicKey)).toMatchObject({
        iss: "robot",
        sub: "robot",
        aud: place.origin,
      });
    });
  });

  it("does not send its secret to an authorization server on another host that is not configured", async () => {
    await withOAuthService({}, async (other) => {
      await withOAuthService({ service: other.origin }, async (place) => {
        expect(await connectAndDescribe(place, oauth)).toBe(
          `sign-in: s requires a sign-in at ${new URL(other.origin).host}. If that is right, set oauth.issuer to ${other.origin} in its settings.`,
        );
        expect([place.asked, other.asked]).toEqual([[], []]);
        await connectAndDescribe(place, { ...oauth, issuer: other.origin });
        expect([place.shown, other.shown[0]]).toEqual([[], basic("robot", "s3cret-value")]);
      });
    });
  });

  it("does not send its secret to a token endpoint on another host", async () => {
    await withOAuthService({ tokensElsewhere: true }, async (place) => {
      const { port } = new URL(place.origin);
      expect(await connectAndDescribe(place, oauth)).toBe(
        `sign-in: s requires the client secret to be sent to localhost:${port}. If that is right, set oauth.tokenUrl in its settings.`,
      );
      expect(place.asked).toEqual([]);
    });
  });

  it("signs in at the configured authorization server", async () => {
    await withOAuthService({ tokensElsewhere: true }, async (place) => {
      const tokenUrl = `${place.origin.replace("127.0.0.1", "localhost")}/token`;
      expect(await connectAndDescribe(place, { ...oauth, tokenUrl })).toBe("you");
      expect(place.shown).toEqual([basic("robot", "s3cret-value")]);
    });
  });
});

const claimsIn = (token: string, key: KeyObject): unknown => {
  const [head = "", claims = "", signature = ""] = token.split(".");
  const publicKey = {
    key: createPublicKey(key.export({ type: "spki", format: "pem" })),
    dsaEncoding: "ieee-p1363" as const,
  };
  if (!verify("sha256", Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, "base64url")))
    throw new Error("It is not signed with that key.");
  return JSON.parse(Buffer.from(claims, "base64url").toString());
};

describe("a sign-in", () => {
  it("that is disabled is never started", async () => {
    await withOAuthService({}, async (place) => {
      expect(await signIn(place, { oauth: { enabled: false } })).toBe("s has oauth.enabled set to false.");
      expect(await connectAndDescribe(place, { enabled: false })).toBe(
        "sign-in: s requires a sign-in. Run parley mcp login s.",
      );
    });
  });

  it.each([
    [
      { grantType: "client_credentials", clientId: "x" },
      ": client_credentials needs clientId, and clientSecret or privateKey.",
    ],
    [{ authorizationUrl: "https://a.test/" }, ": authorizationUrl and tokenUrl must be set together."],
    [{ redirectUri: "https://evil.test:1/x" }, ": redirectUri must be an http URL of this machine, with a port."],
    [{ redirectUri: "http://localhost/x" }, ": redirectUri must be an http URL of this machine, with a port."],
    [{ clientSecret: "${NOT_SET}" }, ".clientSecret names the variable NOT_SET, which is not set."],
    [{ tokenUrl: "file:///x" }, ".tokenUrl must be an http or https URL."],
    [{ grantType: "password" }, ".grantType must be authorization_code or client_credentials."],
    ["yes", " must be an object."],
  ])("with an invalid configuration is reported: %j", (oauth, words) => {
    expect(readServerConfigs({ s: { url: "https://a.test", oauth } }, { from: "person", env: {} })).toEqual({
      servers: [],
      problems: [`mcpServers.s.oauth${words}`],
    });
  });
});
