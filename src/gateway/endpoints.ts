import type { InboundApi } from "./answers/answer.ts";

/** The operation a client asks for. */
export type GatewayEndpoint = {
  readonly api: InboundApi;
  readonly operation: "generate" | "count" | "models" | "compact" | "status";
  /** The model, where the path names it. */
  readonly model?: string;
  /** Whether the path asks for a stream. */
  readonly stream?: boolean;
  /** The vendor whose form of Chat Completions the client reads, where that is not OpenAI's. */
  readonly vendor?: "groq" | "mistral";
};

/** Finds the operation of a path; undefined if there is none. The prefix `/v1` may be missing: base URLs differ in it. */
export const findEndpoint = (
  path: string,
  headers: { readonly [name: string]: string },
): GatewayEndpoint | undefined => {
  const plain = path.replace(/\/+$/, "");
  // Groq's client adds this prefix to its base URL.
  if (plain.startsWith("/openai/v1/")) {
    const endpoint = findEndpoint(plain.slice("/openai".length), headers);
    return endpoint?.api === "openai-chat" ? { ...endpoint, vendor: "groq" } : endpoint;
  }
  const gemini = /^\/v1(?:beta|alpha)?\/models\/(.+):(generateContent|streamGenerateContent|countTokens)$/.exec(plain);
  if (gemini !== null) {
    const model = decode(gemini[1] ?? "").replace(/^models\//, "");
    if (gemini[2] === "countTokens") return { api: "gemini", operation: "count", model };
    return { api: "gemini", operation: "generate", model, stream: gemini[2] === "streamGenerateContent" };
  }
  switch (plain.replace(/^\/v1(?=\/)/, "")) {
    case "/messages":
      return { api: "anthropic", operation: "generate" };
    case "/messages/count_tokens":
      return { api: "anthropic", operation: "count" };
    case "/chat/completions":
      return {
        api: "openai-chat",
        operation: "generate",
        // Mistral's client has the same path, and cannot read OpenAI's streams.
        ...(/mistral/i.test(headers["user-agent"] ?? "") ? { vendor: "mistral" } : {}),
      };
    case "/responses":
      return { api: "openai-responses", operation: "generate" };
    case "/responses/input_tokens":
      return { api: "openai-responses", operation: "count" };
    case "/responses/compact":
      return { api: "openai-responses", operation: "compact" };
    case "/models":
      return { api: headers["anthropic-version"] === undefined ? "openai-chat" : "anthropic", operation: "models" };
    case "/v1beta/models":
      return { api: "gemini", operation: "models" };
    case "":
    case "/healthz":
      return { api: "openai-chat", operation: "status" };
    default:
      return undefined;
  }
};

/** The API whose words an error on this path has. */
export const apiOfPath = (path: string, headers: { readonly [name: string]: string }): InboundApi => {
  const endpoint = findEndpoint(path, headers);
  if (endpoint !== undefined && endpoint.operation !== "status") return endpoint.api;
  if (path.startsWith("/v1beta")) return "gemini";
  if (path.includes("/messages") || headers["anthropic-version"] !== undefined) return "anthropic";
  return path.includes("/responses") ? "openai-responses" : "openai-chat";
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
