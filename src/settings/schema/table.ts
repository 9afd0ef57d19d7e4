import { approvalModes } from "../../policy/gate/approval-mode.ts";
import { serverShape } from "./mcp-server-shape.ts";
import type { SettingField, Shape } from "./shape.ts";
import type { DefaultedPath, SettingPath, SettingValues } from "./values.ts";

/** A setting: what it may be, what it is without being set, and who may set it. */
export type Setting<Value = unknown> = Omit<SettingField, "default"> & {
  /** A value it may have, for the documents. */
  readonly example: Value;
  readonly default?: Value;
  /** What a trusted project may do to it. Without it, nothing. */
  readonly project?: "tighten" | "ask";
  /** The option of the command line that sets it. */
  readonly flag?: string;
  /** Variables that count more than the person's file; the first one set counts. */
  readonly variables?: readonly string[];
  /** Variables that count where no file says anything. */
  readonly fallbacks?: readonly string[];
  /** How two places that both set it come together; without it, the nearer one counts alone. */
  readonly merge?: "append" | "names";
};

const text: Shape = { type: "text" };
const booleanShape: Shape = { type: "switch" };
const count: Shape = { type: "number", min: 1, isInteger: true };
const rules: Shape = { type: "list", of: { type: "text", format: "rule" } };
const dollars: Shape = { type: "number", min: 0 };

const poolShape: Shape = {
  type: "fields",
  fields: {
    models: {
      shape: { type: "list", of: { type: "text", format: "model" }, isNonEmpty: true },
      description: "Its models, the preferred first.",
      required: true,
    },
    strategy: {
      shape: { type: "choice", of: ["failover", "round-robin"] },
      description: "The next model when one fails, or each in turn.",
      default: "failover",
    },
    cooldown: {
      shape: { type: "number", min: 0 },
      description: "How many seconds a model that failed is left alone.",
      default: 60,
    },
  },
};

const modelShape: Shape = {
  type: "fields",
  fields: {
    context: { shape: count, description: "How many tokens prompt and answer may have together." },
    maxOutput: { shape: count, description: "How many tokens one answer may have." },
    input: {
      shape: { type: "list", of: { type: "choice", of: ["text", "image", "document", "audio", "video"] } },
      description: "What it takes; media of other kinds are only named to it.",
    },
    reasoning: { shape: booleanShape, description: "Whether it thinks before it answers." },
    price: {
      shape: {
        type: "fields",
        fields: {
          input: { shape: dollars, description: "Prompt.", required: true },
          output: { shape: dollars, description: "Answer.", required: true },
          cachedRead: { shape: dollars, description: "Prompt read from a cache." },
          cachedWrite: { shape: dollars, description: "Prompt written to a cache." },
        },
      },
      description: "US dollars for a million tokens.",
    },
  },
};

type SettingsTable = {
  readonly [Path in SettingPath]: Path extends DefaultedPath
    ? Setting<SettingValues[Path]> & { readonly default: SettingValues[Path] }
    : Setting<SettingValues[Path]>;
};

