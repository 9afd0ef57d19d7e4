/** A host by its ASCII name, perhaps with a path; a leading `*.` means its subdomains. */
export type HostRule = { readonly type: "host"; readonly host: string; readonly path?: string };

/** Parses a host, with `*.` for its subdomains and perhaps a path. */
export const parseHostRule = (text: string): HostRule | undefined => {
  const [, star = "", host = "", path] = /^(\*\.)?([^/?#\\@:\s]+)(\/[^?#\\\s]*)?$/.exec(text) ?? [];
  const url = parseUrl(`https://${host}${path ?? ""}`);
  if (host === "" || url === undefined || url.hostname === "") return undefined;
  const rule = { type: "host", host: star + trimTrailingDots(url.hostname) } as const;
  return path === undefined || url.pathname === "/" ? rule : { ...rule, path: url.pathname };
};

/** Parses a URL; undefined if it is none. */
export const parseUrl = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

/** `example.com.` equals `example.com`. */
export const trimTrailingDots = (hostname: string): string => hostname.replace(/\.+$/, "");
