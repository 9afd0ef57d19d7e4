import { isSecretField, isSecretName } from "./names.ts";

/** The text that replaces a secret. */
export const secretPlaceholder = "[secret]";

/** Redacts everything that looks like a key. Runs in linear time. */
export const redactPatterns = (text: string): string =>
  secretPatterns.reduce((clean, { pattern, replace }) => clean.replaceAll(pattern, replace), redactPrivateKeys(text));

/** A pattern, and the replacement for one match and its groups. */
type SecretPattern = { readonly pattern: RegExp; readonly replace: (match: string, ...groups: string[]) => string };

/**
 * Each pattern starts at a word start or repeats a bounded number of times, so that no text causes
 * quadratic backtracking.
 */
const secretPatterns: readonly SecretPattern[] = [
  { pattern: vendorKeyPattern(), replace: () => secretPlaceholder },
  {
    pattern: /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?/g,
    replace: () => secretPlaceholder,
  },
  {
    pattern:
      /((?:proxy-)?authorization[\\"']{0,4}\s{0,4}[:=]\s{0,4}[\\"']{0,4})((?:[a-z\d-]{1,30} {1,4})?)[^\s"'\\]{8,}/gi,
    replace: (_, name = "", scheme = "") => `${name}${scheme}${secretPlaceholder}`,
  },
  {
    pattern: /((?:set-)?cookie[\\"']{0,4}\s{0,4}:\s{0,4}[\\"']{0,4})[^\r\n"'\\]{4,}/gi,
    replace: (_, name = "") => `${name}${secretPlaceholder}`,
  },
  {
    // A header by its name, as curl and logs write it: x-api-key, x-goog-api-key, private-token.
    pattern: /(?<![\w-])([a-z\d]{1,30}(?:-[a-z\d]{1,30}){1,6})(["']?\s{0,4}[:=]\s{0,4}["']?)([^\s"'\\]{6,})/gi,
    replace: (match, name = "", middle = "") => (isSecretHeader(name) ? `${name}${middle}${secretPlaceholder}` : match),
  },
  {
    // An assignment in a settings file or a log. Words of programs have no digits, or call something.
    pattern:
      /(?<![\w$.-])([A-Za-z][\w-]{2,60})(\s{0,4}[:=]\s{0,4}["']?)(?=[^\s"'\\,;()[\]{}]{0,120}\d)([\w.~+/=!@#%^&*-]{8,})(?![\w(])/g,
    replace: (match, name = "", middle = "", value = "") =>
      isSecretAssignment(name) && !/^[\d._-]+$/.test(value) ? `${name}${middle}${secretPlaceholder}` : match,
  },
  { pattern: /(?<!\w)(signature=)[\da-f]{32,}/gi, replace: (_, name = "") => `${name}${secretPlaceholder}` },
  { pattern: /(?<!\w)(bearer\s{1,4})[\w.~+/=-]{16,}/gi, replace: (_, scheme = "") => `${scheme}${secretPlaceholder}` },
  {
    pattern: /([?&#;])([\w.~-]{1,60})=([^&\s"'#<>\\]{4,})/g,
    replace: (match, mark = "", name = "") => (isQuerySecret(name) ? `${mark}${name}=${secretPlaceholder}` : match),
  },
  {
    pattern: /(:\/\/[^\s/:@"'<>\\]{0,256}:)[^\s/"'<>\\]{1,256}@/g,
    replace: (_, before = "") => `${before}${secretPlaceholder}@`,
  },
  { pattern: /(:\/\/)[^\s/:@"'<>\\]{20,256}@/g, replace: (_, before = "") => `${before}${secretPlaceholder}@` },
  {
    pattern: /(?<!\w)([A-Z][A-Z\d_]{1,60})=(["']?)(?!\$)[^\s"']{8,}/g,
    replace: (match, name = "", quote = "") => (isSecretName(name) ? `${name}=${quote}${secretPlaceholder}` : match),
  },
  {
    pattern: /(\\{0,3}["'])([\w-]{1,60})(\\{0,3}["']\s{0,4}:\s{0,4}\\{0,3}["'])[^"'\\\s]{8,}/g,
    replace: (match, open = "", name = "", middle = "") =>
      isSecretField(name) ? `${open}${name}${middle}${secretPlaceholder}` : match,
  },
];

/** The beginnings by which makers let their keys be known. A digit must be near: keys have some, words do not. */
function vendorKeyPattern(): RegExp {
  const letters = ["gsk_", "xai-", "hf_", "r8_", "pplx-", "csk-", "npm_", "gh[pousr]_", "dop_v1_", "ntn_", "lin_api_"];
  const more = ["AIza", "AQ\\.", "ya29\\.", "GOCSPX-", "1//0", "github_pat_", "gl(?:pat|dt|rt|ptt)-", "pypi-", "SG\\."];
  const others = ["dckr_pat_", "ATATT3x", "hv[sb]\\.", "nvapi-", "tvly-", "sntrys_", "whsec_", "shp(?:at|ss|ca|pa)_"];
  return new RegExp(
    `(?<![A-Za-z\\d])(?:${[
      "sk-(?=\\S{0,120}\\d)[\\w-]{16,}",
      "[srp]k_(?:live|test)_[A-Za-z\\d]{12,}",
      "A(?:KIA|SIA|BIA|CCA)[A-Z\\d]{16}(?![A-Za-z\\d])",
      "ABSK[A-Za-z\\d+/]{30,}=*",
      "x(?:ox[abeoprs]|app)-[\\w-]{10,}",
      "AGE-SECRET-KEY-[A-Z\\d]{20,}",
      `(?:${letters.join("|")})(?=[A-Za-z]{0,80}\\d)[A-Za-z\\d]{20,}`,
      `(?:${[...more, ...others].join("|")})(?=\\S{0,120}\\d)[\\w.~+/=-]{16,}`,
    ].join("|")})`,
    "g",
  );
}

const isQuerySecret = (name: string): boolean =>
  isSecretField(name) || /^(key|keys|auth|sig|signature|pwd|x-(amz|goog)-(signature|credential))$/i.test(name);

const isSecretHeader = (name: string): boolean =>
  isSecretField(name) || /-(auth|token|secret|password|subscription-key|functions-key|session-id)$/i.test(name);

const isSecretAssignment = (name: string): boolean =>
  /(password|passwd|passphrase|secret|api[-_]?key|access[-_]?key|private[-_]?key|token|credential)$/i.test(name);

/** Redacts private keys from their first line to their last; a truncated one as far as it looks like a key. */
const redactPrivateKeys = (text: string): string => {
  const firstLine = /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
  let clean = "";
  let from = 0;
  const lastEnd = text.lastIndexOf("-----END ");
  for (let found = firstLine.exec(text); found !== null; found = firstLine.exec(text)) {
    const body = found.index + found[0].length;
    const end = lastEnd >= body ? text.indexOf("-----END ", body) : -1;
    const after =
      end === -1 ? body + (/^[\w+/=\s\\:,.()-]*/.exec(text.slice(body))?.[0].length ?? 0) : findMarkerEnd(text, end);
    clean += text.slice(from, found.index) + secretPlaceholder;
    from = after;
    firstLine.lastIndex = after;
  }
  return clean + text.slice(from);
};

const findMarkerEnd = (text: string, end: number): number => {
  const close = text.indexOf("-----", end + "-----END ".length);
  return close === -1 ? text.length : close + 5;
};
