import { posix } from "node:path";
import type { Binary, CommandContext, SimpleCommand } from "./command-analysis.ts";
import { ruleFor } from "./command-always.ts";
import { runsInput } from "./command-launchers.ts";
import { isBuiltin, studyCommand } from "./command-known.ts";
import type { PlainCommand } from "./command-plain.ts";
import { foldersReached } from "./command-reach.ts";
import type { Study } from "./command-study.ts";
import { judgeVariable } from "./command-variables.ts";
import { known } from "./command-word.ts";

/** Looks at each command of a plain line, in every folder the line may be in by then. */
export const studyPlain = async (
  commands: readonly PlainCommand[],
  context: CommandContext,
): Promise<readonly SimpleCommand[]> => {
  const studied: SimpleCommand[] = [];
  const everywhere = surroundingsFault(context);
  let folders: readonly string[] = [context.folder];
  for (const [at, command] of commands.entries()) {
    const { joint, words: own } = command;
    const study = withVariables(command, withInputs(command, studyCommand(own)));
    const isFed = joint === "|" || command.redirects.some(({ operator }) => operator === "<");
    const words = study.words;
    const binary = await binaryOf(own[0] ?? "", context);
    const fed = isFed && runsInput(own) ? "it runs, or passes on, whatever it reads" : undefined;
    const fault =
      fed ?? everywhere ?? (await binaryFault(binary, context)) ?? (await placeFault(study, folders, context));
    const outcome =
      fault === undefined ? await withRepository(study, folders, context) : { ...study, needs: undefined, why: fault };
    studied.push({ words, joint, binary, needs: outcome.needs, why: outcome.why, rule: ruleFor(words, outcome) });
    folders = await foldersOf(commands, at, folders, context);
  }
  return studied;
};

/** The folders the line may be in after a command: by their names, and where their links lead. */
const foldersOf = async (
  commands: readonly PlainCommand[],
  at: number,
  folders: readonly string[],
  { home, canonical }: CommandContext,
): Promise<readonly string[]> => {
  const reached = foldersReached((commands[at]?.words ?? []).map(known), { folders, home });
  if (reached.length === 0) return folders;
  const real = await Promise.all(reached.map(canonical));
  return [...new Set([...(isSureToHappen(commands, at) ? [] : folders), ...reached, ...real])];
};

/** Whether what follows a `cd` runs only where it succeeded: all before and after it is joined by `&&`. */
const isSureToHappen = (commands: readonly PlainCommand[], at: number): boolean => {
  const { words, joint } = commands[at] ?? { words: [], joint: "|" };
  const rest = commands.slice(at + 1).map((command) => command.joint);
  const before = commands.slice(0, at + 1).map((command) => command.joint);
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
const withInputs = ({ redirects }: PlainCommand, study: Study): Study => {
  const inputs = redirects.flatMap(({ operator, target }) => (operator === "<" ? [target] : []));
  return inputs.length === 0 ? study : { ...study, paths: [...study.paths, ...inputs] };
};

/** A variable that is not known to be harmless must be spelled out by a rule, and the whole command with it. */
const withVariables = (
  { assignments, words }: PlainCommand,
  study: Study,
): Study & { readonly words: readonly string[] } => {
  const risks = assignments.map(judgeVariable);
  const at = risks.indexOf("dangerous");
  if (at >= 0)
    return { ...study, words, needs: undefined, why: `${assignments[at]?.split("=")[0]} can change what runs` };
  if (!risks.includes("unknown")) return { ...study, words };
  const all = [...assignments, ...words];
  return { ...study, words: all, needs: study.needs === undefined ? undefined : all.length, why: "it sets a variable" };
};

const binaryOf = async (name: string, { resolve }: CommandContext): Promise<Binary> => {
  if (isBuiltin(name)) return { kind: "builtin" };
  const path = name.includes("/") ? name : await resolve(name);
  return path === undefined ? { kind: "unknown" } : { kind: "file", path };
};

/** Variables by which a shell or a loader runs something before, or instead of, what the words say. */
const startup =
  /^(?:BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PS4|CDPATH|BASH_FUNC_.*|LD_.*|DYLD_.*|GREP_OPTIONS|RIPGREP_CONFIG_PATH|GIT_(?:DIR|WORK_TREE|COMMON_DIR|EXEC_PATH|EXTERNAL_DIFF|TRACE.*))$/;

const surroundingsFault = ({ env }: CommandContext): string | undefined => {
  const name = Object.keys(env).find((key) => startup.test(key) && env[key] !== undefined && env[key] !== "");
  if (name !== undefined) return `${name} is set, which can change what runs`;
  const isRelative = (env["PATH"] ?? "").split(":").some((folder) => !folder.startsWith("/"));
  return isRelative ? "the search path holds a relative folder" : undefined;
};

const binaryFault = async (binary: Binary, { isInside, roots }: CommandContext): Promise<string | undefined> => {
  if (binary.kind === "builtin") return undefined;
  if (binary.kind === "unknown") return "no such program is found";
  if (!posix.isAbsolute(binary.path)) return "a program is named by a relative path";
  const isBelow = roots.some((root) => binary.path.startsWith(`${root}/`));
  return isBelow || (await isInside(binary.path)) ? `${binary.path} lies in the workspace` : undefined;
};

const placeFault = async (
  { paths, folders: reading = "names" }: Study,
  folders: readonly string[],
  { isInside, readFault }: CommandContext,
): Promise<string | undefined> => {
  for (const folder of folders) {
    if (!(await isInside(folder))) return `it would run in ${folder}, outside the workspace`;
    for (const path of paths) {
      if (harmless.has(path)) continue;
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
const harmless: ReadonlySet<string> = new Set(["-", "/dev/null"]);

const withRepository = async (
  study: Study,
  folders: readonly string[],
  { repository, isInside }: CommandContext,
): Promise<Study> => {
  if (study.repository === undefined) return study;
  for (const folder of folders) {
    const { root, risk } = await repository(folder);
    if (risk !== undefined) return { ...study, needs: undefined, why: `the repository is not a plain one: ${risk}` };
    if (root !== undefined && !(await isInside(root)))
      return {
        ...study,
        needs: Math.max(1, study.needs ?? 1),
        why: `its repository is ${root}, outside the workspace`,
      };
  }
  return study;
};
