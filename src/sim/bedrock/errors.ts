import type { HttpHeaders } from "../../world/net.ts";
import { claudeVersion } from "./providers.ts";
import type { ApiRefusal, CheckFailure } from "../family.ts";

/** Encodes a refusal as AWS does: the exception type in a header, the message in the body. */
export const encodeError = (
  refusal: ApiRefusal,
): { readonly body: unknown; readonly headers: HttpHeaders; readonly status?: number } => {
  const { type, status, message } = exceptionOf(refusal);
  const headers = {
    ...requestIdHeaders(refusal.ordinal ?? 0),
    "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
    ...refusal.headers,
  };
  if (refusal.about?.check === "no-route")
    return { body: { Output: { __type: `com.amazon.coral.service#${type}` }, Version: "1.0" }, headers, status };
  return { body: { message }, headers, status };
};

/** The request id header of every response. */
export const requestIdHeaders = (ordinal: number): HttpHeaders => ({
  "x-amzn-requestid": `00000000-0000-4000-8000-${String(ordinal).padStart(12, "0")}`,
});

type AwsException = { readonly type: string; readonly status: number; readonly message: string };

/** Maps a refusal to an AWS exception, most with a status of their own. */
export const exceptionOf = ({ about, kind, message, status }: ApiRefusal): AwsException => {
  if (about !== undefined) return checkException(about);
  switch (kind) {
    case "bad-request":
    case "too-large":
    case "context":
      return modelException(status, message) ?? { type: "ValidationException", status: 400, message };
    case "bad-key":
      return { type: "UnrecognizedClientException", status: 403, message };
    case "no-permission":
    case "no-credit":
      return { type: "AccessDeniedException", status: 403, message };
    case "not-found":
      return { type: "ResourceNotFoundException", status: 404, message };
    case "rate-limited":
      return { type: "ThrottlingException", status: 429, message };
    case "quota":
      return { type: "ServiceQuotaExceededException", status: 400, message };
    case "overloaded":
      return { type: "ServiceUnavailableException", status: 503, message };
    case "server":
      return modelException(status, message) ?? { type: "InternalServerException", status, message };
  }
};

/** Model errors have their own statuses. */
const modelException = (status: number, message: string): AwsException | undefined => {
  if (status === 408) return { type: "ModelTimeoutException", status, message };
  return status === 424 ? { type: "ModelErrorException", status, message } : undefined;
};

const checkException = (about: CheckFailure): AwsException => {
  const invalid = (message: string): AwsException => ({ type: "ValidationException", status: 400, message });
  switch (about.check) {
    case "no-key":
      return { type: "MissingAuthenticationTokenException", status: 403, message: "Missing Authentication Token" };
    case "wrong-key":
      return about.key.startsWith("AKIA") || about.key.startsWith("ASIA")
        ? {
            type: "UnrecognizedClientException",
            status: 403,
            message: "The security token included in the request is invalid.",
          }
        : {
            type: "AccessDeniedException",
            status: 403,
            message: "Authentication failed: Please make sure your API Key is valid.",
          };
    case "wrong-signature":
      return {
        type: "InvalidSignatureException",
        status: 403,
        message:
          "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.",
      };
    case "no-model":
      return invalid("The provided model identifier is invalid.");
    case "no-route":
      return { type: "UnknownOperationException", status: 404, message: "" };
    case "not-json":
      return { type: "SerializationException", status: 400, message: about.error };
    case "too-large":
      return invalid(
        `1 validation error detected: Value at 'body' failed to satisfy constraint: Member must have length less than or equal to ${about.limit}`,
      );
    case "context":
      return invalid(`The model returned the following errors: ${contextMessage(about)}`);
  }
};

const contextMessage = ({ model, tokens, limit }: Extract<CheckFailure, { check: "context" }>): string => {
  if (claudeVersion(model) !== undefined) return `prompt is too long: ${tokens} tokens > ${limit} maximum`;
  return model.includes("nova")
    ? "Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again."
    : "Input is too long for requested model.";
};
