import { createHash, createHmac } from "node:crypto";
import type { HttpRequest } from "../world/net.ts";

/** An AWS access key. */
export type AwsSecret = { readonly id: string; readonly secret: string };

/** A Signature Version 4 in an `authorization` header. */
export type AwsSignature = {
  readonly id: string;
  readonly scope: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
};

/** Parses an `authorization` header; undefined if it is not a Signature Version 4. */
export const parseAwsSignature = (authorization: string): AwsSignature | undefined => {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8}\/[a-z0-9-]+\/[a-z0-9-]+\/aws4_request), ?SignedHeaders=([a-z0-9:;_-]+), ?Signature=([0-9a-f]{64})$/;
  const [, id, scope, signed, signature] = form.exec(authorization) ?? [];
  if (id === undefined || scope === undefined || signed === undefined || signature === undefined) return undefined;
  return { id, scope, signedHeaders: signed.split(";"), signature };
};

/** Recomputes the signature from the request and compares it. */
export const isSignatureValid = (
  { secret }: AwsSecret,
  { scope, signedHeaders, signature }: AwsSignature,
  request: HttpRequest,
): boolean => {
  const toSign = [
    "AWS4-HMAC-SHA256",
    request.headers["x-amz-date"] ?? "",
    scope,
    sha256(canonicalRequest(request, signedHeaders)),
  ];
  const key = scope.split("/").reduce<string | Buffer>((made, part) => hmac(made, part), `AWS4${secret}`);
  return hmac(key, toSign.join("\n")).toString("hex") === signature;
};

const canonicalRequest = ({ method, url, headers, body }: HttpRequest, signedHeaders: readonly string[]): string => {
  const { pathname, searchParams, host } = new URL(url);
  // Over HTTP/2 Amazon's client signs `:authority` in place of `host`.
  const valueOf = (name: string): string => headers[name] ?? (name === "host" || name === ":authority" ? host : "");
  return [
    method,
    // Bedrock requires the path to be escaped twice, as every AWS service except S3.
    pathname.split("/").map(percentEncode).join("/"),
    [...searchParams]
      .map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
      .toSorted()
      .join("&"),
    ...signedHeaders.map((name) => `${name}:${valueOf(name).trim().replaceAll(/\s+/g, " ")}`),
    "",
    signedHeaders.join(";"),
    sha256(body ?? ""),
  ].join("\n");
};

const percentEncode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
