/** Where a client reaches the gateway, and what it asks for. */
export type ClientSetup = { readonly url: string; readonly token: string; readonly model: string | undefined };

/** The settings of a client: values in a JSON file, or marked lines in a text file. Paths are below the home folder. */
export type ClientSettings = {
  readonly label: string;
  readonly file: string;
  readonly changes: (setup: ClientSetup) => ClientChanges;
  readonly hint?: string;
};

export type ClientChanges =
  | { readonly type: "json"; readonly values: readonly { readonly path: readonly string[]; readonly value: unknown }[] }
  /** `top` stands before the first table of a TOML file, `bottom` after everything. */
  | { readonly type: "lines"; readonly top?: readonly string[]; readonly bottom?: readonly string[] };

/** The clients that can be set up, by name. */
export const clientSettings: { readonly [name: string]: ClientSettings } = {
  claude: {
    label: "Claude Code",
    file: ".claude/settings.json",
    changes: ({ url, token, model }) => ({
      type: "json",
      values: [
        { path: ["env", "ANTHROPIC_BASE_URL"], value: url },
        { path: ["env", "ANTHROPIC_AUTH_TOKEN"], value: token },
        // Without it, the first line of every request changes and no prompt cache can be used.
        { path: ["env", "CLAUDE_CODE_ATTRIBUTION_HEADER"], value: "0" },
        ...(model === undefined ? [] : [{ path: ["env", "ANTHROPIC_MODEL"], value: model }]),
      ],
    }),
  },
  codex: {
    label: "Codex",
    file: ".codex/config.toml",
    changes: ({ url, token, model }) => ({
      type: "lines",
      top: [`model_provider = "parley"`, ...(model === undefined ? [] : [`model = ${JSON.stringify(model)}`])],
      bottom: [
        "[model_providers.parley]",
        `name = "Parley gateway"`,
        `base_url = ${JSON.stringify(`${url}/v1`)}`,
        `wire_api = "responses"`,
        `http_headers = { Authorization = ${JSON.stringify(`Bearer ${token}`)} }`,
      ],
    }),
  },
  gemini: {
    label: "Gemini CLI",
    file: ".gemini/.env",
    changes: ({ url, token, model }) => ({
      type: "lines",
      bottom: [
        `GOOGLE_GEMINI_BASE_URL=${url}`,
        `GEMINI_API_KEY=${token}`,
        ...(model === undefined ? [] : [`GEMINI_MODEL=${model}`]),
      ],
    }),
  },
  opencode: {
    label: "opencode",
    file: ".config/opencode/opencode.json",
    hint: "Add further models below provider.parley.models.",
    changes: ({ url, token, model }) => ({
      type: "json",
      values: [
        {
          path: ["provider", "parley"],
          value: {
            npm: "@ai-sdk/openai-compatible",
            name: "Parley gateway",
            options: { baseURL: `${url}/v1`, apiKey: token },
            models: { [model ?? "default"]: {} },
          },
        },
        { path: ["model"], value: `parley/${model ?? "default"}` },
      ],
    }),
  },
  pi: {
    label: "pi",
    file: ".pi/agent/models.json",
    hint: "Choose the model with /model.",
    changes: ({ url, token, model }) => ({
      type: "json",
      values: [
        {
          path: ["providers", "parley"],
          value: { baseUrl: url, api: "anthropic-messages", apiKey: token, models: [{ id: model ?? "default" }] },
        },
      ],
    }),
  },
  qwen: {
    label: "Qwen Code",
    file: ".qwen/.env",
    changes: ({ url, token, model }) => ({
      type: "lines",
      bottom: [
        `OPENAI_BASE_URL=${url}/v1`,
        `OPENAI_API_KEY=${token}`,
        ...(model === undefined ? [] : [`OPENAI_MODEL=${model}`]),
      ],
    }),
  },
};
