import { posix } from "node:path";
import type { ResolvedBinary, CommandContext, SimpleCommand } from "./analysis.ts";
import { suggestRule } from "./always-allow.ts";
import { runsInput } from "./effects/launchers.ts";
import { isBuiltin, classifyCommand } from "./profiles/classify.ts";
import type { PlainCommand } from "./parse/plain.ts";
import { listFoldersReached } from "./effects/targets.ts";
import type { CommandProfile } from "./profiles/profile.ts";
import { classifyVariable } from "./profiles/variables.ts";
import { literalWord } from "./parse/word.ts";

/** Classifies each command of a plain line, in every folder the line may be in by then. */
export const classifyPlainCommands = async (
  commands: readonly PlainCommand[],
  context: CommandContext,
): Promise<readonly SimpleCommand[]> => {
  const classified: SimpleCommand[] = [];
  const environmentRisk = findEnvironmentRisk(context);
  let folders: readonly string[] = [context.folder];
  for (const [at, command] of commands.entries()) {
    const { words: commandWords } = command;
    const profile = addVariables(command, addInputFiles(command, classifyCommand(commandWords)));
    const hasInput = command.operator === "|" || command.redirects.some(({ operator }) => operator === "<");
    const words = profile.words;
    const binary = await resolveBinary(commandWords[0] ?? "", context);
    const download = findDownload(commands, at);
    const inputRisk =
      download === undefined
        ? hasInput && runsInput(commandWords)
          ? "it runs or forwards its input"
          : undefined
        : `it runs what \`${download}\` downloads`;
    const risk =
      inputRisk ??
      environmentRisk ??
      (await findBinaryRisk(binary, context)) ??
      (await findPathRisk(profile, folders, context));
    const outcome: CommandProfile =
      risk === undefined
        ? await addRepositoryRisk(profile, folders, context)
        : { ...profile, requiredWords: undefined, reason: risk };
    classified.push({
      words,
      operator: command.operator,
      binary,
      requiredWords: outcome.requiredWords,
      reason: outcome.reason,
      rule: suggestRule(words, outcome),
      ...(download === undefined ? {} : { runsDownload: true }),
    });
    folders = await findFoldersAfter(commands, at, folders, context);
  }
  return classified;
};

/** Finds the download whose output reaches a command that runs its input, through pipes. */
const findDownload = (commands: readonly PlainCommand[], at: number): string | undefined => {
  const words = commands[at]?.words ?? [];
  if (!runsInput(words) || isDownload(words)) return undefined;
  for (let source = at; commands[source]?.operator === "|"; source--) {
    const { words: sourceWords = [] } = commands[source - 1] ?? {};
    if (isDownload(sourceWords)) return sourceWords.join(" ");
  }
  return undefined;
};

const isDownload = (words: readonly string[]): boolean =>
  words.some((word) => /^(?:curl|wget|aria2c|xh|nc|ncat|netcat|socat|l?ftp)$/.test(posix.basename(word)));

/** Finds the folders the line may be in after a command, as named and with links followed. */
const findFoldersAfter = async (
  commands: readonly PlainCommand[],
  at: number,
  folders: readonly string[],
  { home, canonical }: CommandContext,
): Promise<readonly string[]> => {
  const reachedFolders = listFoldersReached((commands[at]?.words ?? []).map(literalWord), { folders, home });
  if (reachedFolders.length === 0) return folders;
  const real = await Promise.all(reachedFolders.map(canonical));
  return [...new Set([...(isUnconditional(commands, at) ? [] : folders), ...reachedFolders, ...real])];
};

/** Whether the commands after a `cd` run only if it succeeded: everything before and after it is joined by `&&`. */
const isUnconditional = (commands: readonly PlainCommand[], at: number): boolean => {
  const { words, operator } = commands[at] ?? { words: [], operator: "|" };
  const rest = commands.slice(at + 1).map((command) => command.operator);
  const before = commands.slice(0, at + 1).map((command) => command.operator);
  const list = before.slice(before.lastIndexOf(";") + 1);
  return (
    words[0] === "cd" &&
    operator !== "|" &&
    rest[0] === "&&" &&
    !list.includes("||") &&
    rest.every((each) => each === "&&" || each === "|")
  );
};

