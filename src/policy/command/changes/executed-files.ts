import { posix } from "node:path";
import type { CommandAnalysis } from "../analysis.ts";
import { commandName } from "../effects/unwrap.ts";
import { sourceText } from "../parse/word.ts";

/** Whether a command line executes a file: a script it names, or the task file of its runner (package.json, Makefile). */
export type IsExecutedFile = (path: string) => boolean;

/** Finds the files that the commands of a line execute. `canonical` follows the links of an absolute path. */
export const findExecutedFiles = async (
  { runs, folder }: Pick<CommandAnalysis, "runs" | "folder">,
  canonical: (path: string) => Promise<string | undefined>,
): Promise<IsExecutedFile> => {
  const names: string[] = [];
  const words: string[] = [];
  for (const run of runs) {
    const name = (commandName(run) ?? "").replace(/[\d.]+$/, "");
    const [first = "", ...rest] = run.map(sourceText);
    const scripts = scriptArguments(name, rest);
    names.push(name, ...(name === "node" && rest.some((word) => word.startsWith("--run")) ? ["npm"] : []));
    // `python -m pytest` and `poetry run task` also count as the programs they name.
    if (/^(?:python|uv|poetry|pipenv|hatch|pdm|rye|bundle)$/.test(name)) names.push(...scripts);
    words.push(...(first.includes("/") ? [first] : []), ...scripts);
  }
  const manifests = taskRunners.flatMap(([programs, files]) =>
    names.some((name) => programs.test(name)) ? [files] : [],
  );
  const real = await Promise.all(
    words.slice(0, maxWords).map((word) => canonical(posix.resolve(folder, word)).catch(() => undefined)),
  );
  const named = [...new Set(words.flatMap(spellings))];
  return (path) =>
    manifests.some((files) => files.test(posix.basename(path))) ||
    real.includes(path) ||
    named.some((name) => endsWithName(path, name));
};

/** More than any ordinary command line names. */
const maxWords = 1000;

/**
 * Lists the words of a command that can name a file it executes: option values, and the first operand if it is a
 * script. It is not known which options take a value, so a word after an option counts as both.
 */
const scriptArguments = (name: string, rest: readonly string[]): readonly string[] => {
  const takesScript = interpreters.test(name);
  if (!takesScript && !programsWithTaskFile.test(name)) return [];
  const found: string[] = [];
  for (const [at, word] of rest.entries()) {
    const previous = rest[at - 1] ?? "";
    if (word.startsWith("-")) found.push(...optionValue(word));
    else if (previous.startsWith("-") || takesScript) found.push(word);
    const isOperand = !word.startsWith("-") && (!previous.startsWith("-") || /^-\w*m$/.test(previous));
    if (takesScript && isOperand && !subcommands.test(word) && !rest.includes("--test")) break;
  }
  return found;
};

/** `--import=./hook.js` and `-f./file` name a file too. */
const optionValue = (word: string): readonly string[] => {
  const at = word.indexOf("=");
  return at < 0 ? [word.slice(2)] : [word.slice(at + 1)];
};

/** Words before the script in `bun run x.ts`, `go run x.go`, `uv run x.py`. */
const subcommands = /^(?:run|watch|test|exec|x|task|start|serve|python[\d.]*|node|sh|bash)$/;

/** Spellings of a script: from another folder, without its extension, as a dotted module name. */
const spellings = (word: string): readonly string[] => {
  const path = posix
    .normalize(word)
    .replace(/^(?:\.{0,2}\/)+/, "")
    .replace(/\/$/, "");
  if (path === "" || path.startsWith("-")) return [];
  return /^[\w.]+$/.test(path) && path !== "." ? [path, path.replaceAll(".", "/")] : [path];
};

/** Compares the end of a path, because the line may change its folder first. A folder name matches everything in it. */
const endsWithName = (path: string, name: string): boolean =>
  name === "." || `${path}/`.includes(`/${name}/`) || `/${path.replace(/\.\w+$/, "")}`.endsWith(`/${name}`);

