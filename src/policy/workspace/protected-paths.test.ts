import { describe, expect, it } from "vitest";
import { checkProtection } from "./protected-paths.ts";

const context = { roots: ["/home/me/work", "/home/me/.config/nvim"], ownFolders: ["/home/me/agent-home"] };
const levelOf = (path: string): string =>
  checkProtection(path.startsWith("/") ? path : `/home/me/work/${path}`, context).level;

describe("a path that is written", () => {
  it.each([
    ".git/hooks/pre-commit",
    ".GIT/hooks/pre-commit",
    ".git/config",
    ".git./config",
    ".git /config",
    ".git . ./config",
    ".git\u200b/config",
    ".g\u200cit/config",
    ".\u2060git/config",
    "．ｇｉｔ/config",
    "GIT~1/config",
    "git~27/config",
    ".git::$INDEX_ALLOCATION/config",
    "sub/.git/config",
    "deep/er/.git",
    ".git",
    ".hg/hgrc",
    ".jj/repo/config.toml",
    ".svn/entries",
    ".parley/settings.json",
    ".Parley/settings.json",
    "sub/.parley/agents/x.md",
    "PARLEY~1/settings.json",
    ".agent/settings.json",
    ".config/agent/trusted.json",
    ".config/parley/trust.json",
    "/home/me/agent-home/settings.json",
    "/home/me/Agent-Home/sessions/x.jsonl",
    "/home/me/agent-home",
  ])("is denied in every mode: %j", (path) => {
    const { level, reason } = checkProtection(path.startsWith("/") ? path : `/home/me/work/${path}`, context);

    expect({ level, hasReason: reason !== "" }).toEqual({ level: "deny", hasReason: true });
  });

  it.each([
    ".envrc",
    ".env",
    ".vscode/settings.json",
    ".VSCode/tasks.json",
    "packages/x/.vscode/launch.json",
    "VSCODE~1/settings.json",
    ".idea/workspace.xml",
    ".zed/tasks.json",
    ".devcontainer/devcontainer.json",
    ".pre-commit-config.yaml",
    ".husky/pre-commit",
    "lefthook.yml",
    ".gitmodules",
    ".gitattributes",
    "sub/.gitconfig",
    "GITMOD~1",
    ".mcp.json",
    ".cursor/mcp.json",
    ".codex/config.toml",
    ".claude/settings.json",
    ".gemini/settings.json",
    ".agents/skills/x/SKILL.md",
    ".cursorrules",
    ".geminiignore",
    ".parleyignore",
    "venv/bin/activate",
    ".venv/lib/python3.12/site-packages/x.pth",
    "env/bin/python",
    "node_modules/.bin/tsc",
    "node_modules/left-pad/index.js",
    "sitecustomize.py",
    ".npmrc",
    ".yarnrc.yml",
    ".cargo/config.toml",
    "gradle/wrapper/gradle-wrapper.properties",
    ".github/workflows/ci.yml",
    ".gitlab-ci.yml",
    ".bashrc",
    ".zshrc",
    ".ssh/authorized_keys",
    "repo.git/hooks/post-update",
    ".ripgreprc",
  ])("needs approval in every mode: %j", (path) => {
    const { level, reason } = checkProtection(`/home/me/work/${path}`, context);

    expect({ level, hasReason: reason !== "" }).toEqual({ level: "ask", hasReason: true });
  });

  it.each([
    "src/index.ts",
    "README.md",
    "notes/AGENTS-draft.md",
    "package.json",
    "Makefile",
    ".gitignore",
    ".gitkeep",
    ".github/ISSUE_TEMPLATE.md",
    ".editorconfig",
    "git/config",
    "digit/.gitx",
    "environment/bin/x",
    "docs/git~x",
    "mygit~1/x",
    ".env.example",
    "/home/me/.config/nvim/init.lua",
    "/home/me/agent-home-two/x",
  ])("is free: %j", (path) => {
    expect(levelOf(path)).toBe("free");
  });
});
