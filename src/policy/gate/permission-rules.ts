/** Names what a person allows or denies by hand. */
export type PermissionRule =
  | { readonly type: "tool"; readonly name: string; readonly identity?: string }
  /** `identity` is set for an answer: then the name alone does not count. */
  | { readonly type: "server"; readonly name: string; readonly identity?: string }
  /** A command that begins with these words; that is these words and no more, where it is exact. */
  | { readonly type: "command"; readonly words: readonly string[]; readonly exact?: true }
  /** A host by its real name; `*.` in front means what is below it. */
  | { readonly type: "host"; readonly host: string; readonly path?: string }
  /** A file or folder of the workspace, and all below it. */
  | { readonly type: "path"; readonly path: string };

export type PermissionRules = {
  readonly allow: readonly PermissionRule[];
  readonly deny: readonly PermissionRule[];
  /** Where there is such a list, nothing else runs, in any mode. */
  readonly only?: readonly PermissionRule[] | undefined;
};

/** Where rules can come from. */
export type PermissionRuleSources = {
  /** What the person says on the command line. It holds everywhere. */
  readonly commandLine?: Partial<PermissionRules> | undefined;
  readonly settings?: Partial<PermissionRules> | undefined;
  /** What the project denies. It cannot allow. */
  readonly project?: readonly PermissionRule[] | undefined;
};

/** The rules that count. In a folder that is not trusted the person's settings allow nothing, and the project is not heard. */
export const mergePermissionRules = (
  { commandLine: line, settings, project = [] }: PermissionRuleSources,
  trusted: boolean,
): PermissionRules => ({
  allow: [...(line?.allow ?? []), ...(trusted ? (settings?.allow ?? []) : [])],
  deny: [...(line?.deny ?? []), ...(settings?.deny ?? []), ...(trusted ? project : [])],
  only: line?.only ?? settings?.only,
});

/**
 * A rule as people write it: `write_file`, `run_shell_command(npm test)`,
 * `server:github`, `host:docs.example.com/guide`, `path:.envrc`; undefined
 * where it is none of these.
 */
export const parsePermissionRule = (text: string): PermissionRule | undefined => {
  const command = /^run_shell_command\((.*)\)$/s.exec(text.trim())?.[1];
  if (command !== undefined) return parseCommandRule(command);
  const [, kind, rest] = /^(server|host|path):(.+)$/s.exec(text.trim()) ?? [];
  if (kind === "server" && rest !== undefined) return { type: "server", name: rest };
  if (kind === "host" && rest !== undefined) return parseHostRule(rest);
  if (kind === "path" && rest !== undefined) return parsePathRule(rest);
  return /^[A-Za-z_][\w.-]*$/.test(text.trim()) ? { type: "tool", name: text.trim() } : undefined;
};

/** A rule as `parseRule` reads it. */
export const formatPermissionRule = (rule: PermissionRule): string => {
  switch (rule.type) {
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

/** Plain words alone: a rule holds no quotes, variables or operators whose meaning would have to be guessed. */
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
 * Whether a rule allows an address. A host is approved for what it serves, not
 * as a place to carry things to: an address with a query, a password or a port of
 * its own is never covered.
 */
export const allowsUrl = (rule: PermissionRule, address: string): boolean => {
  const url = parseUrl(address);
  if (rule.type !== "host" || url === undefined || !/^https?:$/.test(url.protocol)) return false;
  if (url.search !== "" || url.username !== "" || url.password !== "" || url.port !== "") return false;
  return hostMatches(rule.host, url.hostname) && isPathWithin(rule.path, url.pathname);
};

/** Whether a rule denies an address. What it names stands for everything below it as well. */
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

/** `example.com.` is `example.com`. */
const trimTrailingDots = (hostname: string): string => hostname.replace(/\.+$/, "");

const isPathWithin = (folder: string | undefined, pathname: string): boolean =>
  folder === undefined || pathname === folder || pathname.startsWith(folder.endsWith("/") ? folder : `${folder}/`);

/** Whether a rule names a path, given relative to its root, or a folder above it. */
export const namesPath = (rule: PermissionRule, shown: string): boolean =>
  rule.type === "path" && (shown === rule.path || shown.startsWith(`${rule.path}/`));
