import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/** A command-line agent that speaks one of the gateway's APIs. */
export type GatewayTestClient = {
  readonly name: string;
  readonly bin: string;
  readonly model: string;
  /** Writes its settings below `home` and returns how to start it. */
  readonly prepare: (place: ClientPlace) => ClientCommand;
};

export type ClientPlace = {
  readonly home: string;
  readonly url: string;
  readonly token: string;
  readonly model: string;
  /** The client shall compact its conversation as soon as it can: by itself, or by a request for a compacted one. */
  readonly compacts?: "by itself" | "remotely" | undefined;
};

export type ClientCommand = {
  readonly env: Readonly<Record<string, string>>;
  readonly start: (prompt: string) => readonly string[];
  readonly resume: (prompt: string) => readonly string[];
  /** Characters of text before the prompt, for a client that compacts only what then gets shorter. */
  readonly compactFiller?: number;
  /** The prompt that compacts; without it, the client does so by itself. */
  readonly compactPrompt?: string;
  /** Whether it can ask for a compacted conversation. */
  readonly hasRemoteCompaction?: boolean;
  /** A prompt after which the client counts tokens. */
  readonly countPrompt?: string;
};

const put = (file: string, content: object | string): void => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
};

const claude: GatewayTestClient = {
  name: "Claude Code",
  bin: "claude",
  model: "claude-sonnet-4-5",
  prepare: ({ home, url, token, model }) => {
    put(join(home, ".claude/settings.json"), {});
    const flags = ["--dangerously-skip-permissions", "--model", model];
    return {
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_AUTH_TOKEN: token,
        MAX_THINKING_TOKENS: "4000",
        IS_SANDBOX: "1",
        DISABLE_AUTOUPDATER: "1",
        DISABLE_TELEMETRY: "1",
        DISABLE_ERROR_REPORTING: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      },
      start: (prompt) => ["-p", ...flags, prompt],
      resume: (prompt) => ["-p", "--continue", ...flags, prompt],
      compactPrompt: "/compact",
      countPrompt: "/context",
    };
  },
};

const codex: GatewayTestClient = {
  name: "Codex",
  bin: "codex",
  model: "gpt-5.6",
  prepare: ({ home, url, token, model, compacts }) => {
    put(
      join(home, ".codex/config.toml"),
      [
        `model = "${model}"`,
        'model_provider = "parley"',
        'model_reasoning_summary = "detailed"',
        "check_for_update_on_startup = false",
        ...(compacts !== undefined ? ["model_auto_compact_token_limit = 1000"] : []),
        "[model_providers.parley]",
        // Codex asks only a provider of this name to compact.
        `name = "${compacts === "remotely" ? "OpenAI" : "parley"}"`,
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "PARLEY_KEY"',
        "supports_websockets = false",
        "[analytics]",
        "enabled = false",
        "[feedback]",
        "enabled = false",
        "",
      ].join("\n"),
    );
    const flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
    return {
      env: { PARLEY_KEY: token },
      start: (prompt) => ["exec", ...flags, prompt],
      resume: (prompt) => ["exec", ...flags, "resume", "--last", prompt],
      hasRemoteCompaction: true,
    };
  },
};

const gemini: GatewayTestClient = {
  name: "Gemini CLI",
  bin: "gemini",
  model: "gemini-3-pro-preview",
  prepare: ({ home, url, token, model, compacts }) => {
    put(join(home, ".gemini/settings.json"), {
      // After 30 requests it would ask the model whether it is in a loop, and again and again without an answer in JSON.
      model: { disableLoopDetection: true, ...(compacts !== undefined ? { compressionThreshold: 0.001 } : {}) },
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    });
    const flags = ["-y", "--skip-trust", "-m", model];
    return {
      env: { GEMINI_API_KEY: token, GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: "true" },
      start: (prompt) => [...flags, "-p", prompt],
      resume: (prompt) => [...flags, "--resume", "latest", "-p", prompt],
    };
  },
};

const opencode: GatewayTestClient = {
  name: "opencode",
  bin: "opencode",
  model: "some-model",
  prepare: ({ home, url, token, model, compacts }) => {
    put(join(home, ".config/opencode/opencode.json"), {
      autoupdate: false,
      share: "disabled",
      model: `parley/${model}`,
      provider: {
        parley: {
          npm: "@ai-sdk/openai-compatible",
          name: "parley",
          options: { baseURL: `${url}/v1`, apiKey: token },
          models: {
            [model]: {
              name: "parley",
              attachment: true,
              tool_call: true,
              reasoning: true,
              modalities: { input: ["text", "image"], output: ["text"] },
              // Its first request has 7,600 tokens; one that is too long for the limit would be compacted for ever.
              limit: compacts !== undefined ? { context: 12_500, output: 2000 } : { context: 200_000, output: 8192 },
            },
          },
        },
      },
    });
    const flags = ["--auto", "-m", `parley/${model}`];
    return {
      env: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" },
      start: (prompt) => ["run", ...flags, prompt],
      resume: (prompt) => ["run", "--continue", ...flags, prompt],
      compactFiller: 24_000,
    };
  },
};

const pi: GatewayTestClient = {
  name: "pi",
  bin: "pi",
  model: "some-model",
  prepare: ({ home, url, token, model, compacts }) => {
    if (compacts !== undefined)
      put(join(home, ".pi/agent/settings.json"), {
        compaction: { enabled: true, reserveTokens: 199_000, keepRecentTokens: 100 },
      });
    put(join(home, ".pi/agent/models.json"), {
      providers: {
        parley: {
          baseUrl: url,
          api: "anthropic-messages",
          apiKey: token,
          models: [
            {
              id: model,
              name: "parley",
              reasoning: true,
              input: ["text", "image"],
              contextWindow: 200_000,
              maxTokens: 16_384,
              cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
            },
          ],
        },
      },
    });
    const flags = ["--provider", "parley", "--model", model, "--thinking", "low"];
    return {
      env: { PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" },
      start: (prompt) => ["-p", ...flags, prompt],
      resume: (prompt) => ["-p", "--continue", ...flags, prompt],
    };
  },
};

const qwen: GatewayTestClient = {
  name: "Qwen Code",
  bin: "qwen",
  model: "some-model",
  prepare: ({ home, url, token, model, compacts }) => {
    put(join(home, ".qwen/settings.json"), {
      security: { auth: { selectedType: "openai" } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false },
      model: {
        name: model,
        generationConfig: { modalities: { image: true }, contextWindowSize: 200_000 },
      },
      // Its first request has 19,000 tokens.
      ...(compacts !== undefined ? { context: { autoCompactThreshold: 0.11 } } : {}),
    });
    const flags = ["--yolo", "--auth-type", "openai", "-m", model];
    return {
      env: { OPENAI_API_KEY: token, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: model },
      start: (prompt) => [...flags, "-p", prompt],
      resume: (prompt) => [...flags, "--continue", "-p", prompt],
      compactFiller: 24_000,
    };
  },
};

/** The clients, in the order of the table. */
export const testClients: readonly GatewayTestClient[] = [claude, codex, gemini, opencode, pi, qwen];

/** Finds a client's program: below `folder/NAME/node_modules/.bin`, or on the PATH. */
export const findProgram = (bin: string, folder: string | undefined): string | undefined =>
  [
    ...(folder === undefined ? [] : [join(folder, bin, "node_modules/.bin")]),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ]
    .map((place) => join(place, bin))
    .find((path) => existsSync(path));
