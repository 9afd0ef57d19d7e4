/**
 * How Parley itself calls git, in a repository that may be hostile.
 *
 * A repository's configuration can name programs for almost anything git does. Command line and environment override
 * it, so each such setting is overridden here. Filters have names that the repository chooses, so they are listed first.
 */
export type SafeGitCall = { readonly args: readonly string[]; readonly env: { readonly [name: string]: string } };

/** A read-only git command that does not use the network. */
export type GitQuery = {
  readonly command: "diff" | "ls-files";
  /** Options chosen by Parley, never by a project or a model. */
  readonly options?: readonly string[];
  readonly paths?: readonly string[];
};

/** Where git runs. `folder` is the canonical root of the repository: git looks at nothing outside it. */
export type GitLocation = { readonly folder: string; readonly searchPath: string };

/** Builds the call that lists all configuration keys of a repository, NUL-terminated. It runs no other program. */
export const listConfigKeysCall = (location: GitLocation): SafeGitCall => ({
  args: ["--no-pager", "config", "--list", "--name-only", "--null", "--includes"],
  env: createGitEnvironment(location, fixedSettings),
});

/** Builds the call for a query, given the configuration keys. */
export const safeGitCall = (query: GitQuery, location: GitLocation, keys: readonly string[]): SafeGitCall => {
  const { command, options = [], paths = [] } = query;
  return {
    args: ["--no-pager", command, ...fixedOptions[command], ...options, "--", ...paths],
    env: createGitEnvironment(location, [...fixedSettings, ...disableFilters(keys)]),
  };
};

/** Parses the output of `listConfigKeysCall`. */
export const parseConfigKeys = (listed: string): readonly string[] => listed.split("\0").filter((key) => key !== "");

const fixedOptions: { readonly [command in GitQuery["command"]]: readonly string[] } = {
  diff: ["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"],
  "ls-files": [],
};

/** Overrides every setting with a fixed name that makes git run a program. */
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

/** Variables with which git runs no program from the repository's configuration, for read-only commands of a model. */
export const readOnlyGitVariables: { readonly [name: string]: string } = {
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "",
  ...settingsAsVariables(fixedSettings),
};

/** The same for commands that check files out, in a repository with these configuration keys: its filters do not run either. */
export const checkoutGitVariables = (keys: readonly string[]): { readonly [name: string]: string } => ({
  ...readOnlyGitVariables,
  ...settingsAsVariables([...fixedSettings, ...disableFilters(keys)]),
});

/** Disables all filters: an empty filter is none. */
const disableFilters = (keys: readonly string[]): readonly (readonly [string, string])[] => {
  const names = new Set(keys.flatMap((key) => /^filter\.([\s\S]*)\.[^.]+$/i.exec(key)?.[1] ?? []));
  return [...names].flatMap((name) => [
    [`filter.${name}.clean`, ""],
    [`filter.${name}.smudge`, ""],
    [`filter.${name}.process`, ""],
    [`filter.${name}.required`, "false"],
  ]);
};

/** Creates the environment from scratch. Settings are passed as pairs of variables, since `-c` splits a name at an equals sign. */
const createGitEnvironment = (
  { folder, searchPath }: GitLocation,
  settings: readonly (readonly [string, string])[],
): SafeGitCall["env"] => ({
  PATH: searchPath,
  LC_ALL: "C.UTF-8",
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

/** The ceiling for git's search for a repository. */
const parentFolder = (folder: string): string => folder.slice(0, folder.lastIndexOf("/")) || "/";
