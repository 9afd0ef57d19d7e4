import { needsExactRule } from "../command/always-allow.ts";
import { parseHostRule, parseUrl, trimTrailingDots, type HostRule } from "./host-rule.ts";
import { matchesPathPattern } from "./pattern.ts";
import { formatSpecifier, parseSpecifier } from "./tool-specifier.ts";

/** A permission rule: names a tool, server, command, host or path that is allowed, denied or asked about. */
export type PermissionRule =
  /** Every edit of files in the workspace, whichever tool makes it. */
  | { readonly type: "edits" }
  /** A tool by our name; with a server, one of its tools by the server's name for it. */
  | { readonly type: "tool"; readonly name: string; readonly server?: string; readonly identity?: string }
  /** `identity` is set for an answer of the user: then the name alone does not match. */
  | { readonly type: "server"; readonly name: string; readonly identity?: string }
  /** A remote agent. `identity` as for a server. */
  | { readonly type: "agent"; readonly name: string; readonly identity?: string }
  /** A command that begins with these words, equals them, or matches them as a pattern in which `*` stands for any text. */
  | { readonly type: "command"; readonly words: readonly string[]; readonly exact?: true; readonly isPattern?: true }
  | HostRule
  /** A file or folder of the workspace, and everything below it. */
  | { readonly type: "path"; readonly path: string }
  /** Files by a pattern: relative to a workspace folder, from the home folder (`~/`) or from the root (`//`). */
  | { readonly type: "files"; readonly access: "read" | "edit"; readonly pattern: string };

/** A rule of a plugin. Plugins restrict and never allow. */
export type PluginPermissionRule = {
  readonly plugin: string;
  readonly list: "ask" | "deny";
  readonly rule: PermissionRule;
};

export type PermissionRules = {
  readonly allow: readonly PermissionRule[];
  /** Calls that need approval in every mode, even where another rule allows them. */
  readonly ask: readonly PermissionRule[];
  readonly deny: readonly PermissionRule[];
  /** The exclusive allow list: if set, nothing else runs, in any mode. */
  readonly only?: readonly PermissionRule[] | undefined;
  /** The plugins that rules are from. */
  readonly owners?: ReadonlyMap<PermissionRule, string>;
};

/** The sources of permission rules. */
export type PermissionRuleSources = {
  /** From the command line. Applies in every folder. */
  readonly commandLine?: Partial<PermissionRules> | undefined;
  readonly settings?: Partial<PermissionRules> | undefined;
  /** Deny rules of the project. A project cannot allow. */
  readonly project?: readonly PermissionRule[] | undefined;
  /** Rules of enabled plugins. Apply in every folder. */
  readonly plugins?: readonly PluginPermissionRule[] | undefined;
};

/** Merges the rules that apply. In an untrusted folder the user's settings allow nothing, and the project's rules are ignored. */
export const mergePermissionRules = (
  { commandLine, settings, project = [], plugins = [] }: PermissionRuleSources,
  trusted: boolean,
): PermissionRules => ({
  allow: [...(commandLine?.allow ?? []), ...(trusted ? (settings?.allow ?? []) : [])],
  ask: [...(commandLine?.ask ?? []), ...(settings?.ask ?? []), ...rulesOfPlugins(plugins, "ask")],
  deny: [
    ...(commandLine?.deny ?? []),
    ...(settings?.deny ?? []),
    ...(trusted ? project : []),
    ...rulesOfPlugins(plugins, "deny"),
  ],
  only: commandLine?.only ?? settings?.only,
  ...(plugins.length === 0 ? {} : { owners: new Map(plugins.map(({ rule, plugin }) => [rule, plugin])) }),
});

const rulesOfPlugins = (
  plugins: readonly PluginPermissionRule[],
  list: PluginPermissionRule["list"],
): readonly PermissionRule[] => plugins.filter((each) => each.list === list).map(({ rule }) => rule);

/**
 * Parses a permission rule: `write_file`, `edits`, `run_shell_command(npm test)`, `server:github`,
 * `agent:reviewer`, `host:docs.example.com/guide`, `path:.envrc`, or one in the form of Claude Code: `Bash(npm test:*)`, `Edit(src/**)`,
 * `WebFetch(domain:example.com)`, `mcp__github__get_issue`. Returns undefined for anything else.
 */
export const parsePermissionRule = (text: string): PermissionRule | undefined => {
  const command = /^run_shell_command\((.*)\)$/s.exec(text.trim())?.[1];
  if (command !== undefined) return parseCommandRule(command);
  const [, kind, rest] = /^(server|agent|host|path):(.+)$/s.exec(text.trim()) ?? [];
  if (kind === "server" && rest !== undefined) return { type: "server", name: rest };
  if (kind === "agent" && rest !== undefined) return parseAgentRule(rest);
  if (kind === "host" && rest !== undefined) return parseHostRule(rest);
  if (kind === "path" && rest !== undefined) return parsePathRule(rest);
  if (text.trim() === "edits") return { type: "edits" };
  const foreign = parseSpecifier(text.trim());
  if (foreign !== undefined) return "rule" in foreign ? foreign.rule : undefined;
  return /^[A-Za-z_][\w.-]*$/.test(text.trim()) ? { type: "tool", name: text.trim() } : undefined;
};

