import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { forgetSignIn, signInAt, type SignInPage } from "../../src/mcp/index.ts";
import { realWorld } from "../../src/world/index.ts";
import { textOf, withServers } from "./setting.ts";

/** What the sign-in service does differently. */
type Twist = { readonly authorize?: string; readonly issuer?: string; readonly lifetime?: number };

type Place = {
  readonly url: string;
  readonly origin: string;
  readonly home: string;
  readonly asked: readonly URLSearchParams[];
};

/** A server that wants tokens, and the service that gives them, in one. */
const signing = async (twist: Twist, work: (place: Place) => Promise<void>): Promise<void> => {
  const asked: URLSearchParams[] = [];
  const challenges = new Map<string, string>();
  let [origin, good, count] = ["", "", 0];
  const tokens = (): object => ({
    access_token: (good = `access-${(count += 1)}`),
    refresh_token: `refresh-${count}`,
    token_type: "Bearer",
    expires_in: twist.lifetime ?? 3600,
  });
  const routes: Record<
    string,
    (body: string, request: IncomingMessage) => readonly [number, object, Record<string, string>?]
  > = {
    "/.well-known/oauth-protected-resource/mcp": () => [
      200,
      { resource: `${origin}/mcp`, authorization_servers: [origin] },
    ],
    "/.well-known/oauth-authorization-server": () => [
      200,
      {
        issuer: twist.issuer ?? origin,
        authorization_endpoint: twist.authorize ?? `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
      },
    ],
    "/register": (body) => [201, { client_id: "client-1", ...(JSON.parse(body) as object) }],
    "/authorize": (_, { url = "" }) => {
      const query = new URL(url, origin).searchParams;
      challenges.set("code-1", query.get("code_challenge") ?? "");
      return [302, {}, { location: `${query.get("redirect_uri")}?code=code-1&state=${query.get("state")}` }];
    },
    "/token": (body) => {
      const query = new URLSearchParams(body);
      asked.push(query);
      if (query.get("grant_type") === "refresh_token") return [200, tokens()];
      const verifier = createHash("sha256")
        .update(query.get("code_verifier") ?? "")
        .digest("base64url");
      return verifier === challenges.get(query.get("code") ?? "") ? [200, tokens()] : [400, { error: "invalid_grant" }];
    },
    "/mcp": (body, { headers }) => {
      if (headers.authorization !== `Bearer ${good}`)
        return [
          401,
          {},
          { "www-authenticate": `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"` },
        ];
      const { id, method, params } = JSON.parse(body) as {
        id?: number;
        method: string;
        params?: { protocolVersion?: string };
      };
      if (id === undefined) return [202, {}];
      const result =
        method === "initialize"
          ? {
              protocolVersion: params?.protocolVersion,
              capabilities: { tools: {} },
              serverInfo: { name: "s", version: "1" },
            }
          : method === "tools/list"
            ? { tools: [{ name: "whoami", inputSchema: { type: "object" } }] }
            : { content: [{ type: "text", text: "you" }] };
      return [200, { jsonrpc: "2.0", id, result }];
    },
  };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (bytes: Buffer) => (body += bytes.toString()));
    request.on("end", () => {
      const route =
        request.method === "GET" && request.url === "/mcp"
          ? undefined
          : routes[new URL(request.url ?? "/", origin).pathname];
      const [status, value, headers = {}] = route?.(body, request) ?? [404, {}];
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(status === 202 ? "" : JSON.stringify(value));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const home = await mkdtemp(join(tmpdir(), "parley-oauth-"));
  try {
    await work({ url: `${origin}/mcp`, origin, home, asked });
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(home, { recursive: true, force: true });
  }
};

/** A person who opens the address, and is sent back. */
const visit = async ({ url }: SignInPage): Promise<void> => {
  const back = (await fetch(url, { redirect: "manual" })).headers.get("location");
  if (back !== null) await fetch(back);
};

const signIn = ({ url, home }: Place, show: (page: SignInPage) => void = (page) => void visit(page)): Promise<string> =>
  signInAt({ world: realWorld(), home, server: "s", url, show, signal: AbortSignal.timeout(20_000) }).then(
    () => "signed in",
    (error: Error) => error.message,
  );

const stateOf = async ({ url, home }: Place): Promise<string> => {
  let state = "";
  await withServers({ configured: { s: { httpUrl: url } }, home }, async ({ servers, call }) => {
    state = servers.status()[0]!.status.state;
    if (state === "ready") state = textOf(await call("whoami"));
  });
  return state;
};

describe("signing in at a server", () => {
  it("gives tokens for that server, for the owner's eyes alone, until it is undone", async () => {
    await signing({}, async (place) => {
      expect([await stateOf(place), await signIn(place), await stateOf(place)]).toEqual([
        "sign-in",
        "signed in",
        "you",
      ]);
      const folder = join(place.home, "auth");
      const [file = ""] = await readdir(folder);
      expect([(await stat(folder)).mode & 0o777, (await stat(join(folder, file))).mode & 0o777]).toEqual([
        0o700, 0o600,
      ]);
      expect(JSON.parse(await readFile(join(folder, file), "utf8"))).toMatchObject({
        version: 1,
        tokens: { access_token: "access-1" },
      });
      expect(place.asked.map((query) => [query.get("grant_type"), query.get("code"), query.get("resource")])).toEqual([
        ["authorization_code", "code-1", place.url],
      ]);
      await forgetSignIn(realWorld(), place.home, place.url);
      expect(await stateOf(place)).toBe("sign-in");
    });
  });

  it("is renewed without the person", async () => {
    await signing({}, async (place) => {
      await signIn(place);
      const [file = ""] = await readdir(join(place.home, "auth"));
      const path = join(place.home, "auth", file);
      const kept = await readFile(path, "utf8");
      await realWorld().files.writePrivate(path, kept.replace("access-1", "access-that-ran-out"));
      expect(await stateOf(place)).toBe("you");
      expect(place.asked.at(-1)?.get("grant_type")).toBe("refresh_token");
      expect(await readFile(path, "utf8")).toContain("access-2");
    });
  });

  it.each<[string, Twist, RegExp]>([
    ["a file to open", { authorize: "file:///etc/passwd" }, /file|Invalid|URL/i],
    ["a script to open", { authorize: "javascript:alert(1)" }, /javascript|Invalid|URL/i],
    ["a place in the open", { authorize: "http://elsewhere.test/authorize" }, /http: as the place to sign in/],
    ["an issuer that is somebody else", { issuer: "https://elsewhere.test" }, /[Ii]ssuer/],
  ])("is not begun with %s", async (_, twist, words) => {
    await signing(twist, async (place) => {
      const shown: string[] = [];
      expect(await signIn(place, ({ url }) => void shown.push(url))).toMatch(words);
      expect(shown).toEqual([]);
    });
  });

  it("takes no answer to another question, and no for an answer", async () => {
    await signing({}, async (place) => {
      const answers: number[] = [];
      const refusing = async ({ url }: SignInPage): Promise<void> => {
        const { searchParams } = new URL(url);
        const back = searchParams.get("redirect_uri") ?? "";
        answers.push(
          (await fetch(`${back}?code=stolen&state=wrong`)).status,
          (await fetch(back, { method: "POST" })).status,
        );
        answers.push((await fetch(`${back}?error=access_denied&state=${searchParams.get("state")}`)).status);
      };
      let refused = Promise.resolve();
      const show = (page: SignInPage): void => void (refused = refusing(page));
      expect(await signIn(place, show)).toBe("The sign-in was refused (access_denied).");
      await refused;
      expect([answers, place.asked]).toEqual([[400, 400, 400], []]);
    });
  });
});
