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
import { isInside, splitPath } from "./paths.ts";

/** Whether a path may be written freely, must be asked about in every mode, or is refused in every mode; and why. */
export type Protection = { readonly level: "free" | "ask" | "deny"; readonly reason: string };

export type ProtectionContext = {
  readonly roots: readonly string[];
  /** The agent's own folder: settings, trust, sessions. */
  readonly home: string;
};

/**
 * What guards a path against being written: what governs the agent, and what runs code merely by being there.
 * Give it the path with all links followed. Names count however they are disguised, and whether or not they exist.
 */
export const checkProtection = (path: string, { roots, home }: ProtectionContext): Protection => {
  if (isInsideIgnoringCase(path, home))
    return deny("It belongs to the agent itself: its settings, whom it trusts, its sessions.");
  const all = splitPath(path).map(normalizeName);
  const root = roots.filter((folder) => isInside(path, folder)).toSorted((one, other) => other.length - one.length)[0];
  const below = root === undefined ? all : all.slice(splitPath(root).length);
  return checkVersionControl(all) ?? checkAgentFiles(below) ?? checkAutorun(below) ?? { level: "free", reason: "" };
};

/** Whether a path is a folder or below it, or would be on a disk that does not tell names apart by their case. */
export const isInsideIgnoringCase = (path: string, folder: string): boolean => {
  const names = splitPath(path).map(normalizeName);
  return splitPath(folder).every((name, index) => normalizeName(name) === names[index]);
};

const deny = (reason: string): Protection => ({ level: "deny", reason });
const ask = (reason: string): Protection => ({ level: "ask", reason });

/** Refused even where the workspace itself lies within. */
const checkVersionControl = (names: readonly string[]): Protection | undefined =>
  names.some((name) => matchesName(name, versionControlFolders))
    ? deny("What version control keeps for itself can run programs, and is changed only by its own commands.")
    : undefined;

const checkAgentFiles = (names: readonly string[]): Protection | undefined => {
  if (
    names.some((name) => matchesName(name, agentFolders)) ||
    agentSequences.some((sequence) => containsSequence(names, sequence))
  )
    return deny("It governs the agent. Only the person changes it.");
  return matchesName(names.at(-1) ?? "", agentFiles)
    ? ask("It tells agents what to do, or what to leave alone.")
    : undefined;
};

const checkAutorun = (names: readonly string[]): Protection | undefined => {
  const last = names.at(-1) ?? "";
  if (matchesName(last, autorunFiles) || /\.pth$|^\.?lefthook(-local)?\.(yml|yaml|toml|json)$|^\.aider/.test(last))
    return ask("Programs read it and run what it says, without anyone asking them to.");
  if (
    names.some((name) => matchesName(name, autorunFolders)) ||
    autorunSequences.some((sequence) => containsSequence(names, sequence))
  )
    return ask("What stands in this folder is run, or tells other programs what to run.");
  return isBareRepository(names) || matchesName(last, gitMarkerFiles)
    ? ask("It may be part of a repository that runs programs.")
    : undefined;
};

/** A repository without a working tree is a folder like any other, usually with a name that ends in .git. */
const isBareRepository = (names: readonly string[]): boolean => names.slice(0, -1).some((name) => /.\.git$/.test(name));

/** Whether these names stand in this order, one right after the other. */
const containsSequence = (names: readonly string[], sequence: readonly string[]): boolean =>
  names.some((_, start) => sequence.every((name, index) => names[start + index] === name));

/**
 * A name without its disguises: other case and wider letters, characters that cannot be seen, the dots, spaces
 * and stream names that Windows drops.
 */
const normalizeName = (name: string): string =>
  name
    .normalize("NFKC")
    .replace(/[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "")
    .toLowerCase()
    .replace(/(?<=.):.*$/, "")
    .replace(/(?<=.)[. ]+$/, "");

const matchesName = (name: string, names: ReadonlySet<string>): boolean => names.has(name) || isShortName(name, names);

/** Windows also finds a file by the first letters of its name: GIT~1, GITMOD~1. */
const isShortName = (name: string, names: ReadonlySet<string>): boolean => {
  const start = /^([^~]{1,6})~\d+(\.[^.]{0,3})?$/.exec(name)?.[1];
  return start !== undefined && [...names].some((long) => long.replace(/[. ]/g, "").startsWith(start));
};
