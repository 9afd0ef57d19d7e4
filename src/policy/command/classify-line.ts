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

/** Looks at each command of a plain line, in every folder the line may be in by then. */
export const classifyPlainCommands = async (
  commands: readonly PlainCommand[],
  context: CommandContext,
): Promise<readonly SimpleCommand[]> => {
  const studied: SimpleCommand[] = [];
  const everywhere = findEnvironmentRisk(context);
  let folders: readonly string[] = [context.folder];
  for (const [at, command] of commands.entries()) {
    const { operator: joint, words: own } = command;
    const study = addVariables(command, addInputFiles(command, classifyCommand(own)));
    const isFed = joint === "|" || command.redirects.some(({ operator }) => operator === "<");
    const words = study.words;
    const binary = await resolveBinary(own[0] ?? "", context);
    const fed = isFed && runsInput(own) ? "it runs, or passes on, whatever it reads" : undefined;
    const fault =
      fed ?? everywhere ?? (await findBinaryRisk(binary, context)) ?? (await findPathRisk(study, folders, context));
    const outcome =
      fault === undefined
        ? await addRepositoryRisk(study, folders, context)
        : { ...study, needs: undefined, why: fault };
    studied.push({
      words,
      operator: joint,
      binary,
      requiredWords: outcome.requiredWords,
      reason: outcome.reason,
      rule: suggestRule(words, outcome),
    });
    folders = await findFoldersAfter(commands, at, folders, context);
  }
  return studied;
};

/** The folders the line may be in after a command: by their names, and where their links lead. */
const findFoldersAfter = async (
  commands: readonly PlainCommand[],
  at: number,
  folders: readonly string[],
  { home, canonical }: CommandContext,
): Promise<readonly string[]> => {
  const reached = listFoldersReached((commands[at]?.words ?? []).map(literalWord), { folders, home });
  if (reached.length === 0) return folders;
  const real = await Promise.all(reached.map(canonical));
  return [...new Set([...(isUnconditional(commands, at) ? [] : folders), ...reached, ...real])];
};

/** Whether what follows a `cd` runs only where it succeeded: all before and after it is joined by `&&`. */
const isUnconditional = (commands: readonly PlainCommand[], at: number): boolean => {
  const { words, operator: joint } = commands[at] ?? { words: [], operator: "|" };
  const rest = commands.slice(at + 1).map((command) => command.operator);
  const before = commands.slice(0, at + 1).map((command) => command.operator);
  const list = before.slice(before.lastIndexOf(";") + 1);
  return (
    words[0] === "cd" &&
    joint !== "|" &&
    rest[0] === "&&" &&
    !list.includes("||") &&
    rest.every((each) => each === "&&" || each === "|")
  );
};

/** Files the command reads by a redirection are among those it reads. */
const addInputFiles = ({ redirects }: PlainCommand, study: CommandProfile): CommandProfile => {
  const inputs = redirects.flatMap(({ operator, target }) => (operator === "<" ? [target] : []));
  return inputs.length === 0 ? study : { ...study, paths: [...study.paths, ...inputs] };
};

/** A variable that is not known to be harmless must be spelled out by a rule, and the whole command with it. */
const addVariables = (
  { assignments, words }: PlainCommand,
  study: CommandProfile,
): CommandProfile & { readonly words: readonly string[] } => {
  const risks = assignments.map(classifyVariable);
  const at = risks.indexOf("dangerous");
  if (at >= 0)
    return {
      ...study,
      words,
      requiredWords: undefined,
      reason: `${assignments[at]?.split("=")[0]} can change what runs`,
    };
  if (!risks.includes("unknown")) return { ...study, words };
  const all = [...assignments, ...words];
  return {
    ...study,
    words: all,
    requiredWords: study.requiredWords === undefined ? undefined : all.length,
    reason: "it sets a variable",
  };
};

const resolveBinary = async (name: string, { findProgram: resolve }: CommandContext): Promise<ResolvedBinary> => {
  if (isBuiltin(name)) return { kind: "builtin" };
  const path = name.includes("/") ? name : await resolve(name);
  return path === undefined ? { kind: "unknown" } : { kind: "file", path };
};

/** Variables by which a shell or a loader runs something before, or instead of, what the words say. */
const startupVariables =
  /^(?:BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PS4|CDPATH|BASH_FUNC_.*|LD_.*|DYLD_.*|GREP_OPTIONS|RIPGREP_CONFIG_PATH|GIT_(?:DIR|WORK_TREE|COMMON_DIR|EXEC_PATH|EXTERNAL_DIFF|TRACE.*))$/;

const findEnvironmentRisk = ({ env }: CommandContext): string | undefined => {
  const name = Object.keys(env).find((key) => startupVariables.test(key) && env[key] !== undefined && env[key] !== "");
  if (name !== undefined) return `${name} is set, which can change what runs`;
  const isRelative = (env["PATH"] ?? "").split(":").some((folder) => !folder.startsWith("/"));
  return isRelative ? "the search path holds a relative folder" : undefined;
};

const findBinaryRisk = async (
  binary: ResolvedBinary,
  { isInside, roots }: CommandContext,
): Promise<string | undefined> => {
  if (binary.kind === "builtin") return undefined;
  if (binary.kind === "unknown") return "no such program is found";
  if (!posix.isAbsolute(binary.path)) return "a program is named by a relative path";
  const isBelow = roots.some((root) => binary.path.startsWith(`${root}/`));
  return isBelow || (await isInside(binary.path)) ? `${binary.path} lies in the workspace` : undefined;
};

const findPathRisk = async (
  { paths, folderReading: reading = "names" }: CommandProfile,
  folders: readonly string[],
  { isInside, checkRead: readFault }: CommandContext,
): Promise<string | undefined> => {
  for (const folder of folders) {
    if (!(await isInside(folder))) return `it would run in ${folder}, outside the workspace`;
    for (const path of paths) {
      if (harmlessPaths.has(path)) continue;
      // Above a link is not where its name says.
      if (/[^/.][^/]*\/+(?:.*\/)?\.\.(?:\/|$)/.test(path)) return `${path} goes back up`;
      if (!(await isInside(posix.resolve(folder, path)))) return `${path} lies outside the workspace`;
      const fault = await readFault(posix.resolve(folder, path), reading);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
};

/** Standard input, and nothing at all. */
const harmlessPaths: ReadonlySet<string> = new Set(["-", "/dev/null"]);

const addRepositoryRisk = async (
  study: CommandProfile,
  folders: readonly string[],
  { findRepository: repository, isInside }: CommandContext,
): Promise<CommandProfile> => {
  if (study.usesRepository === undefined) return study;
  for (const folder of folders) {
    const { root, risk } = await repository(folder);
    if (risk !== undefined)
      return { ...study, requiredWords: undefined, reason: `the repository is not a plain one: ${risk}` };
    if (root !== undefined && !(await isInside(root)))
      return {
        ...study,
        requiredWords: Math.max(1, study.requiredWords ?? 1),
        reason: `its repository is ${root}, outside the workspace`,
      };
  }
  return study;
};
