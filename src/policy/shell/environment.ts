import type { Environment } from "../../world/world.ts";
import { isSecretName } from "../secrets/names.ts";
import { createRedactor } from "../secrets/redact.ts";

/**
 * Creates the environment of a program the model runs: without secrets, without variables that make programs load or
 * run other code, and without editors and pagers that wait for input. Variables in `keep` are passed on unchanged;
 * only the user may choose these.
 */
export const createChildEnvironment = (
  env: Environment,
  { keep = [] }: { readonly keep?: readonly string[] } = {},
): { readonly [name: string]: string } => {
  const keptNames = new Set(keep.map((name) => name.toUpperCase()));
  const { containsSecret } = createRedactor();
  const isPassedOn = (name: string, value: string): boolean =>
    isOrdinaryName(name.toUpperCase()) && !isSecretName(name) && !isShellFunction(value) && !containsSecret(value);
  const inherited = Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (keptNames.has(name.toUpperCase())) return [[name, value] as const];
    const clean = isProxyName(name) ? stripUser(value) : isSearchPathName(name) ? keepAbsoluteFolders(value) : value;
    return isPassedOn(name, clean) ? [[name, clean] as const] : [];
  });
  const fixed = Object.entries(nonInteractiveVariables).filter(
    ([name]) => !keptNames.has(name) || env[name] === undefined,
  );
  return Object.fromEntries([...inherited, ...fixed]);
};

/** Makes programs non-interactive, with plain output. */
const nonInteractiveVariables: { readonly [name: string]: string } = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  // Read-only git commands neither write to the repository nor start its fsmonitor program.
  GIT_OPTIONAL_LOCKS: "0",
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "core.fsmonitor",
  GIT_CONFIG_VALUE_0: "false",
  TERM: "dumb",
};

/** Whether a variable of this name can make a program load or run code, or open an editor or browser. */
export const isCodeLoadingVariable = (name: string): boolean => !isOrdinaryName(name.toUpperCase());

const isOrdinaryName = (name: string): boolean =>
  /^[A-Z_][A-Z\d_()]*$/.test(name) &&
  !codeLoadingNames.test(name) &&
  !interactiveNames.test(name) &&
  (!name.startsWith("GIT_") || harmlessGitNames.test(name));

/** Variables that make a loader, a shell, an interpreter or a tool run the program they name. */
const codeLoadingNames = new RegExp(
  `^(${[
    "LD_.*|DYLD_.*|_RLD.*|LIBPATH|SHLIB_PATH|GCONV_PATH|GLIBC_TUNABLES|LOCPATH|NLSPATH|HOSTALIASES",
    "BASH_ENV|ENV|BASH_FUNC_.*|BASHOPTS|SHELLOPTS|PS[0-4]|PROMPT_COMMAND|IFS|CDPATH|GLOBIGNORE|ZDOTDIR|KSH_ENV|FPATH",
    "NODE_OPTIONS|NODE_REPL_.*|NODE_V8_COVERAGE|TSX_.*|TS_NODE_.*|BUN_OPTIONS|BUN_INSPECT.*",
    "PYTHONSTARTUP|PYTHONHOME|PYTHONINSPECT|PYTHONBREAKPOINT|PYTHONUSERBASE|PYTHONEXECUTABLE|PYTHONWARNINGS",
    "PERL5OPT|PERL5DB|PERLIO_DEBUG|RUBYOPT|LUA_INIT.*|PHPRC|PHP_INI_SCAN_DIR|R_PROFILE.*|JULIA_LOAD_PATH",
    "JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS|GRADLE_OPTS|CORECLR_.*|COR_.*|DOTNET_STARTUP_HOOKS",
    "LESS|LESSOPEN|LESSCLOSE|LESSKEY.*|MANPAGER|MANOPT|SYSTEMD_PAGER|DELTA_PAGER|BAT_PAGER|BAT_CONFIG_.*",
    "GREP_OPTIONS|RIPGREP_CONFIG_PATH|FZF_.*|TAR_OPTIONS|CURL_HOME|WGETRC|RSYNC_RSH|CVS_RSH|SVN_SSH|HGRCPATH",
    "MAKEFLAGS|MFLAGS|GNUMAKEFLAGS|MAKEFILES|CMAKE_.*_LAUNCHER|RUSTC_WRAPPER|RUSTC_WORKSPACE_WRAPPER|NPM_CONFIG_SCRIPT_SHELL",
    "OPENSSL_CONF|OPENSSL_MODULES|OPENSSL_ENGINES|SSLKEYLOGFILE|GPG_AGENT_INFO|TERMINFO.*|TERMCAP|TERMPATH",
  ].join("|")})$`,
);

/** Variables that open a window or an editor, or force colours. */
const interactiveNames = /^(EDITOR|VISUAL|SUDO_EDITOR|BROWSER|SSH_ASKPASS.*|SUDO_ASKPASS|FORCE_COLOR|CLICOLOR_FORCE)$/;

/** Git variables that are passed on: author, committer and certificates. The others move repositories or run programs. */
const harmlessGitNames = /^GIT_(AUTHOR_|COMMITTER_|SSL_CAINFO$|SSL_CAPATH$|CEILING_DIRECTORIES$|TERMINAL_PROMPT$)/;

/** Whether a value is an exported shell function. */
const isShellFunction = (value: string): boolean => value.startsWith("() {");

const isProxyName = (name: string): boolean => /_proxy$/i.test(name);

const stripUser = (value: string): string => value.replace(/^([a-z\d+.-]+:\/\/)[^/@]*@/i, "$1");

const isSearchPathName = (name: string): boolean => name.toUpperCase() === "PATH";

/** Drops empty and relative folders from a search path: they depend on the working folder. */
const keepAbsoluteFolders = (path: string): string => {
  const isWindows = /;|^[A-Za-z]:\\/.test(path);
  const folders = path.split(isWindows ? ";" : ":");
  return folders.filter((folder) => /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(folder)).join(isWindows ? ";" : ":");
};
