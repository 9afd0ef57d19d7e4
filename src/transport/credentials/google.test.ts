import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { findProvider } from "../../providers/find.ts";
import type { HttpRequest, HttpResponse } from "../../world/net.ts";
import { realWorld } from "../../world/real/world.ts";
import { simulatedWorld, type SimulatedWorld } from "../../world/simulated/world.ts";
import type { Environment } from "../../world/world.ts";
import { authorize, findCredentials, openCredentials, renewCredentials, type Credentials } from "./credentials.ts";

const vertex = findProvider("vertex");
const request: HttpRequest = {
  method: "POST",
  url: "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/m:generateContent",
  headers: { "content-type": "application/json" },
  body: "{}",
};
const gcloud = "/home/someone/.config/gcloud/application_default_credentials.json";
const user = {
  type: "authorized_user",
  client_id: "id-1",
  client_secret: "canary-secret",
  refresh_token: "canary-refresh",
};

const json = (status: number, body: unknown): HttpResponse => ({
  status,
  headers: { "content-type": "application/json" },
  body: (async function* () {
    yield Buffer.from(JSON.stringify(body));
  })(),
});

type Asked = { readonly url: string; readonly body: Readonly<Record<string, string>> };

/** A world whose token service hands out token-1, token-2 and so on, each good for an hour. */
const worldWith = async (
  env: Environment,
  files: Readonly<Record<string, unknown>>,
  refuse?: HttpResponse,
): Promise<{ world: SimulatedWorld; asked: Asked[] }> => {
  const asked: Asked[] = [];
  const world = simulatedWorld({
    env,
    start: 1_800_000_000_000,
    answer: async ({ url, body }) => {
      asked.push({ url, body: Object.fromEntries(new URLSearchParams(String(body))) });
      return refuse ?? json(200, { access_token: `token-${asked.length}`, expires_in: 3600, token_type: "Bearer" });
    },
  });
  for (const [path, value] of Object.entries(files))
    await world.files.writePrivate(path, typeof value === "string" ? value : JSON.stringify(value));
  return { world, asked };
};

const bearerOf = async (credentials: Credentials): Promise<string | undefined> =>
  (await authorize(request, vertex, credentials)).headers["authorization"];

describe("a request to Google Cloud", () => {
  it("carries the token of the person gcloud signed in, charged to their quota project", async () => {
    const { world, asked } = await worldWith({}, { [gcloud]: { ...user, quota_project_id: "payer" } });
    const { headers } = await authorize(request, vertex, openCredentials(world));

    expect(headers).toEqual({
      "content-type": "application/json",
      authorization: "Bearer token-1",
      "x-goog-user-project": "payer",
    });
    expect(asked).toEqual([
      {
        url: "https://oauth2.googleapis.com/token",
        body: {
          grant_type: "refresh_token",
          client_id: "id-1",
          client_secret: "canary-secret",
          refresh_token: "canary-refresh",
        },
      },
    ]);
  });

  it("carries the token of a service account", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const account = {
      type: "service_account",
      client_email: "robot@p.test",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
    };
    const { world, asked } = await worldWith(
      { GOOGLE_APPLICATION_CREDENTIALS: "/keys/robot.json" },
      { "/keys/robot.json": account },
    );

    expect(await bearerOf(openCredentials(world))).toBe("Bearer token-1");
    const claims: unknown = JSON.parse(
      Buffer.from(asked[0]?.body["assertion"]?.split(".")[1] ?? "", "base64url").toString(),
    );
    expect(claims).toMatchObject({ iss: "robot@p.test", scope: "https://www.googleapis.com/auth/cloud-platform" });
  });

  it("carries a token that was given, as it is", async () => {
    const { world, asked } = await worldWith(
      { GOOGLE_OAUTH_ACCESS_TOKEN: " given ", GOOGLE_CLOUD_QUOTA_PROJECT: "payer" },
      { [gcloud]: user },
    );
    const { headers } = await authorize(request, vertex, openCredentials(world));

    expect([headers["authorization"], headers["x-goog-user-project"], asked]).toEqual(["Bearer given", "payer", []]);
  });

  it("carries an express key in a header of its own", async () => {
    const { world } = await worldWith(
      { GOOGLE_GENAI_USE_VERTEXAI: "true", GOOGLE_API_KEY: "key-1" },
      { [gcloud]: user },
    );
    const { headers } = await authorize(request, vertex, openCredentials(world));

    expect(headers).toEqual({ "content-type": "application/json", "x-goog-api-key": "key-1" });
  });

  it("asks for a token once, however many requests leave together", async () => {
    const { world, asked } = await worldWith({}, { [gcloud]: user });
    const credentials = openCredentials(world);

    expect(await Promise.all([1, 2, 3].map(() => bearerOf(credentials)))).toEqual(Array(3).fill("Bearer token-1"));
    expect(asked.length).toBe(1);
  });

  it("gets a new token five minutes before the old one expires, and after a refusal", async () => {
    const { world } = await worldWith({}, { [gcloud]: user });
    const credentials = openCredentials(world);
    const seen = [await bearerOf(credentials)];
    world.shiftWallClock(54 * 60_000);
    seen.push(await bearerOf(credentials));
    world.shiftWallClock(60_000);
    seen.push(await bearerOf(credentials));
    expect(await renewCredentials(vertex, credentials)).toBe(true);
    seen.push(await bearerOf(credentials));

    expect(seen).toEqual(["Bearer token-1", "Bearer token-1", "Bearer token-2", "Bearer token-3"]);
  });

  it("does not leave when the sign-in is no longer good, and says so without quoting it", async () => {
    const refusal = json(400, { error: "invalid_grant", error_description: "canary-refresh has expired" });
    const { world } = await worldWith({}, { [gcloud]: user }, refusal);
    const failed = bearerOf(openCredentials(world));

    await expect(failed).rejects.toMatchObject({
      failure: {
        kind: "bad-key",
        provider: "vertex",
        detail:
          "The application default credentials at ~/.config/gcloud/application_default_credentials.json are refused (invalid_grant).",
      },
    });
  });

  it("tries again after a failure", async () => {
    const { world } = await worldWith({}, {});
    const credentials = openCredentials(world);
    await expect(bearerOf(credentials)).rejects.toMatchObject({ failure: { kind: "no-key" } });
    await world.files.writePrivate(gcloud, JSON.stringify(user));

    expect(await bearerOf(credentials)).toBe("Bearer token-1");
  });

  it.each<[string, unknown]>([
    ["no JSON", "{"],
    ["a list", []],
    ["of an unknown kind", { type: "magic" }],
  ])("does not leave with a credential file that is %s", async (_, file) => {
    const { world, asked } = await worldWith({}, { [gcloud]: file });

    await expect(bearerOf(openCredentials(world))).rejects.toMatchObject({
      failure: {
        kind: "bad-key",
        detail:
          "The application default credentials at ~/.config/gcloud/application_default_credentials.json are none that we know.",
      },
    });
    expect(asked).toEqual([]);
  });
});

