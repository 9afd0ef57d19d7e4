import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { createChildEnvironment } from "./environment.ts";

const fixed = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "core.fsmonitor",
  GIT_CONFIG_VALUE_0: "false",
  TERM: "dumb",
};

describe("the environment of a program the model runs", () => {
  it("has the variables programs need", () => {
    const env = {
      PATH: "/usr/bin:/bin",
      HOME: "/home/someone",
      LANG: "de_DE.UTF-8",
      CI: "true",
      JAVA_HOME: "/opt/java",
      PYTHONPATH: "src",
      SSH_AUTH_SOCK: "/run/agent",
      GIT_AUTHOR_NAME: "Someone",
      "ProgramFiles(x86)": "C:\\Programs",
      http_proxy: "http://proxy.test:8080",
    };
    expect(createChildEnvironment(env)).toEqual({ ...env, ...fixed });
  });

  it.each(
    "OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY GOOGLE_APPLICATION_CREDENTIALS AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN GITHUB_TOKEN ACTIONS_ID_TOKEN_REQUEST_TOKEN NPM_TOKEN PGPASSWORD MY_SECRET".split(
      " ",
    ),
  )("has no secret: %s", (name) => {
    expect(createChildEnvironment({ [name]: "value-of-it" })).toEqual(fixed);
  });

  it.each([
    ["INNOCENT", "sk-proj-a1B2c3D4e5a1B2c3D4e5"],
    ["DATABASE_URL", "postgres://app:password@db.test/app"],
    ["CONFIG", "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----"],
  ])("has no secret under a harmless name: %s", (name, value) => {
    expect(createChildEnvironment({ [name]: value })).toEqual(fixed);
  });

  it("has a proxy without its password", () => {
    expect(createChildEnvironment({ HTTPS_PROXY: "http://bob:hunter2@proxy.test:8080" })).toEqual({
      HTTPS_PROXY: "http://proxy.test:8080",
      ...fixed,
    });
  });

  it.each(
    "LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES GCONV_PATH BASH_ENV ENV SHELLOPTS PS4 PROMPT_COMMAND IFS CDPATH BASH_FUNC_ls%% BASH_FUNC_ls() NODE_OPTIONS node_options PYTHONSTARTUP PERL5OPT RUBYOPT JAVA_TOOL_OPTIONS _JAVA_OPTIONS DOTNET_STARTUP_HOOKS LESSOPEN MANPAGER LESS RIPGREP_CONFIG_PATH GREP_OPTIONS MAKEFLAGS RUSTC_WRAPPER npm_config_script_shell ZDOTDIR GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_GLOBAL GIT_DIR GIT_WORK_TREE GIT_EXEC_PATH GIT_PROXY_COMMAND GIT_TRACE GIT_TEMPLATE_DIR EDITOR VISUAL BROWSER SSH_ASKPASS FORCE_COLOR a-b".split(
      " ",
    ),
  )("has nothing that loads code, runs another program or waits for someone: %s", (name) => {
    expect(createChildEnvironment({ [name]: "/x" })).toEqual(fixed);
  });

  it("has no exported shell functions", () => {
    expect(createChildEnvironment({ HARMLESS: "() { :; }; touch x" })).toEqual(fixed);
  });

  it("has no pager, editor or prompt of the user", () => {
    const env = {
      PAGER: "less",
      GIT_PAGER: "delta",
      GIT_EDITOR: "vim",
      GIT_TERMINAL_PROMPT: "1",
      TERM: "xterm-256color",
    };
    expect(createChildEnvironment(env)).toEqual(fixed);
  });

  it("has only absolute folders in PATH", () => {
    expect(createChildEnvironment({ PATH: ":/usr/bin:.:node_modules/.bin:/bin:" })).toEqual({
      PATH: "/usr/bin:/bin",
      ...fixed,
    });
    expect(createChildEnvironment({ Path: "C:\\Windows;.;;D:\\bin" })).toEqual({
      Path: "C:\\Windows;D:\\bin",
      ...fixed,
    });
  });

  it("keeps the variables the user chose", () => {
    const env = { GH_TOKEN: "value-of-it", NODE_OPTIONS: "--max-old-space-size=8192", TERM: "xterm", OTHER_TOKEN: "x" };
    expect(createChildEnvironment(env, { keep: ["GH_TOKEN", "node_options", "TERM"] })).toEqual({
      ...fixed,
      GH_TOKEN: "value-of-it",
      NODE_OPTIONS: "--max-old-space-size=8192",
      TERM: "xterm",
    });
  });

  it("is the whole environment of a real program", () => {
    const canaries = {
      OPENAI_API_KEY: "canary-1-2-3-4",
      BASH_ENV: "/canary",
      "BASH_FUNC_x%%": "() { :; }",
      VISIBLE: "yes",
    };
    const env = createChildEnvironment({ ...process.env, ...canaries });
    const seen = execFileSync(process.execPath, ["-p", "JSON.stringify(process.env)"], { env, encoding: "utf8" });
    expect(JSON.parse(seen)).toEqual(env);
    expect(seen).toContain("VISIBLE");
    expect(seen).not.toContain("canary");
  });
});
