import { approvalModes } from "../../policy/gate/approval-mode.ts";
import { hooksShape } from "./hook-shape.ts";
import { serverShape } from "./mcp-server-shape.ts";
import type { SettingField, Shape } from "./shape.ts";
import type { DefaultedPath, SettingPath, SettingValues } from "./values.ts";

/** A setting: its shape, default and sources. */
export type Setting<Value = unknown> = Omit<SettingField, "default"> & {
  /** An example for the documentation. */
  readonly example: Value;
  readonly default?: Value;
  /** Whether a trusted project may restrict it, or set it with the user's consent. Absent: it cannot set it. */
  readonly project?: "tighten" | "ask";
  /** The command-line flag that sets it. */
  readonly flag?: string;
  /** Environment variables that override the user's file; the first one set is used. */
  readonly variables?: readonly string[];
  /** Environment variables used if no file sets it. */
  readonly fallbacks?: readonly string[];
  /** How values of several sources are merged. Absent: the source with precedence wins. */
  readonly merge?: "append" | "by-key";
};

const text: Shape = { type: "string" };
const booleanShape: Shape = { type: "boolean" };
const count: Shape = { type: "number", min: 1, isInteger: true };
const rules: Shape = { type: "list", of: { type: "string", format: "rule" } };
const dollars: Shape = { type: "number", min: 0 };

const poolShape: Shape = {
  type: "object",
  fields: {
    models: {
      shape: { type: "list", of: { type: "string", format: "model" }, isNonEmpty: true },
      description: "Its models, in order of preference.",
      required: true,
    },
    strategy: {
      shape: { type: "enum", of: ["failover", "round-robin"] },
      description: "failover: the next model when one fails; round-robin: each in turn.",
      default: "failover",
    },
    cooldown: {
      shape: { type: "number", min: 0 },
      description: "Seconds before a failed model is tried again.",
      default: 60,
    },
  },
};

const modelShape: Shape = {
  type: "object",
  fields: {
    context: { shape: count, description: "The context window in tokens, input and output together." },
    maxOutput: { shape: count, description: "The most output tokens of one response." },
    input: {
      shape: { type: "list", of: { type: "enum", of: ["text", "image", "document", "audio", "video"] } },
      description: "The kinds of input it accepts; other media are replaced by a text stub.",
    },
    reasoning: {
      shape: booleanShape,
      description: "Whether it is a reasoning model; false: no effort and no thinking is requested.",
    },
    price: {
      shape: {
        type: "object",
        fields: {
          input: { shape: dollars, description: "Input.", required: true },
          output: { shape: dollars, description: "Output.", required: true },
          cachedRead: { shape: dollars, description: "Input read from the prompt cache." },
          cachedWrite: { shape: dollars, description: "Input written to the prompt cache." },
        },
      },
      description: "US dollars per million tokens.",
    },
  },
};

const gatewayRoute: Shape = {
  type: "object",
  fields: {
    model: { shape: text, description: "The model as the client names it; * stands for any text." },
    client: { shape: text, description: "The name of the client." },
    images: { shape: booleanShape, description: "Only requests with, or without, images or documents." },
    longer: { shape: count, description: "Only requests longer than this many tokens." },
    to: {
      shape: { type: "list", of: text, isNonEmpty: true, allowsSingle: true },
      description: "provider/model, or a pool; several are tried in order.",
      required: true,
    },
  },
};

const gatewayClient: Shape = {
  type: "object",
  fields: {
    token: { shape: text, description: "sha256: and the hash of its token.", required: true },
    spend: { shape: dollars, description: "The most US dollars it may spend in a day." },
  },
};

type SettingsTable = {
  readonly [Path in SettingPath]: Path extends DefaultedPath
    ? Setting<SettingValues[Path]> & { readonly default: SettingValues[Path] }
    : Setting<SettingValues[Path]>;
};