/** Every setting there is, by its path. */
export const settingsTable: SettingsTable = {
  model: {
    shape: { type: "text", format: "name" },
    description: "The model to use: provider/model, a provider for its default model, or a pool.",
    example: "anthropic/claude-sonnet-5",
    flag: "model",
  },
  pools: {
    shape: { type: "names", entries: "pools", of: poolShape, format: "name" },
    description: "Models that stand in for each other, by the name of the pool.",
    default: {},
    example: { fast: { models: ["groq/openai/gpt-oss-120b", "openai/gpt-5-mini"], strategy: "round-robin" } },
    merge: "names",
  },
  fallback: {
    shape: { type: "text", format: "name" },
    description: "The pool to go on with when the model fails.",
    example: "fast",
  },
  thinking: {
    shape: { type: "choice", of: ["none", "low", "medium", "high"] },
    description: "How hard to think. Without it, as the model does by itself.",
    example: "high",
  },
  maxOutputTokens: {
    shape: count,
    description: "The most tokens one answer may have, thinking included. Without it, as many as the model can write.",
    example: 32_000,
  },
  thoughts: {
    shape: { type: "switch" },
    description: "Ask models for summaries of their thoughts, and show them.",
    default: true,
    example: false,
  },
  unsupportedMedia: {
    shape: { type: "choice", of: ["stub", "error"] },
    description: "What to do with media a model cannot take: name them to it, or stop.",
    default: "stub",
    example: "error",
    flag: "unsupported-media",
  },
  toolResponse: {
    shape: { type: "choice", of: ["output", "status"] },
    description: "How Gemini gets results: {output}, or {status, text_result, structured_result}.",
    default: "output",
    example: "status",
  },
  models: {
    shape: { type: "names", entries: "models", of: modelShape, format: "model" },
    description: "What is known of models that Parley does not know, by provider/model.",
    default: {},
    example: { "local/my-model": { context: 32_768, input: ["text", "image"] } },
    merge: "names",
  },
  providers: {
    shape: {
      type: "names",
      entries: "providers",
      of: {
        type: "fields",
        fields: { baseUrl: { shape: { type: "text", format: "address" }, description: "Where its API is." } },
      },
      format: "name",
    },
    description: "Where a provider's requests, and its key with them, go instead of to its own address.",
    default: {},
    example: { local: { baseUrl: "http://127.0.0.1:1234/v1" } },
    merge: "names",
  },
  "permissions.mode": {
    shape: { type: "choice", of: approvalModes },
    description: "How much runs without being asked about. Where a folder is not trusted, at most default.",
    default: "default",
    example: "auto_edit",
    project: "tighten",
    flag: "approval-mode",
  },
  "permissions.allow": {
    shape: rules,
    description: "What runs without being asked about, in folders that are trusted.",
    default: [],
    example: ["run_shell_command(npm test)"],
    flag: "allowed-tools",
    merge: "append",
  },
  "permissions.deny": {
    shape: rules,
    description: "What never runs.",
    default: [],
    example: ["run_shell_command(git push)", "path:secrets"],
    project: "tighten",
    merge: "append",
  },
  "permissions.only": {
    shape: rules,
    description: "Where it is set, nothing else runs, in any mode.",
    example: ["read_file", "search_file_content"],
  },
  sandbox: {
    shape: booleanShape,
    description: "Run commands in a sandbox: they can write to the project alone, and see no keys.",
    default: false,
    example: true,
    project: "tighten",
    flag: "sandbox",
  },
  sandboxNetwork: {
    shape: { type: "choice", of: ["on", "off"] },
    description: "Whether commands in the sandbox reach the network; off turns the sandbox on too.",
    default: "on",
    example: "off",
    project: "tighten",
    flag: "sandbox-network",
  },
  "context.fileName": {
    shape: { type: "list", of: text, allowsSingle: true },
    description: "The names of files that tell the model about a project.",
    default: ["AGENTS.md", "GEMINI.md", "CLAUDE.md", "PARLEY.md"],
    example: ["AGENTS.md"],
  },
  "context.includeDirectories": {
    shape: { type: "list", of: text },
    description: "More folders that belong to the workspace.",
    default: [],
    example: ["../shared"],
    flag: "include-directories",
    merge: "append",
  },
  "context.fullContext": {
    shape: booleanShape,
    description: "Begin with the contents of all files of the project, not just their names.",
    default: false,
    example: true,
  },
  "limits.maxTurns": {
    shape: count,
    description: "The most requests one task may make; a subagent counts its own. No limit unless set.",
    example: 50,
    flag: "max-turns",
  },
  "mcp.startWait": {
    shape: { type: "number", min: 0 },
    description: "How many seconds a run without a terminal waits for MCP servers it has not seen before.",
    default: 10,
    example: 30,
  },
  "limits.toolTime": {
    shape: { type: "number", min: 1 },
    description: "How many seconds one tool may run; a subagent may take longer.",
    default: 600,
    example: 120,
  },
  "limits.idleTime": {
    shape: { type: "number", min: 1 },
    description: "How many seconds a provider may be silent within an answer.",
    default: 300,
    example: 60,
  },
  "limits.answerTime": {
    shape: { type: "number", min: 1 },
    description: "How many seconds one answer of a model may take as a whole.",
    default: 3600,
    example: 600,
  },
  "limits.spend": {
    shape: dollars,
    description: "The most one task may cost with its subagents, in US dollars.",
    example: 2.5,
  },
  "limits.processes": {
    shape: count,
    description: "How many commands run at the same time.",
    default: 8,
    example: 2,
  },
  compaction: {
    shape: {
      type: "either",
      of: [
        { type: "number", min: 0.05, max: 1 },
        { type: "choice", of: ["off"] },
      ],
    },
    description: "The share of the model's context at which the past is summarised; off never does it.",
    default: 0.8,
    example: "off",
  },
  "sessions.keepDays": {
    shape: { type: "number", min: 1 },
    description: "Remove sessions that nobody touched for so many days. Without it they are kept.",
    example: 90,
  },
  "sessions.keepCount": {
    shape: count,
    description: "Remove the oldest sessions of a project beyond so many. Without it they are kept.",
    example: 200,
  },
  mcpServers: {
    shape: { type: "names", entries: "servers", of: serverShape },
    description: "MCP servers, by name.",
    default: {},
    example: { files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] } },
    project: "ask",
    merge: "names",
  },
  "telemetry.endpoint": {
    shape: { type: "text", format: "address" },
    description: "Where OpenTelemetry data goes. Without it none is made.",
    example: "http://127.0.0.1:4318",
  },
  "telemetry.logPrompts": {
    shape: booleanShape,
    description: "Whether telemetry holds what was said.",
    default: false,
    example: true,
  },
  "ui.theme": {
    shape: { type: "choice", of: ["auto", "light", "dark"] },
    description: "The colours of the terminal interface.",
    default: "auto",
    example: "light",
  },
  "ui.screenReader": {
    shape: booleanShape,
    description: "Plain text in order, for screen readers.",
    default: false,
    example: true,
    flag: "screen-reader",
  },
  editor: {
    shape: text,
    description: "The program to edit texts with.",
    example: "code --wait",
    fallbacks: ["VISUAL", "EDITOR"],
  },
  "offline.script": {
    shape: text,
    description: "A file with what the offline model says.",
    example: "demo.json",
    variables: ["PARLEY_OFFLINE_SCRIPT"],
  },
};

/** The paths of all settings, in the order of the table. */
export const settingPaths: readonly SettingPath[] = Object.keys(settingsTable) as readonly SettingPath[];
