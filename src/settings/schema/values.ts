import type { ApprovalMode } from "../../policy/gate/approval-mode.ts";

/** The type of every setting, by path. */
export type SettingValues = {
  readonly model: string;
  readonly pools: { readonly [name: string]: ModelPoolSettings };
  readonly fallback: string;
  readonly thinking: "none" | "low" | "medium" | "high";
  readonly favourites: readonly string[];
  readonly maxOutputTokens: number;
  readonly thoughts: boolean;
  readonly unsupportedMedia: "stub" | "error";
  readonly toolResponse: "output" | "status";
  readonly models: { readonly [model: string]: ModelSettings };
  readonly providers: { readonly [id: string]: ProviderSettings };
  readonly profile: string;
  readonly "permissions.mode": ApprovalMode;
  readonly "permissions.allow": readonly string[];
  readonly "permissions.ask": readonly string[];
  readonly "permissions.deny": readonly string[];
  readonly "permissions.only": readonly string[];
  readonly sandbox: boolean;
  readonly sandboxNetwork: "on" | "off";
  readonly "context.fileName": readonly string[];
  readonly "context.includeDirectories": readonly string[];
  readonly "context.fullContext": boolean;
  readonly "limits.maxTurns": number;
  readonly "mcp.startWait": number;
  readonly "limits.toolTime": number;
  readonly "limits.idleTime": number;
  readonly "limits.answerTime": number;
  readonly "limits.spend": number;
  readonly "limits.processes": number;
  readonly compaction: number | "off";
  readonly "sessions.keepDays": number;
  readonly "sessions.keepCount": number;
  readonly mcpServers: { readonly [name: string]: McpServerSettings };
  readonly hooks: HookSettings;
  readonly "gateway.port": number;
  readonly "gateway.routes": readonly GatewayRouteSettings[];
  readonly "gateway.clients": { readonly [name: string]: GatewayClientSettings };
  readonly "gateway.spend": number;
  readonly "telemetry.endpoint": string;
  readonly "telemetry.logPrompts": boolean;
  readonly "ui.theme": string;
  readonly "ui.screenReader": boolean;
  readonly "ui.thinking": "topic" | "full";
  readonly "ui.turnSummary": boolean;
  readonly "ui.vim": boolean;
  readonly "ui.statusLine": string;
  readonly "ui.notifications": "auto" | "bell" | "off";
  readonly "ui.links": "auto" | "on" | "off";
  readonly "ide.connect": "auto" | "off";
  readonly editor: string;
  readonly "offline.script": string;
};

export type SettingPath = keyof SettingValues;

/** Settings of one source; all are optional. */
export type PartialSettings = { readonly [Path in SettingPath]?: SettingValues[Path] };

/** Settings that have a default. */
export type DefaultedPath =
  | "favourites"
  | "thoughts"
  | "unsupportedMedia"
  | "toolResponse"
  | "permissions.mode"
  | "permissions.allow"
  | "permissions.ask"
  | "permissions.deny"
  | "sandbox"
  | "sandboxNetwork"
  | "context.fileName"
  | "context.includeDirectories"
  | "context.fullContext"
  | "mcp.startWait"
  | "limits.toolTime"
  | "limits.idleTime"
  | "limits.answerTime"
  | "limits.processes"
  | "compaction"
  | "pools"
  | "models"
  | "providers"
  | "mcpServers"
  | "hooks"
  | "telemetry.logPrompts"
  | "ui.theme"
  | "ui.screenReader"
  | "ide.connect";

/** The settings of a run, with defaults. */
export type Settings = PartialSettings & { readonly [Path in DefaultedPath]: SettingValues[Path] };

/** A pool of models that replace each other. */
type ModelPoolSettings = {
  readonly models: readonly string[];
  /** `failover` (default): the next model when one fails; `round-robin`: each in turn. */
  readonly strategy?: "failover" | "round-robin";
  /** Seconds before a failed model is tried again. */
  readonly cooldown?: number;
};

/** The user's description of a model. */
export type ModelSettings = {
  readonly context?: number;
  readonly maxOutput?: number;
  readonly input?: readonly ("text" | "image" | "document" | "audio" | "video")[];
  readonly reasoning?: boolean;
  /** US dollars per million tokens. */
  readonly price?: {
    readonly input: number;
    readonly output: number;
    readonly cachedRead?: number;
    readonly cachedWrite?: number;
  };
};

/** A route of the gateway: requests that match all its conditions go to `to`. */
type GatewayRouteSettings = {
  readonly model?: string;
  readonly client?: string;
  readonly images?: boolean;
  readonly longer?: number;
  readonly to: string | readonly string[];
};

/** A client of the gateway. `token` is the SHA-256 of its token, after `sha256:`. */
export type GatewayClientSettings = { readonly token: string; readonly spend?: number };

type ProviderSettings = {
  readonly baseUrl?: string;
  /** The name of the stored key. */
  readonly profile?: string;
};

/** An MCP server, in the format of Gemini CLI and Claude. */
export type McpServerSettings = {
  readonly type?: "stdio" | "http" | "sse";
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: { readonly [name: string]: string };
  readonly cwd?: string;
  readonly url?: string;
  readonly httpUrl?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly oauth?: McpOAuthSettings;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly trust?: boolean;
  readonly sampling?: "ask" | "allow" | "refuse";
  readonly includeTools?: readonly string[];
  readonly excludeTools?: readonly string[];
};

/** Hooks by event, in the format of Claude Code. Unknown events are reported and never run. */
export type HookSettings = { readonly [event: string]: readonly HookGroupSettings[] };

/** Handlers that run for the same tools, sources or triggers. */
export type HookGroupSettings = { readonly matcher?: string; readonly hooks: readonly HookHandlerSettings[] };

/** A program to run, or a URL to post to, when something happens. */
export type HookHandlerSettings = {
  readonly type: "command" | "http";
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly allowedEnvVars?: readonly string[];
  /** Seconds. */
  readonly timeout?: number;
  readonly if?: string;
  readonly async?: boolean;
  readonly onFailure?: "continue" | "block";
  readonly format?: "claude" | "codex" | "gemini";
  readonly name?: string;
  readonly statusMessage?: string;
};

/** OAuth settings of an MCP server. */
type McpOAuthSettings = {
  readonly enabled?: boolean;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scopes?: readonly string[];
  readonly redirectUri?: string;
  readonly issuer?: string;
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
  readonly grantType?: "authorization_code" | "client_credentials";
  readonly privateKey?: string;
  readonly algorithm?: string;
};
