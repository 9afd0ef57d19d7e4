import { createHash, createHmac } from "node:crypto";
import type { HttpRequest } from "../../world/net.ts";
import type { World } from "../../world/world.ts";
import { AuthError, readKey, type CredentialStatus } from "./api-key.ts";
import type { TokenCache, ExpiringValue } from "./token-cache.ts";
import { awsRegion, envValue } from "../endpoint.ts";

/** AWS credentials. */
export type AwsKeys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
};

/** Finds where AWS credentials would come from, without network requests. */
export const findAws = async (world: Pick<World, "env" | "host" | "files">): Promise<CredentialStatus> => {
  const bearer = readKey(world.env, [bearerVariable]);
  if (bearer !== undefined) return { found: true, from: bearer.name, kind: "token" };
  const source = await findAwsSource(world);
  return typeof source === "string" ? { found: true, from: source, kind: "aws" } : source;
};

/** Signs a request to AWS (Signature V4 or a bearer token). Sign last: a header or body changed later breaks the signature. */
export const signAws = async (
  request: HttpRequest,
  world: Pick<World, "env" | "clock">,
  keys: TokenCache<AwsKeys>,
  signal?: AbortSignal,
): Promise<HttpRequest> => {
  const bearer = readKey(world.env, [bearerVariable]);
  if (bearer !== undefined)
    return { ...request, headers: { ...request.headers, authorization: `Bearer ${bearer.secret}` } };
  const credentials = await keys.get(signal);
  const { SignatureV4 } = await import("@smithy/signature-v4");
  const url = new URL(request.url);
  const region = regionIn(url.hostname) ?? awsRegion(world.env);
  const signer = new SignatureV4({ service: "bedrock", region, credentials, sha256: Sha256 });
  const { headers: signed } = await signer.sign(
    {
      method: request.method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { ...signable(request.headers), host: url.host },
      body: request.body,
    },
    { signingDate: new Date(world.clock.now()) },
  );
  // The host is signed, but the network layer adds the header.
  const { host: _, ...headers } = signed;
  return { ...request, headers: { ...request.headers, ...headers } };
};

/** Fetches AWS credentials: from the environment, else through AWS's own provider chain, which may use the network. */
export const fetchAwsKeys = async (world: Pick<World, "env" | "host" | "files">): Promise<ExpiringValue<AwsKeys>> => {
  const source = await findAwsSource(world);
  if (typeof source !== "string") throw new AuthError("no-key", source.how);
  if (source === keyVariables) return { value: keysFromEnvironment(world), until: Number.POSITIVE_INFINITY };
  const found = await fetchFromChain(world.env["AWS_PROFILE"], source);
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = found;
  return {
    value: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
    until: expiration?.getTime() ?? Number.POSITIVE_INFINITY,
  };
};

const bearerVariable = "AWS_BEARER_TOKEN_BEDROCK";
const keyVariables = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";

/** Checks sources in the order of AWS's own chain: a named profile wins over keys in the environment. */
const findAwsSource = async (
  world: Pick<World, "env" | "host" | "files">,
): Promise<string | Extract<CredentialStatus, { found: false }>> => {
  const { env, files } = world;
  const named = envValue(env, "AWS_PROFILE");
  if (named !== undefined)
    return (await hasProfile(world, named))
      ? `AWS profile ${named}`
      : {
          found: false,
          how: `AWS_PROFILE names a profile that is not in your AWS configuration. Set it to another one.`,
        };
  if (envValue(env, "AWS_ACCESS_KEY_ID") !== undefined && envValue(env, "AWS_SECRET_ACCESS_KEY") !== undefined)
    return keyVariables;
  if (await hasProfile(world, "default")) return "AWS profile default";
  if (envValue(env, "AWS_WEB_IDENTITY_TOKEN_FILE") !== undefined) return "AWS web identity";
  if (envValue(env, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI") !== undefined)
    return "the AWS role of this container";
  const vendor = (await files.read("/sys/class/dmi/id/sys_vendor"))?.trim();
  if (vendor === "Amazon EC2" && envValue(env, "AWS_EC2_METADATA_DISABLED") !== "true")
    return "the AWS role of this machine";
  return {
    found: false,
    how: `Set ${bearerVariable}, or ${keyVariables}, or AWS_PROFILE, or run "aws configure".`,
  };
};

const hasProfile = async (
  { env, host, files }: Pick<World, "env" | "host" | "files">,
  name: string,
): Promise<boolean> => {
  const paths = [
    envValue(env, "AWS_CONFIG_FILE") ?? `${host.home}/.aws/config`,
    envValue(env, "AWS_SHARED_CREDENTIALS_FILE") ?? `${host.home}/.aws/credentials`,
  ];
  const texts = await Promise.all(paths.map((path) => files.read(path)));
  return texts.some((text) =>
    (text ?? "").split("\n").some((line) => {
      const heading = /^\s*\[\s*(?:profile\s+)?"?([^"\]]+?)"?\s*\]/.exec(line);
      return heading?.[1] === name;
    }),
  );
};

const keysFromEnvironment = ({ env }: Pick<World, "env">): AwsKeys => {
  const [id, secret, token] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"].map((name) =>
    readKey(env, [name]),
  );
  return {
    accessKeyId: id?.secret ?? "",
    secretAccessKey: secret?.secret ?? "",
    ...(token === undefined ? {} : { sessionToken: token.secret }),
  };
};

/** Runs AWS's provider chain. It reads the real environment and files, so it runs only if this world has something to find. */
const fetchFromChain = async (
  profile: string | undefined,
  source: string,
): Promise<AwsKeys & { readonly expiration?: Date | undefined }> => {
  process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] = "true";
  const { defaultProvider } = await import("@aws-sdk/credential-provider-node");
  try {
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = await defaultProvider(
      profile === undefined ? {} : { profile },
    )();
    return { accessKeyId, secretAccessKey, expiration, ...(sessionToken === undefined ? {} : { sessionToken }) };
  } catch (error) {
    // The chain's messages name files, profiles and hosts, never keys or output of commands.
    const message = error instanceof Error ? error.message : "no reason was given";
    throw new AuthError("bad-key", `${source} gives no keys (${message}).`);
  }
};

/** Returns the headers to sign: none that a proxy or a retry may change. */
const signable = (headers: HttpRequest["headers"]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name === "content-type" || name.startsWith("x-amz-")));

/** Returns the region in an endpoint's host name. */
const regionIn = (hostname: string): string | undefined =>
  /\bbedrock(?:-runtime)?(?:-fips)?\.([a-z0-9-]+)\.(?:vpce\.)?amazonaws\.com$/.exec(hostname)?.[1];

/** SHA-256 or HMAC in the interface of the signer library. */
class Sha256 {
  readonly #hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.#hash.digest()));
  }

  /** Part of the interface; the signer creates a new one each time. */
  reset(): void {}
}

const bytesOf = (data: string | ArrayBuffer | ArrayBufferView): Uint8Array => {
  if (typeof data === "string") return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
};