/** All settings, by path. */
export const settingsTable: SettingsTable = {
  model: {
    shape: { type: "string", format: "name" },
    description: "The model to use: provider/model, a provider for its default model, or a pool.",
    example: "anthropic/claude-sonnet-5",
    flag: "model",
  },
  pools: {
    shape: { type: "record", entries: "pools", of: poolShape, format: "name" },
    description: "Pools of models that replace each other, by name.",
    default: {},
    example: { fast: { models: ["groq/openai/gpt-oss-120b", "openai/gpt-5-mini"], strategy: "round-robin" } },
    merge: "by-key",
  },
  fallback: {
    shape: { type: "string", format: "name" },
    description: "The pool to switch to when the model fails.",
    example: "fast",
  },
  thinking: {
    shape: { type: "enum", of: ["none", "low", "medium", "high"] },
    description: "The reasoning effort. Default: the model's own.",
    example: "high",
    flag: "effort",
  },
  favourites: {
    shape: { type: "list", of: { type: "string", format: "model" } },
    description: "The models that Alt-M switches between, in this order.",
    default: [],
    example: ["anthropic/claude-sonnet-5", "openai/gpt-5.6"],
  },
  maxOutputTokens: {
    shape: count,
    description: "The most output tokens of one response, thinking included. Default: the model's maximum.",
    example: 32_000,
  },
  thoughts: {
    shape: { type: "boolean" },
    description: "Request and show summaries of the model's thinking.",
    default: true,
    example: false,
  },
  unsupportedMedia: {
    shape: { type: "enum", of: ["stub", "error"] },
    description: "Media a model does not support: replace them by a text stub, or stop with an error.",
    default: "stub",
    example: "error",
    flag: "unsupported-media",
  },
  toolResponse: {
    shape: { type: "enum", of: ["output", "status"] },
    description: "The form of tool results for Gemini: {output}, or {status, text_result, structured_result}.",
    default: "output",
    example: "status",
  },
  models: {
    shape: { type: "record", entries: "models", of: modelShape, format: "model" },
    description: "Descriptions of models Parley does not know, by provider/model.",
    default: {},
    example: { "local/my-model": { context: 32_768, input: ["text", "image"] } },
    merge: "by-key",
  },
  providers: {
    shape: {
      type: "record",
      entries: "providers",
      of: {
        type: "object",
        fields: {
          baseUrl: {
            shape: { type: "string", format: "url" },
            description: "The base URL of its API. The provider's key is sent there.",
          },
          profile: { shape: { type: "string", format: "name" }, description: "The stored key to use." },
        },
      },
      format: "name",
    },
    description: "Base URLs that replace those of providers, and which stored key they use.",
    default: {},
    example: { local: { baseUrl: "http://127.0.0.1:1234/v1" } },
    merge: "by-key",
  },
  profile: {
    shape: { type: "string", format: "name" },
    description: "The stored keys to use, by the name given to parley login. Default: default.",
    example: "work",
    flag: "profile",
  },
  "permissions.mode": {
    shape: { type: "enum", of: approvalModes },
    description: "The approval mode: what runs without asking. In an untrusted folder, at most default.",
    default: "default",
    example: "auto_edit",
    project: "tighten",
    flag: "approval-mode",
  },
  "permissions.allow": {
    shape: rules,
    description: "Permission rules: tool calls that run without asking, in trusted folders (allow list).",
    default: [],
    example: ["run_shell_command(npm test)"],
    flag: "allowed-tools",
    merge: "append",
  },
  "permissions.ask": {
    shape: rules,
    description: "Permission rules: tool calls that need approval in every mode, even where another rule allows them.",
    default: [],
    example: ["run_shell_command(git push)"],
    merge: "append",
  },
  "permissions.deny": {
    shape: rules,
    description: "Permission rules: tool calls that never run.",
    default: [],
    example: ["run_shell_command(git push)", "path:secrets"],
    project: "tighten",
    flag: "deny",
    merge: "append",
  },
  "permissions.only": {
    shape: rules,
    description: "If set, only these tool calls can run, in every mode.",
    example: ["read_file", "search_file_content"],
  },
  sandbox: {
    shape: booleanShape,
    description: "Run commands in a sandbox: they can write only to the project, and have no access to keys.",
    default: false,
    example: true,
    project: "tighten",
    flag: "sandbox",
  },
  sandboxNetwork: {
    shape: { type: "enum", of: ["on", "off"] },
    description: "Network access of sandboxed commands; off also turns the sandbox on.",
    default: "on",
    example: "off",
    project: "tighten",
    flag: "sandbox-network",
  },
  "context.fileName": {
    shape: { type: "list", of: text, allowsSingle: true },
    description: "The names of context files.",
    default: ["AGENTS.md", "GEMINI.md", "CLAUDE.md", "PARLEY.md"],
    example: ["AGENTS.md"],
  },
  "context.includeDirectories": {
    shape: { type: "list", of: text },
    description: "Additional workspace folders.",
    default: [],
    example: ["../shared"],
    flag: "include-directories",
    merge: "append",
  },
  "context.fullContext": {
    shape: booleanShape,
    description: "Start with the contents of all project files, not only their names.",
    default: false,
    example: true,
  },
  "limits.maxTurns": {
    shape: count,
    description: "The most requests of one task; a subagent has its own count. Default: no limit.",
    example: 50,
    flag: "max-turns",
  },
  "mcp.startWait": {
    shape: { type: "number", min: 0 },
    description: "Seconds a headless run waits for MCP servers it has not used before.",
    default: 10,
    example: 30,
  },
  "limits.toolTime": {
    shape: { type: "number", min: 1 },
    description: "Timeout of one tool call in seconds; subagents can take longer.",
    default: 600,
    example: 120,
  },
  "limits.idleTime": {
    shape: { type: "number", min: 1 },
    description: "Timeout in seconds between two pieces of a streamed response.",
    default: 300,
    example: 60,
  },
  "limits.answerTime": {
    shape: { type: "number", min: 1 },
    description: "Timeout of one response in seconds.",
    default: 3600,
    example: 600,
  },
  "limits.spend": {
    shape: dollars,
    description: "Spending limit of one task with its subagents, in US dollars.",
    example: 2.5,
    flag: "max-spend",
  },
  "limits.processes": {
    shape: count,
    description: "The most commands that run at the same time.",
    default: 8,
    example: 2,
  },
  compaction: {
    shape: {
      type: "union",
      of: [
        { type: "number", min: 0.05, max: 1 },
        { type: "enum", of: ["off"] },
      ],
    },
    description: "The share of the context window at which compaction starts; off disables it.",
    default: 0.8,
    example: "off",
  },
  "sessions.keepDays": {
    shape: { type: "number", min: 1 },
    description: "Remove sessions not used for this many days. Default: keep all.",
    example: 90,
  },
  "sessions.keepCount": {
    shape: count,
    description: "Keep at most this many sessions of a project. Default: keep all.",
    example: 200,
  },
  mcpServers: {
    shape: { type: "record", entries: "servers", of: serverShape },
    description: "MCP servers, by name.",
    default: {},
    example: { files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] } },
    project: "ask",
    merge: "by-key",
  },
  hooks: {
    shape: hooksShape,
    description: "Programs that run at certain events, in the format of Claude Code. See docs/hooks.md.",
    default: {},
    example: { PostToolUse: [{ matcher: "Edit|Write", hooks: [{ type: "command", command: "npm run format" }] }] },
    project: "ask",
  },
  "gateway.port": {
    shape: { type: "number", min: 0, max: 65_535, isInteger: true },
    description: "The port parley gateway listens on. Default: 4141.",
    example: 8080,
  },
  "gateway.routes": {
    shape: { type: "list", of: gatewayRoute },
    description: "Where the gateway sends requests; the first route that matches is used.",
    example: [
      { model: "*haiku*", to: "google/gemini-3.8-flash" },
      { client: "claude", to: ["anthropic/claude-sonnet-5", "openai/gpt-5.6"] },
    ],
  },
  "gateway.clients": {
    shape: { type: "record", entries: "clients", of: gatewayClient, format: "name" },
    description: "The clients of the gateway by name; parley gateway setup adds one.",
    example: { claude: { token: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", spend: 5 } },
    merge: "by-key",
  },
  "gateway.spend": {
    shape: dollars,
    description: "The most US dollars all clients of the gateway may spend in a day.",
    example: 20,
  },
  "telemetry.endpoint": {
    shape: { type: "string", format: "url" },
    description: "The URL of an OpenTelemetry collector. Default: no telemetry.",
    example: "http://127.0.0.1:4318",
  },
  "telemetry.logPrompts": {
    shape: booleanShape,
    description: "Export prompts, responses, arguments and results with telemetry.",
    default: false,
    example: true,
  },
  "ui.theme": {
    shape: text,
    description:
      "The colours of the terminal UI: auto, light, dark, the name of a file in ~/.parley/themes, or plugin:theme.",
    default: "auto",
    example: "light",
  },
  "ui.screenReader": {
    shape: booleanShape,
    description: "Plain text output for screen readers.",
    default: false,
    example: true,
    flag: "screen-reader",
  },
  "ui.thinking": {
    shape: { type: "enum", of: ["topic", "full"] },
    description: "How much of the model's thinking the terminal UI shows (Alt-T). Default: topic.",
    example: "full",
  },
  "ui.turnSummary": {
    shape: booleanShape,
    description: "Time, steps and cost of a turn longer than 5 seconds, below its answer. Default: true.",
    example: false,
    variables: ["PARLEY_TURN_SUMMARY"],
  },
  "ui.vim": {
    shape: booleanShape,
    description: "Vim keys in the input of the terminal UI.",
    example: true,
  },
  "ui.statusLine": {
    shape: text,
    description: "A shell command that prints the left of the status line; it gets the status as JSON on stdin.",
    example: "~/.parley/status.sh",
  },
  "ui.notifications": {
    shape: { type: "enum", of: ["auto", "bell", "off"] },
    description: "How you are called when a question waits or work longer than 10 seconds ends. Default: auto.",
    example: "bell",
  },
  "ui.links": {
    shape: { type: "enum", of: ["auto", "on", "off"] },
    description: "Links for files and URLs (OSC 8). Default: auto, on terminals known to show them.",
    example: "off",
  },
  "ide.connect": {
    shape: { type: "enum", of: ["auto", "off"] },
    description: "Connect to the editor that has this folder open: at start, or only with /ide.",
    default: "auto",
    example: "off",
  },
  editor: {
    shape: text,
    description: "The text editor to open.",
    example: "code --wait",
    fallbacks: ["VISUAL", "EDITOR"],
  },
  "offline.script": {
    shape: text,
    description: "A script file for the demo model.",
    example: "demo.json",
    variables: ["PARLEY_OFFLINE_SCRIPT"],
  },
};

/** All setting paths, in table order. */
export const settingPaths: readonly SettingPath[] = Object.keys(settingsTable) as readonly SettingPath[];
