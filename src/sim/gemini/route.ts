import type { HttpRequest } from "../../world/net.ts";
import type { Json, ApiRoute, SimProvider } from "../family.ts";
import { type GeminiQuirks, servedModel } from "./providers.ts";
import { asObject, asText } from "../json.ts";

/** Selects the operation for a method and path. Routed names are replaced by the model that serves them. */
export const routeRequest = (
  request: HttpRequest,
  path: string,
  provider: SimProvider<GeminiQuirks>,
): ApiRoute | undefined => {
  const plain = decodePath(path.split("?")[0] ?? "");
  return provider.quirks.endpoint === "code-assist"
    ? codeAssistRoute(request, plain)
    : modelRoute(request, modelPath(provider.quirks.endpoint, plain));
};

const decodePath = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};

/** The rest of a path after `models`: nothing, a model, or a model and a method. */
const modelPath = (endpoint: "developer" | "vertex", path: string): string | undefined =>
  (endpoint === "developer" ? /^\/v1(?:beta|alpha)?\/models(\/[^/]+)?$/ : vertexPath)
    .exec(path)
    ?.slice(1)
    .map((rest) => rest ?? "")[0];

/** Express mode omits project and location. */
const vertexPath = /^\/v1(?:beta1)?(?:\/projects\/[^/]+\/locations\/[^/]+)?\/publishers\/google\/models(\/[^/]+)?$/;

const modelRoute = (request: HttpRequest, rest: string | undefined): ApiRoute | undefined => {
  if (rest === undefined) return undefined;
  const [name = "", method] = rest.slice(1).split(":");
  if (request.method === "GET") {
    if (method !== undefined) return undefined;
    return name === "" ? { kind: "models" } : { kind: "model", model: name };
  }
  return name === "" ? undefined : methodRoute(request, method, servedModel(name));
};

const methodRoute = (
  request: HttpRequest,
  method: string | undefined,
  model: string | undefined,
): ApiRoute | undefined => {
  const named = model === undefined ? {} : { model };
  switch (method) {
    case "generateContent":
      return { kind: "generate", ...named };
    case "streamGenerateContent":
      return isServerSent(request)
        ? { kind: "stream", ...named }
        : { kind: "stream", ...named, streamType: "application/json; charset=UTF-8" };
    case "countTokens":
      return { kind: "count", ...named };
    default:
      return undefined;
  }
};

/** Without `alt=sse` a stream is one JSON list, written element by element. */
const isServerSent = (request: HttpRequest): boolean =>
  new URL(request.url, "http://localhost").searchParams.get("alt") === "sse";

const codeAssistRoute = (request: HttpRequest, path: string): ApiRoute | undefined => {
  const method = request.method === "POST" ? /^\/v1internal:(\w+)$/.exec(path)?.[1] : undefined;
  if (method === "loadCodeAssist") return { kind: "fixed", body: loadResponse };
  if (method === "onboardUser") return { kind: "fixed", body: onboardResponse };
  return methodRoute(request, method, modelIn(request));
};

/** Code Assist has the model in the body, and for countTokens inside `request`. */
const modelIn = (request: HttpRequest): string | undefined => {
  const body = bodyOf(request);
  const name = asText(body["model"]) || asText(asObject(body["request"])["model"]);
  return name === "" ? undefined : servedModel(name.replace(/^models\//, ""));
};

const bodyOf = (request: HttpRequest): Json => {
  try {
    return asObject(JSON.parse(Buffer.from(request.body ?? "").toString()));
  } catch {
    return {};
  }
};

const tier: Json = {
  id: "standard-tier",
  name: "Gemini Code Assist",
  description: "Unlimited coding assistant with the most powerful Gemini models",
  userDefinedCloudaicompanionProject: true,
  privacyNotice: {},
};

const loadResponse: Json = {
  currentTier: tier,
  allowedTiers: [{ ...tier, isDefault: true }],
  cloudaicompanionProject: "simulated-project",
  gcpManaged: false,
};

const onboardResponse: Json = {
  name: "operations/simulated-onboarding",
  done: true,
  response: {
    "@type": "type.googleapis.com/google.internal.cloud.code.v1internal.OnboardUserResponse",
    cloudaicompanionProject: { id: "simulated-project", name: "simulated-project" },
  },
};
