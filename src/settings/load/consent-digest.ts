import { createHash, randomUUID } from "node:crypto";
import { isAbsolute, resolve } from "node:path";
import { isInside } from "../../policy/workspace/paths.ts";
import { readRegularFile } from "../../policy/workspace/read-regular-file.ts";
import { isSecretName } from "../../policy/secrets/names.ts";
import type { ConsentRequest } from "../../policy/trust/project-settings.ts";
import type { Disk } from "../../world/disk.ts";

/**
 * Extends a consent's digest to the contents of the project files its command names, and to the secret variables it uses.
 * When one of these changes, the user is asked again.
 */
export const extendConsentDigest = async (
  disk: Disk,
  root: string,
  consent: ConsentRequest,
): Promise<ConsentRequest> => {
  const canonical = await disk.canonicalPath(root);
  const words = listWords(consent.text);
  const files = canonical === undefined ? [] : await findNamedFiles(disk, canonical, words);
  const secrets = findSecretVariables(consent.text);
  if (files.length === 0 && secrets.length === 0) return consent;
  const digest = createHash("sha256")
    .update(JSON.stringify([consent.digest, files, secrets]))
    .digest("hex");
  return { ...consent, digest, ...(secrets.length === 0 ? {} : { secrets }) };
};

/** Variables for the folder itself, in commands of hooks. */
const rootVariables =
  /\$\{?(?:CLAUDE_PROJECT_DIR|GEMINI_PROJECT_DIR|PARLEY_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|PLUGIN_ROOT|extensionPath)\b\}?/g;

/** Lists every string in the text, whole and split into words: a string may be a shell command line. */
const listWords = (text: string): readonly string[] => {
  const texts = [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((match) => parseJsonString(match[0]));
  const located = texts.map((each) => each.replaceAll(rootVariables, "."));
  const words = located.flatMap((each) => [
    each,
    ...each.split(separators),
    // "$CLAUDE_PROJECT_DIR"/hooks/check.sh is one word.
    ...each.replaceAll(/["'\\]/g, "").split(separators),
  ]);
  return [...new Set([...words, ...words.flatMap(listEndings)])].filter(
    (word) => word !== "" && word.length < 1000 && !word.includes("\0"),
  );
};

const separators = /[\s;&|()<>'"=`{},]+/;

/** Returns the path after a variable, a substitution or an option: `hooks/check.sh` of `$PWD/hooks/check.sh`. */
const listEndings = (word: string): readonly string[] => {
  const at = word.indexOf("/");
  return at !== -1 && /^[/$~:+-]/.test(word) ? [word.slice(at + 1).replace(/^\/+/, "")] : [];
};

const parseJsonString = (json: string): string => {
  try {
    return String(JSON.parse(json));
  } catch {
    return "";
  }
};

type NamedFile = readonly [path: string, digest: string];

/** More paths than the commands of any project name. */
const maxLookups = 20_000;

const findNamedFiles = async (disk: Disk, root: string, words: readonly string[]): Promise<readonly NamedFile[]> => {
  const found = new Map<string, string>();
  const relative = words.filter((word) => !isAbsolute(word));
  if (words.length > maxLookups) return tooMany();
  // A working directory is one of the words too.
  const inner = await Promise.all(relative.map((word) => findFolder(disk, root, word)));
  const folders = [...new Set([root, ...inner.flatMap((folder) => folder ?? [])])];
  if (relative.length * folders.length > maxLookups) return tooMany();
  for (const word of words)
    for (const folder of isAbsolute(word) ? [root] : folders) {
      const path = await disk.canonicalPath(resolve(folder, word)).catch(() => undefined);
      if (path === undefined || !isInside(path, root) || found.has(path)) continue;
      const digest = await hashFile(disk, path);
      if (digest !== undefined) found.set(path, digest);
    }
  return [...found].toSorted(([one], [other]) => (one < other ? -1 : 1));
};

/** A digest that no consent has: files that cannot all be covered must not seem unchanged. */
const tooMany = (): readonly NamedFile[] => [["", randomUUID()]];

const findFolder = async (disk: Disk, root: string, word: string): Promise<string | undefined> => {
  const path = await disk.canonicalPath(resolve(root, word)).catch(() => undefined);
  if (path === undefined || path === root || !isInside(path, root)) return undefined;
  return disk.listNames(path).then(
    () => path,
    () => undefined,
  );
};

/** Larger files are identified by size and time instead of a hash. */
const maxHashedBytes = 8 * 2 ** 20;

const hashFile = async (disk: Disk, path: string): Promise<string | undefined> => {
  const file = await readRegularFile(disk, path, maxHashedBytes);
  return file?.bytes === undefined ? file?.identity : createHash("sha256").update(file.bytes).digest("hex");
};

/** Lists the secret variables the text refers to. */
const findSecretVariables = (text: string): readonly string[] =>
  [...new Set([...text.matchAll(/\$\{?([A-Za-z_]\w*)/g)].map((match) => match[1] ?? ""))].filter(isSecretName);
