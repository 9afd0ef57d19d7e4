import type { HttpHeaders } from "../../world/net.ts";
import type { Json, ApiRefusal, CheckFailure, SimProvider } from "../family.ts";
import type { GeminiQuirks } from "./providers.ts";

type GeminiEndpoint = GeminiQuirks["endpoint"];

/** Encodes a refusal in Google's envelope. The Gemini API answers an unknown key with 400, not 401. */
export const encodeError = (
  refusal: ApiRefusal,
  { quirks: { endpoint } }: SimProvider<GeminiQuirks>,
): { readonly body: Json; readonly headers: HttpHeaders; readonly status: number } => {
  const { code, message, details } = toGeminiError(refusal, endpoint);
  const status = statusNames[code] ?? (code >= 500 ? "INTERNAL" : "FAILED_PRECONDITION");
  const error = { code, message, status, ...(details.length === 0 ? {} : { details }) };
  return { body: { error }, headers: {}, status: code };
};

const statusNames: { readonly [code: number]: string } = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  500: "INTERNAL",
  501: "UNIMPLEMENTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

type GeminiError = { readonly code: number; readonly message: string; readonly details: readonly Json[] };

const toGeminiError = (refusal: ApiRefusal, endpoint: GeminiEndpoint): GeminiError =>
  refusal.about === undefined ? refusalError(refusal, endpoint) : checkError(refusal.about, endpoint);

const checkError = (about: CheckFailure, endpoint: GeminiEndpoint): GeminiError => {
  switch (about.check) {
    case "no-key":
      return endpoint === "developer"
        ? { code: 403, message: unregisteredCaller, details: [] }
        : {
            code: 401,
            message: `Request is missing required authentication credential. ${expectedCredential}`,
            details: [errorInfo(endpoint, "CREDENTIALS_MISSING")],
          };
    case "wrong-key":
    case "wrong-signature":
      return endpoint === "developer"
        ? {
            code: 400,
            message: invalidKey,
            details: [
              errorInfo(endpoint, "API_KEY_INVALID"),
              { "@type": rpcType("LocalizedMessage"), locale: "en-US", message: invalidKey },
            ],
          }
        : {
            code: 401,
            message: `Request had invalid authentication credentials. ${expectedCredential}`,
            details: [errorInfo(endpoint, "ACCESS_TOKEN_TYPE_UNSUPPORTED")],
          };
    case "no-model":
      return { code: 404, message: missingModel(about.model, endpoint), details: [] };
    case "no-route":
      return { code: 404, message: "Method not found.", details: [] };
    case "not-json": {
      const message = `Invalid JSON payload received. ${about.error}`;
      return { code: 400, message, details: badRequestDetails(message) };
    }
    case "too-large":
      return { code: 400, message: `Request payload size exceeds the limit: ${about.limit} bytes.`, details: [] };
    case "context": {
      const message = `The input token count (${about.tokens}) exceeds the maximum number of tokens allowed (${about.limit}).`;
      return { code: 400, message, details: [] };
    }
  }
};

const unregisteredCaller =
  "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.";
const invalidKey = "API key not valid. Please pass a valid API key.";
const expectedCredential =
  "Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.";

const missingModel = (model: string, endpoint: GeminiEndpoint): string => {
  switch (endpoint) {
    case "developer":
      return `models/${model} is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.`;
    case "vertex":
      return `Publisher Model \`publishers/google/models/${model}\` was not found or your project does not have access to it. Please ensure you are using a valid model version. For more information, see: https://cloud.google.com/vertex-ai/generative-ai/docs/learn/model-versions`;
    case "code-assist":
      return "Requested entity was not found.";
  }
};

/** An error whose message comes from a rule, a signature or a script. */
const refusalError = (refusal: ApiRefusal, endpoint: GeminiEndpoint): GeminiError => {
  const { kind, message } = refusal;
  switch (kind) {
    case "rate-limited":
      return { code: refusal.status, message, details: quotaDetails(refusal, endpoint, "PerMinute") };
    case "quota":
      return { code: refusal.status, message, details: quotaDetails(refusal, endpoint, "PerDay") };
    // Google has no 402: missing credit is reported as exhausted quota.
    case "no-credit":
      return { code: 429, message, details: [] };
    case "overloaded": {
      const code = refusal.status === 529 ? 503 : refusal.status;
      return {
        code,
        message,
        details: endpoint === "code-assist" ? [errorInfo(endpoint, "MODEL_CAPACITY_EXHAUSTED")] : [],
      };
    }
    case "too-large":
    case "context":
      return { code: 400, message, details: [] };
    case "bad-request":
      return { code: refusal.status, message, details: badRequestDetails(message) };
    case "bad-key":
    case "no-permission":
    case "not-found":
    case "server":
      return { code: refusal.status, message, details: [] };
  }
};

const quotaDetails = (refusal: ApiRefusal, endpoint: GeminiEndpoint, span: "PerMinute" | "PerDay"): readonly Json[] => {
  const wait = Number(refusal.headers?.["retry-after"] ?? (span === "PerMinute" ? 34 : 33_740));
  const retry = { "@type": rpcType("RetryInfo"), retryDelay: `${Number.isFinite(wait) ? wait : 34}s` };
  switch (endpoint) {
    case "developer":
      return [quotaFailure(span), help, retry];
    // Vertex has shared capacity and no quota details.
    case "vertex":
      return [];
    case "code-assist":
      return [
        errorInfo(endpoint, span === "PerMinute" ? "RATE_LIMIT_EXCEEDED" : "QUOTA_EXHAUSTED", {
          uiMessage: "true",
          quotaResetDelay: retry.retryDelay,
        }),
        retry,
      ];
  }
};

const quotaFailure = (span: string): Json => ({
  "@type": rpcType("QuotaFailure"),
  violations: [
    {
      quotaMetric: "generativelanguage.googleapis.com/generate_content_free_tier_requests",
      quotaId: `GenerateRequests${span}PerProjectPerModel-FreeTier`,
      quotaDimensions: { location: "global" },
      quotaValue: "20",
    },
  ],
});

const help: Json = {
  "@type": "type.googleapis.com/google.rpc.Help",
  links: [
    { description: "Learn more about Gemini API quotas", url: "https://ai.google.dev/gemini-api/docs/rate-limits" },
  ],
};

const errorInfo = (endpoint: GeminiEndpoint, name: string, metadata: Json = { service: services[endpoint] }): Json => ({
  "@type": rpcType("ErrorInfo"),
  reason: name,
  domain: endpoint === "code-assist" ? services[endpoint] : "googleapis.com",
  metadata,
});

const services: { readonly [endpoint in GeminiEndpoint]: string } = {
  developer: "generativelanguage.googleapis.com",
  vertex: "aiplatform.googleapis.com",
  "code-assist": "cloudcode-pa.googleapis.com",
};

const rpcType = (name: string): string => `type.googleapis.com/google.rpc.${name}`;

/** JSON parser errors have field violations. */
const badRequestDetails = (message: string): readonly Json[] => {
  if (!/^Invalid (JSON payload|value)/.test(message)) return [];
  const field = / at '([^']+)'/.exec(message)?.[1];
  const violation = { ...(field === undefined ? {} : { field }), description: message };
  return [{ "@type": rpcType("BadRequest"), fieldViolations: [violation] }];
};
