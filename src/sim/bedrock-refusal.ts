import type { Headers } from "../world/net.ts";
import { claudeVersion } from "./bedrock-providers.ts";
import type { Refusal, RefusedAt } from "./family.ts";

/** A refusal as AWS writes it: the kind stands in a header, the body is a sentence. */
export const refuseBedrock = (
  refusal: Refusal,
): { readonly body: unknown; readonly headers: Headers; readonly status?: number } => {
  const { type, status, message } = exceptionOf(refusal);
  const headers = {
    ...requestHeaders(refusal.ordinal ?? 0),
    "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
    ...refusal.headers,
  };
  if (refusal.about?.door === "no-route")
    return { body: { Output: { __type: `com.amazon.coral.service#${type}` }, Version: "1.0" }, headers, status };
  return { body: { message }, headers, status };
};

/** The header every answer has, by which AWS finds it again. */
export const requestHeaders = (ordinal: number): Headers => ({
  "x-amzn-requestid": `00000000-0000-4000-8000-${String(ordinal).padStart(12, "0")}`,
});

type Exception = { readonly type: string; readonly status: number; readonly message: string };

/** The exception behind a refusal. AWS has its own status for most of them. */
export const exceptionOf = ({ about, kind, message, status }: Refusal): Exception => {
  if (about !== undefined) return doorException(about);
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

/** Failures of the model behind the service have statuses of their own. */
const modelException = (status: number, message: string): Exception | undefined => {
  if (status === 408) return { type: "ModelTimeoutException", status, message };
  return status === 424 ? { type: "ModelErrorException", status, message } : undefined;
};

const doorException = (about: RefusedAt): Exception => {
  const invalid = (message: string): Exception => ({ type: "ValidationException", status: 400, message });
  switch (about.door) {
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
      return invalid(`The model returned the following errors: ${tooLong(about)}`);
  }
};

const tooLong = ({ model, tokens, limit }: Extract<RefusedAt, { door: "context" }>): string => {
  if (claudeVersion(model) !== undefined) return `prompt is too long: ${tokens} tokens > ${limit} maximum`;
  return model.includes("nova")
    ? "Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again."
    : "Input is too long for requested model.";
};
