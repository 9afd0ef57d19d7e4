/*
 * A client for the official conformance suite: the last argument is the URL of a server. It connects as Parley does,
 * signs in if needed by visiting the URL a person would open, calls the scenario's tools, and exits. Values a scenario
 * provides are configured as settings.
 */
import { join } from "node:path";
import { readServerConfigs } from "../../src/mcp/config/read-servers.ts";
import { signInWithBrowser } from "../../src/mcp/oauth/sign-in.ts";
import { openMcpServers } from "../../src/mcp/servers.ts";
import { realWorld } from "../../src/world/real/world.ts";

const url = process.argv.at(-1) ?? "";
/** Each run has a working folder of its own. */
const home = join(process.cwd(), "home");
const world = realWorld();

type Context = {
  readonly name?: string;
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
};
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Context;

/** The issuer for client credentials, from the server's metadata. */
const documentedIssuer = async (): Promise<string> => {
  const address = new URL("/.well-known/oauth-protected-resource/mcp", url);
  const { authorization_servers } = (await (await fetch(address)).json()) as { authorization_servers: string[] };
  return authorization_servers[0] ?? "";
};

const oauthFor = async (): Promise<object | undefined> => {
  if (scenario === "auth/basic-cimd") return { clientId: "https://conformance-test.local/client-metadata.json" };
  const { client_id: clientId, client_secret, private_key_pem, signing_algorithm } = context;
  if (clientId === undefined) return undefined;
  const secret = client_secret === undefined ? {} : { clientSecret: client_secret };
  if (!scenario.startsWith("auth/client-credentials")) return { clientId, ...secret };
  const key = private_key_pem === undefined ? {} : { privateKey: private_key_pem, algorithm: signing_algorithm };
  return { clientId, ...secret, ...key, grantType: "client_credentials", issuer: await documentedIssuer() };
};

const oauth = await oauthFor();
const { servers: configs, problems } = readServerConfigs(
  { tested: { httpUrl: url, timeout: 15_000, ...(oauth === undefined ? {} : { oauth }) } },
  { from: "person", env: {} },
);
if (problems.length > 0) throw new Error(problems.join(" "));
const [config] = configs;
const signIn = config?.endpoint.type === "http" ? config.endpoint.signIn : undefined;
const signal = AbortSignal.timeout(25_000);

/** Visits the sign-in URL as a browser would, up to the redirect back to us. */
const visit = async (address: string): Promise<void> => {
  const answer = await fetch(address, { redirect: "manual" });
  const back = answer.headers.get("location");
  if (back !== null) await fetch(back);
};

const asking = {
  roots: () => [process.cwd()],
  elicit: async () => ({ action: "accept" as const, content: {} }),
};
const inputs: Readonly<Record<string, object>> = { add_numbers: { a: 5, b: 3 } };
const can = { signal, report: () => undefined, files: { keep: async () => "" } };

/** Calls every tool; false if the server requires another sign-in first. */
const callAll = async (servers: ReturnType<typeof openMcpServers>): Promise<boolean> => {
  for (const { tool, server } of servers.tools()) {
    if (server === undefined) continue;
    const called = async (): Promise<unknown> => tool.run((inputs[tool.name] ?? {}) as never, can as never);
    const failed = await called().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failed instanceof Error && /requires a sign-in/.test(failed.message)) return false;
  }
  return servers.status()[0]?.status.state !== "sign-in";
};

/** A limit on repeated sign-ins. */
for (let signedIn = 0; signedIn < 3; signedIn += 1) {
  const servers = openMcpServers({ world, configs, root: process.cwd(), home, handlers: asking });
  await servers.settled(signal);
  servers.applyChanges();
  const isDone = await callAll(servers);
  await servers.close();
  if (isDone) break;
  await signInWithBrowser({ world, home, server: "tested", url, signIn, signal, show: (page) => void visit(page.url) });
}
