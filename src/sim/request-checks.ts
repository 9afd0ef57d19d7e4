import type { HttpRequest } from "../world/net.ts";
import { parseAwsSignature, isSignatureValid, type AwsSecret } from "./aws-signature.ts";
import type { Json, ApiRefusal, CheckFailure, SimProvider } from "./family.ts";
import { isObject } from "./json.ts";

/** The accepted credentials. Without `keys`, any key is accepted. */
export type AllowedKeys = { readonly keys?: readonly string[]; readonly awsSecret?: AwsSecret };

/** Checks the key or signature of a request; undefined means it is accepted. */
export const checkCredentials = (
  request: HttpRequest,
  { auth }: SimProvider,
  { keys, awsSecret }: AllowedKeys,
): ApiRefusal | undefined => {
  if (auth === "none") return undefined;
  const shown = request.headers["authorization"] ?? "";
  if (auth === "aws" && shown !== "" && !/^bearer /i.test(shown)) return checkSignature(request, shown, awsSecret);
  const key = readKey(request, auth);
  if (key === undefined) return refusalFor({ check: "no-key" });
  return keys === undefined || keys.includes(key) ? undefined : refusalFor({ check: "wrong-key", key });
};

const readKey = ({ headers, url }: HttpRequest, auth: SimProvider["auth"]): string | undefined => {
  const bearer = /^bearer +(\S.*)$/i.exec(headers["authorization"] ?? "")?.[1];
  const inUrl = auth === "x-goog-api-key" ? new URL(url).searchParams.get("key") : null;
  const key = (headers[auth] ?? inUrl ?? bearer ?? "").trim();
  return key === "" ? undefined : key;
};

const checkSignature = (request: HttpRequest, shown: string, secret: AwsSecret | undefined): ApiRefusal | undefined => {
  const signature = parseAwsSignature(shown);
  if (signature !== undefined && secret !== undefined && signature.id !== secret.id)
    return refusalFor({ check: "wrong-key", key: signature.id });
  const isGood = signature !== undefined && (secret === undefined || isSignatureValid(secret, signature, request));
  return isGood ? undefined : refusalFor({ check: "wrong-signature" });
};

/** Parses the body as a JSON object, or returns the refusal. */
export const readBody = (
  request: HttpRequest,
  { maxBytes = 2 ** 25 }: SimProvider,
): { readonly body: Json } | RefusedRequest => {
  const text = typeof request.body === "string" ? request.body : new TextDecoder().decode(request.body);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) return { refused: refusalFor({ check: "too-large", bytes, limit: maxBytes }) };
  try {
    const body: unknown = JSON.parse(text);
    if (isObject(body)) return { body };
    return { refused: refusalFor({ check: "not-json", error: "The body is not a JSON object." }) };
  } catch (error) {
    return { refused: refusalFor({ check: "not-json", error: error instanceof Error ? error.message : "" }) };
  }
};

/** A request that failed a check. */
export type RefusedRequest = { readonly refused: ApiRefusal };

/** Turns a failed check into a refusal with a plain message and the status most vendors use. */
export const refusalFor = (about: CheckFailure): ApiRefusal => {
  switch (about.check) {
    case "no-key":
      return { status: 401, kind: "bad-key", message: "No key was given.", about };
    case "wrong-key":
      return { status: 401, kind: "bad-key", message: "The key is not known.", about };
    case "wrong-signature":
      return { status: 403, kind: "bad-key", message: "The signature does not match the request.", about };
    case "no-model":
      return { status: 404, kind: "not-found", message: `There is no model ${about.model}.`, about };
    case "no-route":
      return { status: 404, kind: "not-found", message: `There is nothing at ${about.method} ${about.path}.`, about };
    case "not-json":
      return { status: 400, kind: "bad-request", message: `The body is not JSON: ${about.error}`, about };
    case "too-large":
      return { status: 413, kind: "too-large", message: `${about.bytes} bytes are more than ${about.limit}.`, about };
    case "context":
      return { status: 400, kind: "context", message: `${about.tokens} tokens are more than ${about.limit}.`, about };
  }
};

/** The kind of refusal a status means by default. */
export const kindOfStatus = (status: number): ApiRefusal["kind"] =>
  kindsByStatus[status] ?? (status >= 500 ? "server" : "bad-request");

const kindsByStatus: { readonly [status: number]: ApiRefusal["kind"] } = {
  401: "bad-key",
  402: "no-credit",
  403: "no-permission",
  404: "not-found",
  413: "too-large",
  429: "rate-limited",
  503: "overloaded",
  529: "overloaded",
};
