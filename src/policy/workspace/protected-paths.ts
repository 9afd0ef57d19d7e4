import {
  agentFiles,
  autorunFiles,
  autorunFolders,
  autorunSequences,
  versionControlFolders,
  agentFolders,
  agentSequences,
  gitMarkerFiles,
} from "./protected-names.ts";
import { isInside, isPrintableAscii, splitPath } from "./paths.ts";

/** Whether writing a path is free, needs approval in every mode, or is denied in every mode; and why. */
export type Protection = { readonly level: "free" | "ask" | "deny"; readonly reason: string };

export type ProtectionContext = {
  readonly roots: readonly string[];
  /** The agent's own folders: settings, trust, sessions. */
  readonly ownFolders: readonly string[];
};

/**
 * Checks whether a path is protected: it controls the agent, or is run automatically. Expects the path with all links
 * followed. Names match in any disguise (case, width, invisible characters), whether they exist or not.
 */
export const checkProtection = (path: string, { roots, ownFolders }: ProtectionContext): Protection => {
  if (ownFolders.some((folder) => isInsideIgnoringCase(path, folder)))
    return deny("It is in Parley's own folder (settings, trust, sessions).");
  const allNames = splitPath(path).map(normalizeName);
  const root = roots.filter((folder) => isInside(path, folder)).toSorted((one, other) => other.length - one.length)[0];
  const relativeNames = root === undefined ? allNames : allNames.slice(splitPath(root).length);
  return (
    checkVersionControl(allNames) ??
    checkAgentFiles(relativeNames) ??
    checkAutorun(relativeNames) ?? { level: "free", reason: "" }
  );
};

/** Whether a path is the folder or below it, or would be on a disk that ignores case. */
export const isInsideIgnoringCase = (path: string, folder: string): boolean => {
  const names = splitPath(path);
  return splitPath(folder).every((name, index) => {
    const other = names[index];
    // Most names are spelled alike, and normalizing takes longer than all the rest of a path check.
    return other !== undefined && (name === other || normalizeName(name) === normalizeName(other));
  });
};

const deny = (reason: string): Protection => ({ level: "deny", reason });
const ask = (reason: string): Protection => ({ level: "ask", reason });

/** Denied even if the workspace itself is inside such a folder. */
const checkVersionControl = (names: readonly string[]): Protection | undefined =>
  names.some((name) => matchesName(name, versionControlFolders))
    ? deny("Version control data can make programs run. Change it only with version control commands.")
    : undefined;

const checkAgentFiles = (names: readonly string[]): Protection | undefined => {
  if (
    names.some((name) => matchesName(name, agentFolders)) ||
    agentSequences.some((sequence) => containsSequence(names, sequence))
  )
    return deny("It configures the agent. Only the user may change it.");
  return matchesName(names.at(-1) ?? "", agentFiles)
    ? ask("It contains instructions or ignore rules for agents.")
    : undefined;
};

const checkAutorun = (names: readonly string[]): Protection | undefined => {
  const last = names.at(-1) ?? "";
  if (matchesName(last, autorunFiles) || /\.pth$|^\.?lefthook(-local)?\.(yml|yaml|toml|json)$|^\.aider/.test(last))
    return ask("Programs run its contents automatically.");
  if (
    names.some((name) => matchesName(name, autorunFolders)) ||
    autorunSequences.some((sequence) => containsSequence(names, sequence))
  )
    return ask("Files in this folder are run automatically, or configure what other programs run.");
  return isBareRepository(names) || matchesName(last, gitMarkerFiles)
    ? ask("It may be part of a git repository, which can run programs.")
    : undefined;
};

/** A bare repository is an ordinary folder, usually with a name that ends in .git. */
const isBareRepository = (names: readonly string[]): boolean => names.slice(0, -1).some((name) => /.\.git$/.test(name));

/** Whether these names occur in this order, directly after each other. */
const containsSequence = (names: readonly string[], sequence: readonly string[]): boolean =>
  names.some((_, start) => sequence.every((name, index) => names[start + index] === name));

/**
 * Normalizes a name: lower case, normal width, without invisible characters and the dots, spaces and stream names that
 * Windows drops.
 */
const normalizeName = (name: string): string =>
  (isPrintableAscii(name) ? name : normalizeCharacters(name))
    .toLowerCase()
    .replace(/(?<=.):.*$/, "")
    .replace(/(?<=.)[. ]+$/, "");

const normalizeCharacters = (name: string): string =>
  name.normalize("NFKC").replace(/[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "");

const matchesName = (name: string, names: ReadonlySet<string>): boolean => names.has(name) || isShortName(name, names);

/** Windows also finds a file by the first letters of its name: GIT~1, GITMOD~1. */
const isShortName = (name: string, names: ReadonlySet<string>): boolean => {
  const start = /^([^~]{1,6})~\d+(\.[^.]{0,3})?$/.exec(name)?.[1];
  return start !== undefined && [...names].some((fullName) => fullName.replace(/[. ]/g, "").startsWith(start));
};
