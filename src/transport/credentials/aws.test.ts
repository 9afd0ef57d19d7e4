import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { findProvider } from "../../providers/find.ts";
import type { HttpRequest } from "../../world/net.ts";
import { realWorld } from "../../world/real/world.ts";
import { simulatedWorld, type SimulatedWorld } from "../../world/simulated/world.ts";
import type { Environment } from "../../world/world.ts";
import { authorize, findCredentials, openCredentials } from "./credentials.ts";
import { resolveEndpoint } from "../endpoint.ts";

const bedrock = findProvider("bedrock");
const keys = { AWS_ACCESS_KEY_ID: "AKIDPARLEYTEST", AWS_SECRET_ACCESS_KEY: "wJalr/PARLEY+secret" };

const worldWith = (env: Environment): SimulatedWorld => simulatedWorld({ env, start: Date.UTC(2026, 10, 5, 6, 7, 8) });

const signed = async (env: Environment, model: string, purpose: "generate" | "stream"): Promise<HttpRequest> => {
  const resolved = resolveEndpoint(bedrock, model, env, purpose);
  const request: HttpRequest = {
    method: "POST",
    url: resolved.found ? resolved.url : "",
    headers: { "content-type": "application/json", "user-agent": "whatever", "x-way": "long" },
    body: '{"messages":[{"role":"user","content":[{"text":"Grüße"}]}]}',
  };
  return authorize(request, bedrock, openCredentials(worldWith(env)));
};

describe("a request to Bedrock", () => {
  // Both signatures are what AWS's own SDK for JavaScript computes for the same request, keys and time.
  it("is signed as AWS's own SDK signs it", async () => {
    const { headers } = await signed(
      { ...keys, AWS_REGION: "eu-west-3" },
      "us.anthropic.claude-sonnet-5-v1:0",
      "generate",
    );

    expect(headers).toEqual({
      "content-type": "application/json",
      "user-agent": "whatever",
      "x-way": "long",
      "x-amz-date": "20261105T060708Z",
      "x-amz-content-sha256": "86298735cbdd83fe013a40f88abcb9cefc60b193658215ae74297225029626a7",
      authorization:
        "AWS4-HMAC-SHA256 Credential=AKIDPARLEYTEST/20261105/eu-west-3/bedrock/aws4_request, " +
        "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date, " +
        "Signature=8432c0f90b9e6a877e46c61ceb708c0f2cf408d941707349479c22b52c4ca8e3",
    });
  });

  it("is signed so with temporary keys and a model named by its ARN, too", async () => {
    const env = { ...keys, AWS_SESSION_TOKEN: "session/token+with=signs", AWS_DEFAULT_REGION: "eu-west-3" };
    const model = "arn:aws:bedrock:eu-west-3:111122223333:inference-profile/eu.anthropic.claude-sonnet-5-v1:0";
    const { headers } = await signed(env, model, "stream");

    expect([headers["x-amz-security-token"], headers["authorization"]]).toEqual([
      "session/token+with=signs",
      "AWS4-HMAC-SHA256 Credential=AKIDPARLEYTEST/20261105/eu-west-3/bedrock/aws4_request, " +
        "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token, " +
        "Signature=d97589452ebb6b8aa26eaa3c8650c58e1a375558dc260852fc785d955cd69cb4",
    ]);
  });

  it("is signed for the region it goes to, also when only the address says which", async () => {
    const env = { ...keys, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: "https://bedrock-runtime.ap-south-1.amazonaws.com" };
    const { headers } = await signed(env, "m", "generate");

    expect(headers["authorization"]).toContain("/20261105/ap-south-1/bedrock/aws4_request");
  });

  it("carries a bearer token instead, where there is one", async () => {
    const { headers } = await signed({ ...keys, AWS_BEARER_TOKEN_BEDROCK: "token-1" }, "m", "generate");

    expect(headers).toEqual({
      "content-type": "application/json",
      "user-agent": "whatever",
      "x-way": "long",
      authorization: "Bearer token-1",
    });
  });

  it("does not leave without keys", async () => {
    await expect(signed({}, "m", "generate")).rejects.toMatchObject({
      failure: {
        kind: "no-key",
        provider: "bedrock",
        how: 'Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or run "aws configure".',
      },
    });
  });
});

