import { PluginSourceError } from "./tree.ts";

/** A repository, and the branch, tag or commit to read. */
export type RepositoryLocation = { readonly url: string; readonly ref?: string };

/**
 * Parses the address of a repository: an https or ssh URL, `user@host:path`, or `owner/name` on GitHub; `#ref` names a
 * branch, tag or commit. http is accepted for this machine only. Throws a `PluginSourceError` for anything else, such as
 * options, other transports and URLs with passwords.
 */
export const parseRepository = (text: string): RepositoryLocation => {
  const [, address = "", ref] = /^([^#]*)(?:#(.*))?$/s.exec(text) ?? [];
  if (ref !== undefined && !isRef(ref)) throw new PluginSourceError(`"${ref}" is not a valid branch, tag or commit.`);
  return { url: parseAddress(address), ...(ref === undefined ? {} : { ref }) };
};

/** Whether a text is a name that git takes as a reference and never as an option or an expression. */
export const isRef = (ref: string): boolean =>
  /^[A-Za-z0-9_][A-Za-z0-9_./-]{0,199}$/.test(ref) && !ref.includes("..") && !ref.endsWith(".lock");

/** Whether a text is `owner/name`, which stands for a repository on GitHub. */
export const isGitHubName = (text: string): boolean => /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/.test(text);

const parseAddress = (address: string): string => {
  if (isGitHubName(address)) return `https://github.com/${address.replace(/\.git$/, "")}.git`;
  // git reads user@host:path as ssh. A path with "::" would name a helper program.
  if (/^[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][\w.-]*:[A-Za-z0-9~/][\w./~-]*$/.test(address)) return address;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isLocal = url?.protocol === "http:" && /^(127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname);
  if (
    url === undefined ||
    !(isLocal || url.protocol === "https:" || url.protocol === "ssh:") ||
    !/^[\w.[\]-]+$/.test(url.hostname) ||
    url.hostname.startsWith("-")
  )
    throw new PluginSourceError(
      `"${address.slice(0, 200)}" is neither a folder nor the address of a repository: https://..., ssh://..., user@host:path, or owner/name on GitHub.`,
    );
  if (url.password !== "" || (url.username !== "" && url.protocol !== "ssh:"))
    throw new PluginSourceError("The address contains credentials, which would be stored. Use ssh instead.");
  return url.href;
};
