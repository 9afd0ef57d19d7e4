import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readServerConfigs } from "../../src/mcp/config/read-servers.ts";
import type { SignInPage } from "../../src/mcp/oauth/browser.ts";
import { signInWithBrowser } from "../../src/mcp/oauth/sign-in.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { textOf, withServers } from "./with-servers.ts";

/** Deviations of the authorization server. Paths are on its own host. */
export type OAuthServiceOptions = {
  readonly authorize?: string;
  readonly issuer?: string;
  readonly lifetime?: number;
  /** The path of its metadata; null where it has none. */
  readonly described?: string | null;
  /** How the MCP server refers to it: a path on its own host, or a URL. */
  readonly service?: string;
  /** Tokens come from the same machine under another host name. */
  readonly tokensElsewhere?: true;
  /** Dynamic registration is not supported. */
  readonly closed?: true;
  readonly more?: object;
  /** A refresh token is valid once; access tokens stay valid. */
  readonly once?: true;
};

export type OAuthService = {
  readonly url: string;
  readonly origin: string;
  readonly home: string;
  /** The requests to the token endpoint. */
  readonly asked: readonly URLSearchParams[];
  /** The authorization headers of those requests. */
  readonly shown: readonly string[];
  /** Every request, by method and path. */
  readonly visits: readonly string[];
};

/** An MCP server that requires tokens, and its authorization server, in one. */
export const withOAuthService = async (
  twist: OAuthServiceOptions,
  work: (place: OAuthService) => Promise<void>,
): Promise<void> => {
  const [asked, shown, visits]: [URLSearchParams[], string[], string[]] = [[], [], []];
  const challenges = new Map<string, string>();
  let [origin, good, count] = ["", "", 0];
  const given = new Set<string>();
  const used = new Set<string>();
  const tokens = (): object => ({
    access_token: (good = `access-${(count += 1)}`),
    refresh_token: `refresh-${count}`,
    token_type: "Bearer",
    expires_in: twist.lifetime ?? 3600,
  });
  const service = (): string => (twist.service?.startsWith("http") ? twist.service : `${origin}${twist.service ?? ""}`);
  const routes: Record<
    string,
    (body: string, request: IncomingMessage) => readonly [number, object, Record<string, string>?]
  > = {
    "/.well-known/oauth-protected-resource/mcp": () => [
      200,
      { resource: `${origin}/mcp`, authorization_servers: [service()] },
    ],
    [twist.described ?? "/.well-known/oauth-authorization-server"]: () => [
      twist.described === null ? 404 : 200,
      {
        issuer: twist.issuer ?? service(),
        authorization_endpoint: twist.authorize ?? `${origin}/authorize`,
        token_endpoint: `${twist.tokensElsewhere ? origin.replace("127.0.0.1", "localhost") : origin}/token`,
        ...(twist.closed ? {} : { registration_endpoint: `${origin}/register` }),
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        jwks_uri: `${origin}/keys`,
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
        ...twist.more,
      },
    ],
    "/register": (body) => [201, { client_id: "client-1", ...(JSON.parse(body) as object) }],
    "/authorize": (_, { url = "" }) => {
      const query = new URL(url, origin).searchParams;
      challenges.set("code-1", query.get("code_challenge") ?? "");
      return [302, {}, { location: `${query.get("redirect_uri")}?code=code-1&state=${query.get("state")}` }];
    },
    "/token": (body, { headers }) => {
      const query = new URLSearchParams(body);
      asked.push(query);
      shown.push(headers.authorization ?? "");
      const refresh = query.get("refresh_token") ?? "";
      if (twist.once && used.has(refresh)) return [400, { error: "invalid_grant" }];
      if (refresh !== "") used.add(refresh);
      given.add(good);
      if (query.get("grant_type") !== "authorization_code") return [200, tokens()];
      const verifier = createHash("sha256")
        .update(query.get("code_verifier") ?? "")
        .digest("base64url");
      return verifier === challenges.get(query.get("code") ?? "") ? [200, tokens()] : [400, { error: "invalid_grant" }];
    },
    "/mcp": (body, { headers }) => {
      const shownToken = headers.authorization?.replace("Bearer ", "") ?? "";
      if ((shownToken === "" || shownToken !== good) && !(twist.once && given.has(shownToken)))
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
      const { pathname } = new URL(request.url ?? "/", origin);
      visits.push(`${request.method} ${pathname}`);
      const route = request.method === "GET" && pathname === "/mcp" ? undefined : routes[pathname];
      const [status, value, headers = {}] = route?.(body, request) ?? [404, {}];
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(status === 202 ? "" : JSON.stringify(value));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const home = await mkdtemp(join(tmpdir(), "parley-oauth-"));
  try {
    await work({ url: `${origin}/mcp`, origin, home, asked, shown, visits });
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(home, { recursive: true, force: true });
  }
};

/** A user who opens the URL and is redirected back. */
export const openInBrowser = async ({ url }: SignInPage): Promise<void> => {
  const back = (await fetch(url, { redirect: "manual" })).headers.get("location");
  if (back !== null) await fetch(back);
};

/** How a sign-in differs from the usual one. */
export type TestSignInOptions = {
  readonly show?: (page: SignInPage) => void;
  readonly confirm?: (page: SignInPage) => Promise<boolean>;
  readonly oauth?: object;
};

/** Signs in, and returns how that ended. */
export const signIn = async (
  { url, home }: OAuthService,
  { show = (page) => void openInBrowser(page), confirm, oauth }: TestSignInOptions = {},
): Promise<string> => {
  const { servers } = readServerConfigs({ s: { httpUrl: url, oauth } }, { from: "person", env: {} });
  const reach = servers[0]?.endpoint;
  const configured = reach?.type === "http" ? reach.signIn : undefined;
  const signal = AbortSignal.timeout(20_000);
  return signInWithBrowser({
    world: realWorld(),
    home,
    server: "s",
    url,
    signIn: configured,
    show,
    signal,
    ...(confirm && { confirm }),
  }).then(
    () => "signed in",
    (error: Error) => error.message,
  );
};

/** The state of the server: its tool's result, or why it has none. */
export const connectAndDescribe = async ({ url, home }: OAuthService, oauth?: object): Promise<string> => {
  let state = "";
  await withServers({ configured: { s: { httpUrl: url, oauth } }, home }, async ({ servers, call }) => {
    const { status } = servers.status()[0]!;
    state = status.state;
    if (oauth !== undefined && "reason" in status) state = `${status.state}: ${status.reason}`;
    if (state === "ready") state = textOf(await call("whoami"));
  });
  return state;
};
