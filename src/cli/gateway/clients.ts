/** Where a client reaches the gateway, and what it asks for. */
export type ClientSetup = { readonly url: string; readonly token: string; readonly model: string | undefined };

/** The settings of a client, in one file or several. */
export type ClientSettings = {
  readonly label: string;
  readonly files: readonly ClientFile[];
  readonly hint?: string;
};

/** A settings file of a client, below the home folder: values in a JSON file, or marked lines in a text file. */
export type ClientFile = { readonly file: string; readonly changes: (setup: ClientSetup) => ClientChanges };

export type ClientChanges =
  | { readonly type: "json"; readonly values: readonly { readonly path: readonly string[]; readonly value: unknown }[] }
  /** `top` stands before the first table of a TOML file, `bottom` after everything. */
  | { readonly type: "lines"; readonly top?: readonly string[]; readonly bottom?: readonly string[] };

/** The clients that can be set up, by name. */
export const clientSettings: { readonly [name: string]: ClientSettings } = {
  claude: {
    label: "Claude Code",
    files: [
      {
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
    ],
  },
  codex: {
    label: "Codex",
    files: [
      {
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
    ],
  },
  gemini: {
    label: "Gemini CLI",
    hint: "Gemini CLI reads ~/.gemini/.env only in folders that it trusts.",
    files: [
      {
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
      {
        file: ".gemini/settings.json",
        // Without it, or after a sign-in with Google, the address and the key are not used.
        changes: () => ({
          type: "json",
          values: [{ path: ["security", "auth", "selectedType"], value: "gemini-api-key" }],
        }),
      },
    ],
  },
  opencode: {
    label: "opencode",
    hint: "Add further models below provider.parley.models.",
    files: [
      {
        file: ".config/opencode/opencode.json",
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
    ],
  },
  pi: {
    label: "pi",
    hint: "Choose the model with /model.",
    files: [
      {
        file: ".pi/agent/models.json",
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
    ],
  },
  qwen: {
    label: "Qwen Code",
    files: [
      {
        file: ".qwen/settings.json",
        changes: ({ url, token, model }) => ({
          type: "json",
          values: [
            { path: ["security", "auth", "selectedType"], value: "openai" },
            { path: ["security", "auth", "baseUrl"], value: `${url}/v1` },
            { path: ["security", "auth", "apiKey"], value: token },
            ...(model === undefined ? [] : [{ path: ["model", "name"], value: model }]),
          ],
        }),
      },
    ],
  },
};
