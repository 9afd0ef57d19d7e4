import type { JsonObject } from "../../conversation/json.ts";
import type { PluginPermissionRule } from "../../policy/gate/permission-rules.ts";

/** The file layouts that are read. */
export type PluginLayout = "agent-plugin" | "claude" | "gemini";

/** The kinds of things a plugin brings. The person agrees to each kind. */
export const pluginCapabilities = ["skills", "servers", "commands", "hooks", "agents", "context", "themes"] as const;

/** A kind of thing a plugin brings. */
export type PluginCapability = (typeof pluginCapabilities)[number];

/** A plugin as its files describe it, whatever layout they have. Paths are relative to its root. */
export type Plugin = {
  readonly name: string;
  readonly version?: string;
  readonly description: string;
  readonly layout: PluginLayout;
  /** Folders with a SKILL.md. */
  readonly skills: readonly PluginItem[];
  /** MCP servers by name, in the form of our settings, with placeholders. */
  readonly servers: { readonly [name: string]: JsonObject };
  /** Command files, in Markdown or TOML. */
  readonly commands: readonly PluginItem[];
  /** Hooks in the form of Claude Code or of Gemini CLI, as written. */
  readonly hooks: readonly PluginHooks[];
  /** Agent files. */
  readonly agents: readonly PluginItem[];
  /** Files with instructions for the system prompt. */
  readonly context: readonly { readonly path: string; readonly bytes: number }[];
  readonly themes: readonly PluginTheme[];
  /** Calls it denies or has the person asked about. They only restrict, so they apply while it is enabled. */
  readonly rules: readonly PluginRule[];
  /** Parts that are not used, and why. */
  readonly problems: readonly string[];
};

/** A file or folder of a plugin, and the name it gives to what it defines. */
export type PluginItem = { readonly name: string; readonly path: string };

/** A theme of the terminal UI: its colours in the form of our theme files. */
export type PluginTheme = { readonly name: string; readonly colours: JsonObject };

/** A permission rule, and the file or field it is from. */
export type PluginRule = Omit<PluginPermissionRule, "plugin"> & { readonly from: string };

/** The hooks of one file. */
export type PluginHooks = { readonly path: string; readonly form: "claude" | "gemini"; readonly hooks: JsonObject };

/** Why files are no plugin. */
export type InvalidPlugin = { readonly problem: string };

/** Whether names are qualified by the plugin's name, as in the system the layout is from. */
export const isNamespaced = (layout: PluginLayout): boolean => layout !== "gemini";

/** Whether a text can be the name of a plugin. Only ASCII, so that no name looks like another. */
export const isPluginName = (name: string): boolean =>
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/.test(name) && !name.includes("..") && !reserved.test(name);

/** Names that would be mistaken for Parley itself or its parts. */
const reserved = /^(parley|builtin|built-in|plugin|plugins|mcp|user|project|con|nul|prn|aux)$/i;
