import { isCodeLoadingVariable } from "../../shell/environment.ts";

/**
 * Classifies a variable set for one command, given as `NAME=value`. Harmless ones do not change what a rule for
 * the command means; unknown ones must be part of the rule; dangerous ones can make the command run something else.
 */
export const classifyVariable = (assignment: string): "harmless" | "unknown" | "dangerous" => {
  const at = assignment.indexOf("=");
  const name = assignment.slice(0, at);
  const value = assignment.slice(at + 1);
  if (harmlessVariables.some(([names, values]) => names.test(name) && values.test(value))) return "harmless";
  return isCodeLoadingVariable(name) || dangerousNames.test(name) ? "dangerous" : "unknown";
};

const anyName = /^[\w.,@:+-]*$/;

/** Names with the values that are known to be harmless: no paths, and no production environment. */
const harmlessVariables: readonly (readonly [names: RegExp, values: RegExp])[] = [
  [/^(?:CI|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|VERBOSE)$/, /^(?:\d{0,4}|true|false)$/],
  [/^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ)$/, anyName],
  [/^(?:NODE|APP|RAILS|RACK|MIX|FLASK|DJANGO)_ENV$/, /^(?:test|testing|development|dev|ci)$/],
  [/^(?:RUST_BACKTRACE|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONHASHSEED)$/, /^(?:\d{0,9}|full)$/],
  [/^(?:RUST_LOG|DEBUG|LOG_LEVEL|CARGO_TERM_COLOR)$/, /^[\w.,:*=-]*$/],
];

/** Names from which programs, loaders, build tools or package managers read programs, paths or options. */
const dangerousNames =
  /^(?:PATH|HOME|SHELL|PWD|OLDPWD|TMP|TEMP|TMPDIR|USER|LOGNAME|CC|CXX|CPP|LD|AR|AS|MAKE|RUSTC|RUSTDOC|GOFLAGS|GOROOT|GOPATH|GOENV|GIT_.*|NODE_.*|NPM_.*|YARN_.*|PNPM_.*|BUN_.*|DENO_.*|PYTHON.*|PIP_.*|UV_.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|JAVA_.*|CARGO_.*|XDG_.*|SSH_.*|DOCKER_.*|KUBE.*|AWS_.*|LESS.*|MAN.*|.*(?:PAGER|EDITOR|OPTS|OPTIONS|ARGS|FLAGS|COMMAND|CMD|PROXY|SHELL|WRAPPER|LAUNCHER|PRELOAD|PATH|HOME|CONFIG|RC|ENV|HOOK|HOOKS|PLUGIN|PLUGINS|EXEC|PROGRAM|BROWSER|ASKPASS|URL|HOST|REGISTRY))$/i;