/** Adds the files a command reads by redirection. */
const addInputFiles = ({ redirects }: PlainCommand, profile: CommandProfile): CommandProfile => {
  const inputs = redirects.flatMap(({ operator, target }) => (operator === "<" ? [target] : []));
  return inputs.length === 0 ? profile : { ...profile, paths: [...profile.paths, ...inputs] };
};

/** Requires a rule with the whole command if it sets a variable that is not known to be harmless. */
const addVariables = (
  { assignments, words }: PlainCommand,
  profile: CommandProfile,
): CommandProfile & { readonly words: readonly string[] } => {
  const risks = assignments.map(classifyVariable);
  const at = risks.indexOf("dangerous");
  if (at >= 0)
    return {
      ...profile,
      words,
      requiredWords: undefined,
      reason: `${assignments[at]?.split("=")[0]} can change what runs`,
    };
  if (!risks.includes("unknown")) return { ...profile, words };
  const all = [...assignments, ...words];
  return {
    ...profile,
    words: all,
    requiredWords: profile.requiredWords === undefined ? undefined : all.length,
    reason: "it sets a variable",
  };
};

const resolveBinary = async (name: string, { findProgram }: CommandContext): Promise<ResolvedBinary> => {
  if (isBuiltin(name)) return { kind: "builtin" };
  const path = name.includes("/") ? name : await findProgram(name);
  return path === undefined ? { kind: "unknown" } : { kind: "file", path };
};

/** Variables that make a shell or a loader run something before or instead of the command. */
const startupVariables =
  /^(?:BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PS4|CDPATH|BASH_FUNC_.*|LD_.*|DYLD_.*|GREP_OPTIONS|RIPGREP_CONFIG_PATH|GIT_(?:DIR|WORK_TREE|COMMON_DIR|EXEC_PATH|EXTERNAL_DIFF|TRACE.*))$/;

const findEnvironmentRisk = ({ env }: CommandContext): string | undefined => {
  const name = Object.keys(env).find((key) => startupVariables.test(key) && env[key] !== undefined && env[key] !== "");
  if (name !== undefined) return `the variable ${name} is set, which can change what runs`;
  const isRelative = (env["PATH"] ?? "").split(":").some((folder) => !folder.startsWith("/"));
  return isRelative ? "PATH contains a relative folder" : undefined;
};

const findBinaryRisk = async (
  binary: ResolvedBinary,
  { isInside, roots }: CommandContext,
): Promise<string | undefined> => {
  if (binary.kind === "builtin") return undefined;
  if (binary.kind === "unknown") return "program not found";
  if (!posix.isAbsolute(binary.path)) return "the program is named by a relative path";
  const isBelow = roots.some((root) => binary.path.startsWith(`${root}/`));
  return isBelow || (await isInside(binary.path)) ? `${binary.path} is a program inside the workspace` : undefined;
};

const findPathRisk = async (
  { paths, folderReading: readKind = "names" }: CommandProfile,
  folders: readonly string[],
  { isInside, checkRead }: CommandContext,
): Promise<string | undefined> => {
  for (const folder of folders) {
    if (!(await isInside(folder))) return `it runs in ${folder}, outside the workspace`;
    for (const path of paths) {
      if (harmlessPaths.has(path)) continue;
      // ".." after a link leads elsewhere than the spelling suggests.
      if (/[^/.][^/]*\/+(?:.*\/)?\.\.(?:\/|$)/.test(path)) return `${path} contains ".." after a name`;
      if (!(await isInside(posix.resolve(folder, path)))) return `${path} is outside the workspace`;
      const risk = await checkRead(posix.resolve(folder, path), readKind);
      if (risk !== undefined) return risk;
    }
  }
  return undefined;
};

/** Standard input and the null device. */
const harmlessPaths: ReadonlySet<string> = new Set(["-", "/dev/null"]);

const addRepositoryRisk = async (
  profile: CommandProfile,
  folders: readonly string[],
  { findRepository, isInside }: CommandContext,
): Promise<CommandProfile> => {
  if (profile.usesRepository === undefined) return profile;
  for (const folder of folders) {
    const { root, risk } = await findRepository(folder);
    if (risk !== undefined)
      return { ...profile, requiredWords: undefined, reason: `the repository may run programs: ${risk}` };
    if (root !== undefined && !(await isInside(root)))
      return {
        ...profile,
        requiredWords: Math.max(1, profile.requiredWords ?? 1),
        reason: `the repository ${root} is outside the workspace`,
      };
  }
  return profile;
};