/** Programs that run a script given as an argument. */
const interpreters =
  /^(?:(?:ba|da|z|k|mk|a|fi|c|tc)?sh|source|\.|node|nodejs|deno|bun|tsx|ts-node|python|pypy|ipython|perl|ruby|php|lua|luajit|tclsh|expect|osascript|rscript|julia|java|groovy|scala|kotlin|elixir|runghc|swift|go|pwsh|powershell|ansible-playbook|uv|poetry|pipenv|hatch|pdm|rye|bundle)$/;

/** Programs whose options can name a task file. */
const programsWithTaskFile =
  /^(?:[gb]?make|just|task|go-task|cmake|ninja|ant|gradle|mvn|rake|docker|docker-compose|podman|tox|nox|pytest|[gmn]?awk|sed)$/;

/** Task runners, and the names of their task files in any folder. */
const taskRunners: readonly (readonly [programs: RegExp, files: RegExp])[] = [
  [
    /^(?:npm|npx|pnpm|pnpx|yarn|bun|bunx|deno|turbo|nx|lerna|rush|wireit|ni|nr)$/,
    /^(?:package\.json|\.npmrc|\.yarnrc(?:\.yml)?|pnpm-workspace\.yaml|\.?pnpmfile\.c?js|bunfig\.toml|deno\.jsonc?|turbo\.json|nx\.json|project\.json|lerna\.json)$/,
  ],
  [/^(?:g|b|re)?make$/, /^(?:(?:GNU|BSD)?makefile(?:\..*)?|.*\.(?:mk|mak))$/i],
  [/^just$/, /^(?:\.?justfile|.*\.just)$/i],
  [/^(?:go-)?task$/, /^taskfile.*\.ya?ml$/i],
  [
    /^(?:pytest|py\.test|tox|nox|poetry|poe|pipenv|hatch|pdm|uv|uvx|rye|pip|invoke|inv|doit)$/,
    /^(?:pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|pytest\.ini|noxfile\.py|tasks\.py|dodo\.py|Pipfile|hatch\.toml|uv\.toml|poe_tasks\..*)$/,
  ],
  [/^cargo$/, /^(?:Cargo\.toml|build\.rs|config\.toml|Makefile\.toml)$/],
  [/^mvnw?$/, /^(?:pom\.xml|mvnw|maven-wrapper\.properties)$/],
  [/^gradlew?$/, /^(?:.*\.gradle(?:\.kts)?|gradle(?:-wrapper)?\.properties|gradlew)$/],
  [/^ant$/, /^build\.xml$/],
  [/^(?:rake|rails|bundle|rspec)$/, /^(?:Rakefile(?:\.rb)?|Gemfile|.*\.rake|\.rspec)$/i],
  [/^composer$/, /^composer\.json$/],
  [/^mix$/, /^mix\.exs$/],
  [/^(?:dotnet|msbuild)$/, /^(?:.*\.(?:\w+proj|props|targets|sln))$/],
  [/^swift$/, /^Package\.swift$/],
  [/^bazel(?:isk)?$/, /^(?:BUILD|WORKSPACE)(?:\.bazel)?$|^MODULE\.bazel$|^\.bazelrc$|\.bzl$/],
  [/^(?:cmake|ctest|ninja|meson)$/, /^(?:CMakeLists\.txt|CMakePresets\.json|build\.ninja|meson\.build|.*\.cmake)$/],
  [/^(?:docker|docker-compose|podman|podman-compose)$/, /^(?:Dockerfile.*|(?:docker-)?compose.*\.ya?ml)$/],
  [
    /^(?:pre-commit|lefthook|lint-staged|husky)$/,
    /^(?:\.pre-commit-config\.yaml|\.?lefthook\.ya?ml|\.lintstagedrc.*|package\.json)$/,
  ],
  [/^go$/, /^go\.(?:mod|work)$/],
];

/** Task files of common runners, watched while a command runs that may write any file. */
export const commonManifests: readonly string[] = [
  "package.json",
  ".npmrc",
  "Makefile",
  "makefile",
  "GNUmakefile",
  "justfile",
  "Justfile",
  "Taskfile.yml",
  "Taskfile.yaml",
  "pyproject.toml",
  "setup.py",
  "tox.ini",
  "noxfile.py",
  "Cargo.toml",
  "build.rs",
  "pom.xml",
  "build.gradle",
  "build.gradle.kts",
  "Rakefile",
  "composer.json",
  "deno.json",
];
