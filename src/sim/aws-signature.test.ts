import { createHash, createHmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import { describe, expect, it } from "vitest";
import type { HttpRequest } from "../world/net.ts";
import { parseAwsSignature, isSignatureValid } from "./aws-signature.ts";

class Sha256 {
  readonly #hash;

  constructor(secret?: unknown) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret as Buffer);
  }

  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
}

const secret = { id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG" };
const path = "/model/anthropic.claude-sonnet-5-v1%3A0/converse";
const body = '{"messages":[]}';

/** A request signed with the library that Parley uses. */
const signed = async (): Promise<HttpRequest> => {
  const signer = new SignatureV4({
    service: "bedrock",
    region: "us-east-1",
    credentials: { accessKeyId: secret.id, secretAccessKey: secret.secret, sessionToken: "a token" },
    sha256: Sha256,
  });
  const { headers } = await signer.sign(
    {
      method: "POST",
      protocol: "https:",
      hostname: "bedrock-runtime.us-east-1.amazonaws.com",
      path,
      query: { b: "2", a: "x y" },
      headers: { host: "bedrock-runtime.us-east-1.amazonaws.com", "content-type": "application/json" },
      body,
    },
    { signingDate: new Date("2026-11-15T12:00:00Z") },
  );
  return { method: "POST", url: `https://bedrock-runtime.us-east-1.amazonaws.com${path}?a=x%20y&b=2`, headers, body };
};

const isGood = (request: HttpRequest, key = secret): boolean => {
  const signature = parseAwsSignature(request.headers["authorization"] ?? "");
  return signature !== undefined && isSignatureValid(key, signature, request);
};

describe("an AWS signature", () => {
  it("is valid for its request, with headers and query sorted as AWS does", async () => {
    expect(isGood(await signed())).toBe(true);
  });

  it("is valid when the host is only in the URL", async () => {
    const { headers, ...request } = await signed();
    const { host: _, ...rest } = headers;
    expect(isGood({ ...request, headers: rest })).toBe(true);
  });

  it("is invalid after any change: body, path, query, a signed header, the date, the secret", async () => {
    const request = await signed();
    const changed: readonly HttpRequest[] = [
      { ...request, body: '{"messages":[ ]}' },
      { ...request, url: request.url.replace("converse", "converse-stream") },
      { ...request, url: request.url.replace("b=2", "b=3") },
      { ...request, headers: { ...request.headers, "x-amz-security-token": "another" } },
      { ...request, headers: { ...request.headers, "x-amz-date": "20261115T120001Z" } },
    ];
    expect(changed.map((each) => isGood(each))).toEqual([false, false, false, false, false]);
    expect(isGood(request, { ...secret, secret: "guessed" })).toBe(false);
  });

  it("must have the documented format", () => {
    const good =
      "AWS4-HMAC-SHA256 Credential=AKID/20261115/us-east-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date, Signature=" +
      "0".repeat(64);
    expect(parseAwsSignature(good)).toEqual({
      id: "AKID",
      scope: "20261115/us-east-1/bedrock/aws4_request",
      signedHeaders: ["host", "x-amz-date"],
      signature: "0".repeat(64),
    });
    for (const bad of ["", "AWS4-HMAC-SHA256", good.slice(0, -1), good.replace("aws4_request", "aws"), `x${good}`])
      expect(parseAwsSignature(bad)).toBeUndefined();
  });
});
