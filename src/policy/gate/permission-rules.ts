/** A permission rule: names a tool, server, command, host or path that is allowed or denied. */
export type PermissionRule =
  /** Every edit of files in the workspace, whichever tool makes it. */
  | { readonly type: "edits" }
  | { readonly type: "tool"; readonly name: string; readonly identity?: string }
  /** `identity` is set for an answer of the user: then the name alone does not match. */
  | { readonly type: "server"; readonly name: string; readonly identity?: string }
  /** A command that begins with these words, or equals them if exact. */
  | { readonly type: "command"; readonly words: readonly string[]; readonly exact?: true }
  /** A host by its ASCII name; a leading `*.` means its subdomains. */
  | { readonly type: "host"; readonly host: string; readonly path?: string }
  /** A file or folder of the workspace, and everything below it. */
  | { readonly type: "path"; readonly path: string };

export type PermissionRules = {
  readonly allow: readonly PermissionRule[];
  readonly deny: readonly PermissionRule[];
  /** The exclusive allow list: if set, nothing else runs, in any mode. */
  readonly only?: readonly PermissionRule[] | undefined;
};

/** The sources of permission rules. */
export type PermissionRuleSources = {
  /** From the command line. Applies in every folder. */
  readonly commandLine?: Partial<PermissionRules> | undefined;
  readonly settings?: Partial<PermissionRules> | undefined;
  /** Deny rules of the project. A project cannot allow. */
  readonly project?: readonly PermissionRule[] | undefined;
};

/** Merges the rules that apply. In an untrusted folder the user's settings allow nothing, and the project's rules are ignored. */
export const mergePermissionRules = (
  { commandLine, settings, project = [] }: PermissionRuleSources,
  trusted: boolean,
): PermissionRules => ({
  allow: [...(commandLine?.allow ?? []), ...(trusted ? (settings?.allow ?? []) : [])],
  deny: [...(commandLine?.deny ?? []), ...(settings?.deny ?? []), ...(trusted ? project : [])],
  only: commandLine?.only ?? settings?.only,
});

/**
 * Parses a permission rule: `write_file`, `edits`, `run_shell_command(npm test)`, `server:github`,
 * `host:docs.example.com/guide`, `path:.envrc`. Returns undefined for anything else.
 */
export const parsePermissionRule = (text: string): PermissionRule | undefined => {
  const command = /^run_shell_command\((.*)\)$/s.exec(text.trim())?.[1];
  if (command !== undefined) return parseCommandRule(command);
  const [, kind, rest] = /^(server|host|path):(.+)$/s.exec(text.trim()) ?? [];
  if (kind === "server" && rest !== undefined) return { type: "server", name: rest };
  if (kind === "host" && rest !== undefined) return parseHostRule(rest);
  if (kind === "path" && rest !== undefined) return parsePathRule(rest);
  if (text.trim() === "edits") return { type: "edits" };
  return /^[A-Za-z_][\w.-]*$/.test(text.trim()) ? { type: "tool", name: text.trim() } : undefined;
};

/** Formats a rule so that `parsePermissionRule` can parse it. */
export const formatPermissionRule = (rule: PermissionRule): string => {
  switch (rule.type) {
    case "edits":
      return "edits";
    case "tool":
      return rule.name;
    case "server":
      return `server:${rule.name}`;
    case "command":
      return `run_shell_command(${rule.words.join(" ")})`;
    case "host":
      return `host:${rule.host}${rule.path ?? ""}`;
    case "path":
      return `path:${rule.path}`;
  }
};

/** Accepts plain words only: no quotes, variables or operators whose meaning would be ambiguous. */
const parseCommandRule = (text: string): PermissionRule | undefined => {
  const words = text.trim().split(/\s+/);
  return words.every((word) => /^[\w./:@%+=,-]+$/.test(word)) ? { type: "command", words } : undefined;
};

const parseHostRule = (text: string): PermissionRule | undefined => {
  const [, star = "", host = "", path] = /^(\*\.)?([^/?#\\@:\s]+)(\/[^?#\\\s]*)?$/.exec(text) ?? [];
  const url = parseUrl(`https://${host}${path ?? ""}`);
  if (host === "" || url === undefined || url.hostname === "") return undefined;
  const rule = { type: "host", host: star + trimTrailingDots(url.hostname) } as const;
  return path === undefined || url.pathname === "/" ? rule : { ...rule, path: url.pathname };
};

const parseUrl = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

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

/** `example.com.` equals `example.com`. */
const trimTrailingDots = (hostname: string): string => hostname.replace(/\.+$/, "");

const isPathWithin = (folder: string | undefined, pathname: string): boolean =>
  folder === undefined || pathname === folder || pathname.startsWith(folder.endsWith("/") ? folder : `${folder}/`);

/** Whether a rule names a path (relative to its root) or one of its parent folders. */
export const namesPath = (rule: PermissionRule, shown: string): boolean =>
  rule.type === "path" && (shown === rule.path || shown.startsWith(`${rule.path}/`));