describe("the service account of a machine", () => {
  const closers: (() => unknown)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });

  const machine = async (status: number, body: string): Promise<{ host: string; seen: unknown[] }> => {
    const seen: unknown[] = [];
    const server = createServer((incoming, response) => {
      seen.push([incoming.method, incoming.url, incoming.headers["metadata-flavor"]]);
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => server.close());
    return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
  };
  const credentialsAt = (host: string): Credentials =>
    openCredentials(realWorld({ GCE_METADATA_HOST: host, CLOUDSDK_CONFIG: "/nowhere" }));

  it("signs requests there", async () => {
    const { host, seen } = await machine(200, '{"access_token":"m-1","expires_in":3599,"token_type":"Bearer"}');

    expect(await bearerOf(credentialsAt(host))).toBe("Bearer m-1");
    expect(seen).toEqual([["GET", "/computeMetadata/v1/instance/service-accounts/default/token", "Google"]]);
  });

  it.each<[number, string]>([
    [404, "not found"],
    [200, "{}"],
    [200, "<html>"],
  ])("may be missing: %i %s", async (status, body) => {
    const { host } = await machine(status, body);

    await expect(bearerOf(credentialsAt(host))).rejects.toMatchObject({
      failure: { kind: "bad-key", detail: `This machine has no service account to speak for (${status}).` },
    });
  });

  it("may be out of reach", async () => {
    await expect(bearerOf(credentialsAt("127.0.0.1:1"))).rejects.toMatchObject({
      failure: { kind: "network", host: "127.0.0.1:1" },
    });
  });
});

describe("credentials for Google Cloud", () => {
  const find = async (env: Environment, files: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const { world } = await worldWith(env, files);
    const found = await findCredentials(vertex, world);
    return found.found ? `${found.kind}: ${found.from}` : found.how;
  };

  it.each<[string, Environment, Readonly<Record<string, unknown>>, string]>([
    ["an express key", { GOOGLE_GENAI_USE_VERTEXAI: "TRUE", GOOGLE_API_KEY: "k" }, {}, "key: GOOGLE_API_KEY"],
    ["a given token", { GOOGLE_OAUTH_ACCESS_TOKEN: "t" }, { [gcloud]: user }, "token: GOOGLE_OAUTH_ACCESS_TOKEN"],
    [
      "a file named by a variable",
      { GOOGLE_APPLICATION_CREDENTIALS: "/keys/a.json" },
      { "/keys/a.json": user, [gcloud]: user },
      "google: application default credentials at /keys/a.json",
    ],
    [
      "a file that is not there",
      { GOOGLE_APPLICATION_CREDENTIALS: "/keys/a.json" },
      { [gcloud]: user },
      "GOOGLE_APPLICATION_CREDENTIALS names a file that is not there: /keys/a.json.",
    ],
    [
      "what gcloud left",
      {},
      { [gcloud]: user },
      "google: application default credentials at ~/.config/gcloud/application_default_credentials.json",
    ],
    [
      "a machine of Google's",
      {},
      { "/sys/class/dmi/id/bios_vendor": "Google\n" },
      "google: the service account of this machine",
    ],
    [
      "nowhere",
      { METADATA_SERVER_DETECTION: "none", K_SERVICE: "x" },
      {},
      'Run "gcloud auth application-default login", or set GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_OAUTH_ACCESS_TOKEN.',
    ],
  ])("are found in %s", async (_, env, files, words) => {
    expect(await find(env, files)).toBe(words);
  });
});
