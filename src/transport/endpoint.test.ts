import { describe, expect, it } from "vitest";
import { providers } from "../providers/all.ts";
import { findProvider } from "../providers/find.ts";
import type { Environment } from "../world/world.ts";
import { isProviderAddress, resolveEndpoint, type EndpointPurpose, type ResolvedEndpoint } from "./endpoint.ts";

const resolve = (
  provider: string,
  model: string,
  env: Environment,
  purpose: EndpointPurpose = "generate",
): ResolvedEndpoint => resolveEndpoint(findProvider(provider), model, env, purpose);
const urlOf = (
  provider: string,
  model: string,
  env: Environment = {},
  purpose: EndpointPurpose = "generate",
): string => {
  const resolved = resolve(provider, model, env, purpose);
  return resolved.found ? resolved.url : `${resolved.reason}: ${resolved.how}`;
};

const purposes: readonly EndpointPurpose[] = ["generate", "stream", "count", "models"];
const cloud = { GOOGLE_CLOUD_PROJECT: "my-project", AZURE_OPENAI_RESOURCE: "my-resource" };

describe("the address of a request", () => {
  it("is the vendor's own for every provider and purpose", () => {
    const addresses = Object.fromEntries(
      providers.map(({ id }) => [id, purposes.map((purpose) => urlOf(id, "some-model", cloud, purpose))]),
    );

    const google = "https://generativelanguage.googleapis.com/v1beta/models";
    const vertex = "https://aiplatform.googleapis.com/v1/projects/my-project/locations/global/publishers/google/models";
    const codeAssist = "https://cloudcode-pa.googleapis.com/v1internal";
    const bedrock = "https://bedrock-runtime.us-east-1.amazonaws.com/model/some-model";
    const absent = (label: string, what: "count tokens" | "list its models"): string =>
      `not-offered: ${label} does not ${what}.`;
    const chat = (label: string, base: string, count = absent(label, "count tokens")): readonly string[] => [
      `${base}/chat/completions`,
      `${base}/chat/completions`,
      count,
      `${base}/models`,
    ];
    const responses = (base: string, count: string): readonly string[] => [
      `${base}/responses`,
      `${base}/responses`,
      count,
      `${base}/models`,
    ];
    expect(addresses).toMatchObject({
      google: [
        `${google}/some-model:generateContent`,
        `${google}/some-model:streamGenerateContent?alt=sse`,
        `${google}/some-model:countTokens`,
        `${google}?pageSize=1000`,
      ],
      vertex: [
        `${vertex}/some-model:generateContent`,
        `${vertex}/some-model:streamGenerateContent?alt=sse`,
        `${vertex}/some-model:countTokens`,
        "https://aiplatform.googleapis.com/v1beta1/publishers/google/models",
      ],
      "code-assist": [
        `${codeAssist}:generateContent`,
        `${codeAssist}:streamGenerateContent?alt=sse`,
        `${codeAssist}:countTokens`,
        absent("Gemini Code Assist", "list its models"),
      ],
      anthropic: [
        "https://api.anthropic.com/v1/messages",
        "https://api.anthropic.com/v1/messages",
        "https://api.anthropic.com/v1/messages/count_tokens",
        "https://api.anthropic.com/v1/models",
      ],
      bedrock: [
        `${bedrock}/converse`,
        `${bedrock}/converse-stream`,
        `${bedrock}/count-tokens`,
        "https://bedrock.us-east-1.amazonaws.com/foundation-models",
      ],
      openai: responses("https://api.openai.com/v1", "https://api.openai.com/v1/responses/input_tokens"),
      "openai-chat": chat("OpenAI (Chat Completions)", "https://api.openai.com/v1"),
      xai: responses("https://api.x.ai/v1", absent("xAI Grok", "count tokens")),
      groq: chat("Groq", "https://api.groq.com/openai/v1"),
      openrouter: chat("OpenRouter", "https://openrouter.ai/api/v1"),
      kimi: chat(
        "Moonshot Kimi",
        "https://api.moonshot.ai/v1",
        "https://api.moonshot.ai/v1/tokenizers/estimate-token-count",
      ),
      mistral: chat("Mistral", "https://api.mistral.ai/v1"),
      deepseek: chat("DeepSeek", "https://api.deepseek.com"),
      azure: responses("https://my-resource.openai.azure.com/openai/v1", absent("Azure OpenAI", "count tokens")),
      qwen: chat(findProvider("qwen").label, "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"),
      zai: chat(findProvider("zai").label, "https://api.z.ai/api/paas/v4"),
      minimax: chat("MiniMax", "https://api.minimax.io/v1"),
      cohere: [
        ...chat("Cohere", "https://api.cohere.ai/compatibility/v1").slice(0, 3),
        "https://api.cohere.com/v1/models",
      ],
      local: chat(findProvider("local").label, "http://127.0.0.1:11434/v1"),
      offline: [
        "offline:/chat/completions",
        "offline:/chat/completions",
        absent("Demo model (offline)", "count tokens"),
        absent("Demo model (offline)", "list its models"),
      ],
    });
  });

  it.each<[string, string, Environment, string]>([
    ["openai", "m", { OPENAI_BASE_URL: " https://gate.test/v1/ " }, "https://gate.test/v1/responses"],
    ["openai-chat", "m", { OPENAI_BASE_URL: "https://gate.test/v1" }, "https://gate.test/v1/chat/completions"],
    ["anthropic", "m", { ANTHROPIC_BASE_URL: "https://gate.test" }, "https://gate.test/v1/messages"],
    [
      "google",
      "m",
      { GOOGLE_GEMINI_BASE_URL: "http://10.1.1.1:8080/g" },
      "http://10.1.1.1:8080/g/v1beta/models/m:generateContent",
    ],
    ["bedrock", "m", { AWS_ENDPOINT_URL: "http://127.0.0.1:9/all" }, "http://127.0.0.1:9/all/model/m/converse"],
    [
      "bedrock",
      "m",
      { AWS_ENDPOINT_URL: "http://127.0.0.1:9", AWS_ENDPOINT_URL_BEDROCK_RUNTIME: "http://127.0.0.1:8" },
      "http://127.0.0.1:8/model/m/converse",
    ],
    [
      "azure",
      "m",
      { AZURE_OPENAI_ENDPOINT: "https://r.openai.azure.com/" },
      "https://r.openai.azure.com/openai/v1/responses",
    ],
    ["azure", "m", { AZURE_OPENAI_ENDPOINT: "https://r.test/openai/v1" }, "https://r.test/openai/v1/responses"],
    ["groq", "m", { GROQ_BASE_URL: "https://gate.test" }, "https://gate.test/openai/v1/chat/completions"],
    ["local", "m", { OLLAMA_HOST: "0.0.0.0" }, "http://127.0.0.1:11434/v1/chat/completions"],
    ["local", "m", { OLLAMA_HOST: ":5000" }, "http://127.0.0.1:5000/v1/chat/completions"],
    ["local", "m", { OLLAMA_HOST: "gpu-box" }, "http://gpu-box:11434/v1/chat/completions"],
    ["local", "m", { OLLAMA_HOST: "gpu-box:80" }, "http://gpu-box/v1/chat/completions"],
    ["local", "m", { OLLAMA_HOST: "https://gpu-box" }, "https://gpu-box/v1/chat/completions"],
    ["local", "m", { OLLAMA_BASE_URL: "http://127.0.0.1:1234/v1" }, "http://127.0.0.1:1234/v1/chat/completions"],
    ["openai", "m", { OPENAI_BASE_URL: "https://gate.test/v1?team=a" }, "https://gate.test/v1/responses?team=a"],
  ])("of %s/%s moves with %j", (provider, model, env, url) => {
    expect(urlOf(provider, model, env)).toBe(url);
  });

  it("of a stream keeps both its own query and that of a moved base", () => {
    expect(urlOf("google", "m", { GOOGLE_GEMINI_BASE_URL: "https://gate.test?team=a" }, "stream")).toBe(
      "https://gate.test/v1beta/models/m:streamGenerateContent?alt=sse&team=a",
    );
  });

  it("moves with a variable of our own before any other, and says which variable moved it", () => {
    const env = { PARLEY_CODE_ASSIST_BASE_URL: "http://127.0.0.1:7", CODE_ASSIST_ENDPOINT: "https://gate.test" };
    expect([resolve("code-assist", "m", env), resolve("openai", "m", env)]).toEqual([
      { found: true, url: "http://127.0.0.1:7/v1internal:generateContent", from: "PARLEY_CODE_ASSIST_BASE_URL" },
      { found: true, url: "https://api.openai.com/v1/responses", from: "the provider's own address" },
    ]);
  });

  it("stays where it is when the variable is empty", () => {
    expect(urlOf("openai", "m", { OPENAI_BASE_URL: "  " })).toBe("https://api.openai.com/v1/responses");
  });

  it("moves also where a list of models lives on another host", () => {
    const env = { PARLEY_BEDROCK_BASE_URL: "http://127.0.0.1:8", PARLEY_COHERE_BASE_URL: "http://127.0.0.1:8/c" };
    expect([urlOf("bedrock", "m", env, "models"), urlOf("cohere", "m", env, "models")]).toEqual([
      "http://127.0.0.1:8/foundation-models",
      "http://127.0.0.1:8/c/v1/models",
    ]);
  });

  it.each<[string, string, Environment, string]>([
    ["bedrock", "us.anthropic.claude-sonnet-5-v1:0", {}, "us.anthropic.claude-sonnet-5-v1%3A0/converse"],
    [
      "bedrock",
      "arn:aws:bedrock:us-east-1:111122223333:inference-profile/a.b",
      {},
      "arn%3Aaws%3Abedrock%3Aus-east-1%3A111122223333%3Ainference-profile%2Fa.b/converse",
    ],
    ["google", "models/gemini-3.8-flash", {}, "/v1beta/models/gemini-3.8-flash:generateContent"],
    ["google", "tunedModels/mine", {}, "/v1beta/tunedModels/mine:generateContent"],
    ["google", "a/b?c#d", {}, "/v1beta/models/a%2Fb%3Fc%23d:generateContent"],
    [
      "vertex",
      "publishers/google/models/g",
      cloud,
      "/projects/my-project/locations/global/publishers/google/models/g:generateContent",
    ],
    ["vertex", "projects/p/locations/l/endpoints/1", {}, "/v1/projects/p/locations/l/endpoints/1:generateContent"],
    ["openrouter", "anthropic/claude-sonnet-5", {}, "/api/v1/chat/completions"],
  ])("names the model the way the vendor wants it: %s/%s", (provider, model, env, end) => {
    expect(urlOf(provider, model, env).endsWith(end)).toBe(true);
  });

  it.each<[string, Environment, string]>([
    ["global", {}, "aiplatform.googleapis.com"],
    ["a region", { GOOGLE_CLOUD_LOCATION: "europe-west4" }, "europe-west4-aiplatform.googleapis.com"],
    ["a multi-region", { GOOGLE_CLOUD_LOCATION: "eu" }, "aiplatform.eu.rep.googleapis.com"],
  ])("of Vertex has the host for %s", (_, env, host) => {
    expect(new URL(urlOf("vertex", "m", { ...cloud, ...env })).host).toBe(host);
  });

  it("of Vertex needs no project with an express key, but a project that is set wins", () => {
    const env = { GOOGLE_GENAI_USE_VERTEXAI: "true", GOOGLE_API_KEY: "k", GOOGLE_CLOUD_LOCATION: "us-east5" };
    expect([urlOf("vertex", "m", env), urlOf("vertex", "m", { ...env, ...cloud })]).toEqual([
      "https://aiplatform.googleapis.com/v1/publishers/google/models/m:generateContent",
      "https://us-east5-aiplatform.googleapis.com/v1/projects/my-project/locations/us-east5/publishers/google/models/m:generateContent",
    ]);
  });

  it.each<[string, Environment, string]>([
    ["vertex", {}, "not-set: Set GOOGLE_CLOUD_PROJECT to the id of your Google Cloud project."],
    [
      "azure",
      {},
      "not-set: Set AZURE_OPENAI_ENDPOINT to the address of your resource, or AZURE_OPENAI_RESOURCE to its name.",
    ],
    [
      "azure",
      { AZURE_OPENAI_RESOURCE: "evil.test/#" },
      "not-valid: AZURE_OPENAI_RESOURCE may hold only letters, digits and hyphens.",
    ],
    ["bedrock", { AWS_REGION: "x.evil.test/" }, "not-valid: AWS_REGION may hold only letters, digits and hyphens."],
    [
      "openai",
      { OPENAI_BASE_URL: "localhost:8080/v1" },
      "not-valid: OPENAI_BASE_URL is no web address. It should begin with https:// or http://.",
    ],
    [
      "openai",
      { OPENAI_BASE_URL: "file:///etc/passwd" },
      "not-valid: OPENAI_BASE_URL is no web address. It should begin with https:// or http://.",
    ],
    [
      "openai",
      { OPENAI_BASE_URL: "https://" },
      "not-valid: OPENAI_BASE_URL is no web address. It should begin with https:// or http://.",
    ],
    [
      "openai",
      { OPENAI_BASE_URL: "https://me:hush@gate.test" },
      "not-valid: OPENAI_BASE_URL holds a user name or a password. Take it out of the address.",
    ],
  ])("of %s with %j is refused with what to do", (provider, env, words) => {
    expect(urlOf(provider, "m", env)).toBe(words);
  });

  it("goes over plain http to this machine, or where a person said so, and nowhere else", () => {
    const { endpoint, ...local } = findProvider("local");
    const faraway = { ...local, endpoint: { ...endpoint, url: "http://gpu.test/v1" } };
    const chosen = { PARLEY_LOCAL_BASE_URL: "http://gpu.test/v1" };

    expect([resolveEndpoint(faraway, "m", {}, "generate"), resolveEndpoint(faraway, "m", chosen, "generate")]).toEqual([
      {
        found: false,
        reason: "not-valid",
        how: "A key is not sent over plain http unless a person chose that address.",
      },
      { found: true, url: "http://gpu.test/v1/chat/completions", from: "PARLEY_LOCAL_BASE_URL" },
    ]);
  });

  it.each(["..", "../x", "a/../b", "."])("never climbs out of its path for a model named %s", (model) => {
    expect(urlOf("google", model)).toBe(`not-valid: No model is named "${model}".`);
  });
});

describe("an address", () => {
  it.each<[string, string, Environment, boolean]>([
    ["openai", "https://api.openai.com/v1/responses", {}, true],
    ["openai", "https://api.openai.com.evil.test/v1/responses", {}, false],
    ["openai", "http://api.openai.com/v1/responses", {}, false],
    ["openai", "https://api.anthropic.com/v1/messages", {}, false],
    ["openai", "https://api.openai.com/v1/responses", { OPENAI_BASE_URL: "https://gate.test" }, false],
    ["openai", "https://gate.test/anything", { OPENAI_BASE_URL: "https://gate.test" }, true],
    ["bedrock", "https://bedrock.us-east-1.amazonaws.com/foundation-models", {}, true],
    ["vertex", "https://aiplatform.googleapis.com/v1/x", {}, true],
    ["azure", "https://r.openai.azure.com/openai/v1/responses", {}, false],
    ["openai", "not an address", {}, false],
  ])("belongs to %s: %s with %j is %j", (provider, url, env, belongs) => {
    expect(isProviderAddress(findProvider(provider), url, env)).toBe(belongs);
  });
});