describe("keys for AWS", () => {
  const find = async (env: Environment, files: Readonly<Record<string, string>> = {}): Promise<string> => {
    const world = worldWith(env);
    for (const [path, text] of Object.entries(files)) await world.files.writePrivate(path, text);
    const found = await findCredentials(bedrock, world);
    return found.found ? `${found.kind}: ${found.from}` : found.how;
  };
  const config = "/home/someone/.aws/config";

  it.each<[string, Environment, Readonly<Record<string, string>>, string]>([
    ["a token before all else", { ...keys, AWS_BEARER_TOKEN_BEDROCK: "t" }, {}, "token: AWS_BEARER_TOKEN_BEDROCK"],
    ["the environment", keys, {}, "aws: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"],
    [
      "a named profile before the environment",
      { ...keys, AWS_PROFILE: "work" },
      { [config]: "[default]\n[profile work]\nregion = x\n" },
      "aws: AWS profile work",
    ],
    ["the default profile", {}, { "/home/someone/.aws/credentials": "[default]\n" }, "aws: AWS profile default"],
    ["another file", { AWS_CONFIG_FILE: "/etc/aws" }, { "/etc/aws": "[ default ]\n" }, "aws: AWS profile default"],
    ["a web identity", { AWS_WEB_IDENTITY_TOKEN_FILE: "/t" }, {}, "aws: AWS web identity"],
    ["a container", { AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://x" }, {}, "aws: the AWS role of this container"],
    [
      "a machine of Amazon's",
      {},
      { "/sys/class/dmi/id/sys_vendor": "Amazon EC2\n" },
      "aws: the AWS role of this machine",
    ],
    [
      "a profile that does not exist",
      { AWS_PROFILE: "wrok" },
      { [config]: "[profile work]\n# [wrok]\n" },
      "AWS_PROFILE names a profile that is not in your AWS configuration. Set it to another one.",
    ],
  ])("are found in %s", async (_, env, files, words) => {
    expect(await find(env, files)).toBe(words);
  });
});

describe("AWS's own chain", () => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    vi.unstubAllEnvs();
    for (const close of closers.splice(0)) await close();
  });

  /** The chain reads the real environment, so the test sets it: nothing in it but this. */
  const signWith = async (env: Readonly<Record<string, string>>): Promise<string> => {
    for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    const request: HttpRequest = {
      method: "POST",
      url: "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse",
      headers: {},
      body: "{}",
    };
    const { headers } = await authorize(request, bedrock, openCredentials(realWorld({ ...process.env })));
    return /Credential=([^/]*)/.exec(headers["authorization"] ?? "")?.[1] ?? "none";
  };

  const awsFiles = async (text: string): Promise<Readonly<Record<string, string>>> => {
    const folder = await mkdtemp(join(tmpdir(), "parley-aws-"));
    closers.push(() => rm(folder, { recursive: true }));
    const path = join(folder, "credentials");
    await writeFile(path, text);
    return {
      AWS_SHARED_CREDENTIALS_FILE: path,
      AWS_CONFIG_FILE: join(folder, "none"),
      AWS_EC2_METADATA_DISABLED: "true",
    };
  };

  it("signs with the keys of a profile", async () => {
    const files = await awsFiles("[work]\naws_access_key_id = AKIDWORK\naws_secret_access_key = hush-hush\n");

    expect(await signWith({ ...files, AWS_PROFILE: "work" })).toBe("AKIDWORK");
  });

  it("signs with the keys a container is given", async () => {
    const server = createServer((_, response) => {
      const body = { AccessKeyId: "AKIDBOX", SecretAccessKey: "hush", Token: "t", Expiration: "2100-01-01T00:00:00Z" };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
    const files = await awsFiles("");

    expect(await signWith({ ...files, AWS_CONTAINER_CREDENTIALS_FULL_URI: url })).toBe("AKIDBOX");
  });

  it("says whose keys are missing, and quotes no command of a profile", async () => {
    const files = await awsFiles("[work]\ncredential_process = false --password hush-hush\n");
    const failed = signWith({ ...files, AWS_PROFILE: "work" });

    await expect(failed).rejects.toMatchObject({
      failure: {
        kind: "bad-key",
        detail: "AWS profile work gives no keys (Could not load credentials from any providers).",
      },
    });
    await expect(failed).rejects.not.toThrow("hush-hush");
  });
});