/** The rule an answer of "always" adds for a command: exact where other arguments could do harm. */
export const commandRuleFor = (words: readonly string[]): PermissionRule => ({
  type: "command",
  words,
  ...(needsExactRule(words) && { exact: true }),
});

/** Formats a rule so that `parsePermissionRule` can parse it. */
export const formatPermissionRule = (rule: PermissionRule): string => {
  switch (rule.type) {
    case "edits":
      return "edits";
    case "tool":
      return rule.server === undefined ? rule.name : `mcp__${rule.server}__${rule.name}`;
    case "files":
      return formatSpecifier(rule);
    case "server":
      return `server:${rule.name}`;
    case "agent":
      return `agent:${rule.name}`;
    case "command":
      return rule.exact || rule.isPattern ? formatSpecifier(rule) : `run_shell_command(${rule.words.join(" ")})`;
    case "host":
      return `host:${rule.host}${rule.path ?? ""}`;
    case "path":
      return `path:${rule.path}`;
  }
};

const parseAgentRule = (name: string): PermissionRule | undefined =>
  /^[\w:-]{1,128}$/.test(name) ? { type: "agent", name } : undefined;

/** Accepts plain words only: no quotes, variables or operators whose meaning would be ambiguous. */
const parseCommandRule = (text: string): PermissionRule | undefined => {
  const words = text.trim().split(/\s+/);
  return words.every((word) => /^[\w./:@%+=,-]+$/.test(word)) ? { type: "command", words } : undefined;
};

const parsePathRule = (text: string): PermissionRule | undefined => {
  const names = text.split("/").filter((name) => name !== "" && name !== ".");
  return names.length === 0 || names.includes("..") || text.includes("\0")
    ? undefined
    : { type: "path", path: names.join("/") };
};

/**
 * Whether a rule allows a URL. A host is approved for reading, not as a destination for data: a URL with a query,
 * a password or an explicit port is never covered.
 */
export const allowsUrl = (rule: PermissionRule, address: string): boolean => {
  const url = parseUrl(address);
  if (rule.type !== "host" || url === undefined || !/^https?:$/.test(url.protocol)) return false;
  if (url.search !== "" || url.username !== "" || url.password !== "" || url.port !== "") return false;
  return hostMatches(rule.host, url.hostname) && isPathWithin(rule.path, url.pathname);
};

/** Whether a rule denies a URL. A host or path also covers everything below it. */
export const deniesUrl = (rule: PermissionRule, address: string): boolean => {
  const url = parseUrl(address);
  if (rule.type !== "host" || url === undefined) return false;
  const host = rule.host.replace(/^\*\./, "");
  return (
    (hostMatches(host, url.hostname) || hostMatches(`*.${host}`, url.hostname)) && isPathWithin(rule.path, url.pathname)
  );
};

const hostMatches = (pattern: string, hostname: string): boolean => {
  const host = trimTrailingDots(hostname);
  return pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) && host !== pattern.slice(2) : host === pattern;
};

const isPathWithin = (folder: string | undefined, pathname: string): boolean =>
  folder === undefined || pathname === folder || pathname.startsWith(folder.endsWith("/") ? folder : `${folder}/`);

/** Whether a rule names a path (relative to its root) or one of its parent folders. */
export const namesPath = (rule: PermissionRule, shown: string): boolean =>
  rule.type === "path" && (shown === rule.path || shown.startsWith(`${rule.path}/`));

/** A path for matching: with all links followed, and relative to its workspace folder. */
type MatchedPath = { readonly path: string; readonly shown: string };

/** Whether a rule allows to edit a file. Patterns start at a workspace folder and respect case. */
export const allowsEdit = (rule: PermissionRule, file: MatchedPath, home: string | undefined): boolean =>
  namesPath(rule, file.shown) ||
  (rule.type === "files" && rule.access === "edit" && matchesFile(rule.pattern, file, home));

/**
 * Whether a rule denies (or asks about) access to a file. Rules about reading cover edits too, which show content; a
 * name without a folder matches at any depth; case is ignored, as some disks do.
 */
export const deniesFile = (
  rule: PermissionRule,
  file: MatchedPath,
  { access, home }: { readonly access: "read" | "edit"; readonly home: string | undefined },
): boolean => {
  if (namesPath(rule, file.shown)) return true;
  if (rule.type !== "files" || (rule.access === "edit" && access === "read")) return false;
  const pattern = /^[^/]+\/?$/.test(rule.pattern) && rule.pattern !== "~" ? `**/${rule.pattern}` : rule.pattern;
  const folded = { path: file.path.toLowerCase(), shown: file.shown.toLowerCase() };
  return matchesFile(pattern.toLowerCase(), folded, home?.toLowerCase());
};

const matchesFile = (pattern: string, { path, shown }: MatchedPath, home: string | undefined): boolean => {
  if (pattern.startsWith("//")) return matchesPathPattern(pattern, path);
  if (!pattern.startsWith("~/")) return matchesPathPattern(pattern, shown);
  return home !== undefined && matchesPathPattern(`${home}/${pattern.slice(2)}`, path);
};
