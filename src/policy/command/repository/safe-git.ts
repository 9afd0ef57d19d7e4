/**
 * How git is called by the program itself, in a repository that may be hostile.
 *
 * A repository's configuration can name programs for almost anything git does.
 * What the command line and the environment say comes after it, so each of
 * these is taken back here; filters go by names a repository chooses, so they are listed first.
 */
export type SafeGitCall = { readonly args: readonly string[]; readonly env: { readonly [name: string]: string } };

/** A question to git. Only such as change nothing and stay on this machine. */
export type GitQuery = {
  readonly command: "status" | "diff" | "log" | "show" | "ls-files";
  /** Options of our own. Never anything a project or a model chose. */
  readonly options?: readonly string[];
  readonly revisions?: readonly string[];
  readonly paths?: readonly string[];
};

/** What git needs to know of its surroundings. `folder` is the root of the repository, in its canonical form: nothing outside it is looked at. */
export type GitLocation = { readonly folder: string; readonly searchPath: string; readonly language?: string };

/** The call that lists all keys of a repository's configuration, each followed by a NUL. It runs nothing. */
export const listConfigKeysCall = (place: GitLocation): SafeGitCall => ({
  args: ["--no-pager", "config", "--list", "--name-only", "--null", "--includes"],
  env: createGitEnvironment(place, fixedSettings),
});

/** The call that asks a question, once the keys are known. */
export const safeGitCall = (question: GitQuery, place: GitLocation, keys: readonly string[]): SafeGitCall => {
  const { command, options = [], revisions = [], paths = [] } = question;
  return {
    args: [
      "--no-pager",
      command,
      ...fixedOptions[command],
      ...options,
      ...revisionArguments(command, revisions),
      "--",
      ...paths,
    ],
    env: createGitEnvironment(place, [...fixedSettings, ...disableFilters(keys)]),
  };
};

/** The keys in the answer to `listGitKeys`. */
export const parseConfigKeys = (listed: string): readonly string[] => listed.split("\0").filter((key) => key !== "");

const plainDiffOptions = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];

const fixedOptions: { readonly [command in GitQuery["command"]]: readonly string[] } = {
  status: ["--ignore-submodules=all"],
  diff: plainDiffOptions,
  log: [...plainDiffOptions, "--no-show-signature"],
  show: [...plainDiffOptions, "--no-show-signature"],
  "ls-files": [],
};

/** Names from a repository are never options. */
const revisionArguments = (command: GitQuery["command"], revisions: readonly string[]): readonly string[] =>
  command === "diff" || command === "log" || command === "show" ? ["--end-of-options", ...revisions] : [];

/** Everything git would run by a key with a known name. */
const fixedSettings: readonly (readonly [key: string, value: string])[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["core.editor", "false"],
  ["core.askPass", ""],
  ["core.sshCommand", "false"],
  ["core.gitProxy", ""],
  ["core.alternateRefsCommand", "false"],
  ["core.attributesFile", "/dev/null"],
  ["credential.helper", ""],
  ["diff.external", ""],
  ["interactive.diffFilter", "cat"],
  ["log.showSignature", "false"],
  ["gpg.program", "false"],
  ["gpg.openpgp.program", "false"],
  ["gpg.x509.program", "false"],
  ["gpg.ssh.program", "false"],
  ["gpg.ssh.defaultKeyCommand", ""],
  ["protocol.allow", "never"],
  ["safe.bareRepository", "explicit"],
  ["submodule.recurse", "false"],
  ["uploadpack.packObjectsHook", ""],
];

/** Variables with which git runs nothing that a repository's settings name, for questions a model asks. */
export const readOnlyGitVariables: { readonly [name: string]: string } = {
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "",
  ...settingsAsVariables(fixedSettings),
};

/** An empty filter is no filter. */
const disableFilters = (keys: readonly string[]): readonly (readonly [string, string])[] => {
  const names = new Set(keys.flatMap((key) => /^filter\.([\s\S]*)\.[^.]+$/i.exec(key)?.[1] ?? []));
  return [...names].flatMap((name) => [
    [`filter.${name}.clean`, ""],
    [`filter.${name}.smudge`, ""],
    [`filter.${name}.process`, ""],
    [`filter.${name}.required`, "false"],
  ]);
};

/** Built from nothing. Keys go as pairs of variables, since a name with an equals sign would be cut on the command line. */
const createGitEnvironment = (
  { folder, searchPath, language = "C.UTF-8" }: GitLocation,
  settings: readonly (readonly [string, string])[],
): SafeGitCall["env"] => ({
  PATH: searchPath,
  LC_ALL: language,
  HOME: "/nonexistent",
  GIT_CEILING_DIRECTORIES: parentFolder(folder),
  GIT_WORK_TREE: folder,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "",
  GIT_PROTOCOL_FROM_USER: "0",
  GIT_PAGER: "cat",
  GIT_EDITOR: "false",
  GIT_ASKPASS: "false",
  SSH_ASKPASS: "false",
  GIT_SSH_COMMAND: "false",
  ...settingsAsVariables(settings),
});

function settingsAsVariables(settings: readonly (readonly [string, string])[]): { readonly [name: string]: string } {
  return {
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

/** Git looks for a repository no higher than this. */
const parentFolder = (folder: string): string => folder.slice(0, folder.lastIndexOf("/")) || "/";
