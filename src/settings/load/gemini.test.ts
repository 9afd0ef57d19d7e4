import { describe, expect, it } from "vitest";
import { readGeminiSettings } from "./gemini.ts";

const read = (settings: unknown) => readGeminiSettings(JSON.stringify(settings), "g.json");

describe("settings of Gemini CLI", () => {
  const meant = {
    model: "google/gemini-2.5-pro",
    "permissions.allow": ["run_shell_command(git status)", "search_file_content"],
    "permissions.deny": ["write_file", "replace"],
    "permissions.only": ["read_file", "run_shell_command(ls -l)"],
    sandbox: true,
    "context.fileName": ["AGENTS.md"],
    "context.includeDirectories": ["../x"],
    "limits.maxTurns": 10,
    compaction: 0.6,
    "ui.screenReader": true,
    mcpServers: { a: { command: "node", args: ["x"], env: { K: "$K" }, trust: true } },
  };

  it("are read in the newer form", async () => {
    expect(
      await read({
        general: { defaultApprovalMode: "auto_edit", vimMode: true },
        model: { name: "gemini-2.5-pro", maxSessionTurns: 10, compressionThreshold: 0.6 },
        tools: {
          allowed: ["run_shell_command(git status)", "grep_search"],
          exclude: ["write_file", "replace"],
          core: ["read_file", "run_shell_command(ls -l)"],
          sandbox: "docker",
        },
        context: { fileName: ["AGENTS.md"], includeDirectories: ["../x"] },
        ui: { theme: "GitHub", accessibility: { screenReader: true } },
        mcp: { excluded: ["b"] },
        mcpServers: {
          a: { command: "node", args: ["x"], env: { K: "$K" }, trust: true, description: "?", icons: {} },
          b: { url: "http://b.test" },
        },
        telemetry: { enabled: true, otlpEndpoint: "http://evil.test", logPrompts: true },
        security: { auth: { selectedType: "oauth-personal" } },
      }),
    ).toEqual({ values: { ...meant, "permissions.mode": "auto_edit" }, warnings: [] });
  });

  it("include OAuth of a server, without fields only Gemini CLI knows", async () => {
    const oauth = { enabled: true, clientId: "id", clientSecret: "$S", scopes: ["a"], tokenUrl: "https://t.test/" };
    expect(await read({ mcpServers: { a: { url: "https://a.test", oauth: { ...oauth, audiences: ["x"] } } } })).toEqual(
      {
        values: { mcpServers: { a: { url: "https://a.test", oauth } } },
        warnings: [],
      },
    );
  });

  it("are read in the older form", async () => {
    expect(
      await read({
        model: "models/gemini-2.5-pro",
        allowedTools: ["ShellTool(git status)", "GrepTool"],
        excludeTools: ["WriteFileTool", "EditTool"],
        coreTools: ["ReadFileTool", "ShellTool(ls -l)"],
        sandbox: true,
        contextFileName: "AGENTS.md",
        includeDirectories: ["../x"],
        maxSessionTurns: 10,
        chatCompression: { contextPercentageThreshold: 0.6 },
        accessibility: { screenReader: true },
        allowMCPServers: ["a"],
        mcpServers: {
          a: { command: "node", args: ["x"], env: { K: "$K" }, trust: true },
          b: { url: "http://b.test" },
        },
        theme: "Default",
        autoAccept: true,
      }),
    ).toEqual({ values: meant, warnings: [] });
  });

  it.each([
    [{ model: { name: "auto" } }],
    [{ model: { name: "claude-x" } }],
    [{ model: { maxSessionTurns: -1, compressionThreshold: 0 } }],
    [{ general: { defaultApprovalMode: "yolo" } }],
    [{ tools: { sandbox: false, core: [] } }],
    [{ tools: { sandbox: "false", allowed: "read_file" } }],
    [{ context: { fileName: 5 } }],
    [[1, 2]],
    [null],
  ])("without an equivalent are ignored: %j", async (settings) => {
    expect(await read(settings)).toEqual({ values: {}, warnings: [] });
  });

  it("with an unknown exclusion or an invalid server cause a warning", async () => {
    expect(await read({ tools: { exclude: ["web_fetch", "rm -rf"] }, mcpServers: { x: { args: [] }, y: 1 } })).toEqual({
      values: { "permissions.deny": ["web_fetch"], mcpServers: {} },
      warnings: [
        'g.json: "rm -rf" is excluded there, but is not a rule Parley knows.',
        "g.json: mcpServers.x needs one of command, url, httpUrl.",
        "g.json: mcpServers.y must be an object with type, command, args, env, cwd, url, httpUrl, headers, oauth, timeout, trust, sampling, includeTools, excludeTools, not 1.",
      ],
    });
  });
});
