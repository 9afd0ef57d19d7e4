import { describe, expect, it } from "vitest";
import { describeCapabilities } from "./describe.ts";
import { loadPlugin } from "./load.ts";
import { readMarketplace } from "./marketplace.ts";
import type { Plugin } from "./plugin.ts";
import { sortByPath, type PluginTree } from "./tree.ts";

/** Files in memory, as a repository has them. */
const treeOf = (files: { readonly [path: string]: string | object }): PluginTree => {
  const texts = new Map(
    Object.entries(files).map(([path, text]) => [path, typeof text === "string" ? text : JSON.stringify(text)]),
  );
  return {
    files: sortByPath([...texts].map(([path, text]) => ({ path, size: text.length, isExecutable: false }))),
    problems: [],
    read: async (path) => new TextEncoder().encode(texts.get(path)),
  };
};

const load = async (files: Parameters<typeof treeOf>[0]): Promise<Plugin> => {
  const plugin = await loadPlugin(treeOf(files));
  if ("problem" in plugin) throw new Error(plugin.problem);
  return plugin;
};

const problemOf = async (files: Parameters<typeof treeOf>[0]): Promise<string | undefined> => {
  const plugin = await loadPlugin(treeOf(files));
  return "problem" in plugin ? plugin.problem : undefined;
};

const empty = {
  skills: [],
  servers: {},
  commands: [],
  hooks: [],
  agents: [],
  context: [],
  themes: [],
  rules: [],
  problems: [],
};
const schema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
const skill = "---\nname: s\ndescription: Does it.\n---\nText.\n";

describe("an Agent Plugin", () => {
  it("brings skills that are immediate children, and MCP servers", async () => {
    const plugin = await load({
      "plugin.json": { $schema: schema, name: "tools.pdf", version: "1.2.0", description: "PDF.", license: "MIT" },
      "skills/s/SKILL.md": skill,
      "skills/deep/er/SKILL.md": skill,
      "dev.parley/commands/check.md": "Check.",
      "mcp.json": {
        mcpServers: {
          own: { type: "stdio", command: "./bin/serve", args: ["${PLUGIN_DATA}/db"], cwd: "./work" },
          npx: { type: "stdio", command: "npx", args: ["-y", "x"] },
          web: { type: "streamable-http", url: "https://a.test/mcp", headers: { "X-Client": "parley" } },
        },
      },
    });
    expect(plugin).toEqual({
      ...empty,
      name: "tools.pdf",
      version: "1.2.0",
      description: "PDF.",
      layout: "agent-plugin",
      skills: [{ name: "s", path: "skills/s" }],
      commands: [{ name: "check", path: "dev.parley/commands/check.md" }],
      servers: {
        own: {
          type: "stdio",
          command: "${PLUGIN_ROOT}/bin/serve",
          args: ["${PLUGIN_DATA}/db"],
          cwd: "${PLUGIN_ROOT}/work",
        },
        npx: { type: "stdio", command: "npx", args: ["-y", "x"] },
        web: { type: "http", url: "https://a.test/mcp", headers: { "X-Client": "parley" } },
      },
    });
  });

  it.each([
    ["two words", { type: "stdio", command: "npx x" }, "command must be one word."],
    ["a path outside", { type: "stdio", command: "./../x" }, "command must be a program's name"],
    ["an absolute path", { type: "stdio", command: "/bin/sh" }, "command must be a program's name"],
    ["a variable as command", { type: "stdio", command: "${HOME}/x" }, "command must be one word."],
    ["a folder outside", { type: "stdio", command: "x", cwd: "${PLUGIN_ROOT}/../.." }, "cwd must be a folder"],
    ["an unknown field", { type: "stdio", command: "x", trust: true }, "trust is not a field of a stdio server."],
    ["http elsewhere", { type: "sse", url: "http://a.test/" }, "url must be an https URL"],
    ["a secret in a header", { type: "sse", url: "https://a.test/", headers: { a: "${TOKEN}" } }, "variables are not"],
    ["no type", { command: "x" }, "type must be stdio"],
  ])("skips a server that breaks the specification, and no other: %s", async (_, server, problem) => {
    const { servers, problems } = await load({
      "plugin.json": { $schema: schema, name: "a" },
      "mcp.json": { mcpServers: { bad: server, good: { type: "stdio", command: "x" } } },
    });
    expect(Object.keys(servers)).toEqual(["good"]);
    expect(problems).toEqual([expect.stringContaining(`the server bad is not used: ${problem}`)]);
  });

  it("reports unknown fields, and is refused for other violations", async () => {
    expect((await load({ "plugin.json": { $schema: schema, name: "a", hooks: {} } })).problems).toEqual([
      "plugin.json: hooks is unknown and ignored.",
    ]);
    expect(await problemOf({ "plugin.json": { $schema: schema, name: "a", version: 1 } })).toContain(
      "must be a string",
    );
    expect(await problemOf({ "plugin.json": { $schema: schema, name: "A B" } })).toContain("not a valid name");
    expect(await problemOf({ "plugin.json": { name: "a" } })).toContain("$schema is missing or unknown");
    expect(await problemOf({ "plugin.json": "{" })).toContain("plugin.json is not valid JSON");
    expect(await problemOf({ "README.md": "" })).toContain("There is no plugin");
  });
});

describe("a Claude plugin", () => {
  it("brings what is in its default folders and what its manifest adds", async () => {
    const group = [{ matcher: "Bash", hooks: [{ type: "command", command: "${CLAUDE_PLUGIN_ROOT}/check.sh" }] }];
    const plugin = await load({
      ".claude-plugin/plugin.json": {
        name: "dev",
        description: "Helps \u001B[31mred.",
        commands: ["./extra/one.md"],
        skills: "./more",
        mcpServers: { inline: { command: "x" } },
        outputStyles: "./styles",
      },
      "commands/git/commit.md": "Commit.",
      "extra/one.md": "One.",
      "agents/reviewer.md": "---\nname: reviewer\n---\nReview.",
      "skills/s/SKILL.md": skill,
      "more/t/SKILL.md": skill,
      "hooks/hooks.json": { hooks: { PreToolUse: group } },
      ".mcp.json": { mcpServers: { file: { command: "node", args: ["${CLAUDE_PLUGIN_ROOT}/a.js"] } } },
    });
    expect(plugin).toEqual({
      ...empty,
      name: "dev",
      description: "Helps ␛[31mred.",
      layout: "claude",
      skills: [
        { name: "s", path: "skills/s" },
        { name: "t", path: "more/t" },
      ],
      commands: [
        { name: "git:commit", path: "commands/git/commit.md" },
        { name: "one", path: "extra/one.md" },
      ],
      agents: [{ name: "reviewer", path: "agents/reviewer.md" }],
      hooks: [{ path: "hooks/hooks.json", form: "claude", hooks: { PreToolUse: group } }],
      servers: { file: { command: "node", args: ["${CLAUDE_PLUGIN_ROOT}/a.js"] }, inline: { command: "x" } },
      problems: ["outputStyles (output-styles/) has no effect here."],
    });
    expect(describeCapabilities(plugin).filter(({ kind }) => kind === "servers" || kind === "hooks")).toEqual([
      { kind: "servers", lines: ["file: node ${CLAUDE_PLUGIN_ROOT}/a.js", "inline: x"] },
      { kind: "hooks", lines: ["PreToolUse Bash: ${CLAUDE_PLUGIN_ROOT}/check.sh"] },
    ]);
  });

  it("has only what the entry of a marketplace lists, if that is the whole definition", async () => {
    const files = { "skills/a/SKILL.md": skill, "skills/b/SKILL.md": skill, "commands/c.md": "C." };
    const entry = { name: "part", skills: ["./skills/a"], lspServers: { clangd: {} } };
    const names = async (more: object): Promise<unknown> => {
      const plugin = await loadPlugin(treeOf(files), { ...entry, ...more });
      return "problem" in plugin ? plugin : plugin.skills.map(({ name }) => name);
    };
    expect(await names({})).toEqual(["a", "b"]);
    expect(await names({ strict: false })).toEqual(["a"]);
    expect(await loadPlugin(treeOf(files), { ...entry, strict: false })).toMatchObject({
      commands: [{ name: "c" }],
      problems: ["lspServers (.lsp.json) has no effect here."],
    });
  });

  it("keeps the rest where one file is broken", async () => {
    const { servers, commands, problems } = await load({
      ".claude-plugin/plugin.json": { name: "dev", hooks: "./none.json" },
      ".mcp.json": "{ not json",
      "hooks/hooks.json": "[]",
      "commands/a.md": "A.",
    });
    expect({ servers, commands, problems }).toEqual({
      servers: {},
      commands: [{ name: "a", path: "commands/a.md" }],
      problems: ["hooks/hooks.json is not a JSON object.", ".mcp.json is not valid JSON."],
    });
  });
});

describe("a Gemini CLI extension", () => {
  it("brings servers, TOML commands, context, skills and agents, and names what has no effect", async () => {
    const plugin = await load({
      "gemini-extension.json": {
        name: "sre",
        version: "1.0.0",
        mcpServers: { run: { command: "node", args: ["${extensionPath}${/}dist${/}run.js"], cwd: "${workspacePath}" } },
        excludeTools: ["run_shell_command(rm)"],
        themes: [{ name: "Night" }],
      },
      "GEMINI.md": "Use it.",
      "commands/gcs/sync.toml": 'prompt = "Sync {{args}}"',
      "commands/read.md": "not a command",
      "hooks/hooks.json": { hooks: { BeforeTool: [] } },
      "policies/p.toml": "",
    });
    expect(plugin).toEqual({
      ...empty,
      name: "sre",
      version: "1.0.0",
      description: "",
      layout: "gemini",
      servers: { run: { command: "node", args: ["${extensionPath}${/}dist${/}run.js"], cwd: "${workspacePath}" } },
      commands: [{ name: "gcs:sync", path: "commands/gcs/sync.toml" }],
      hooks: [{ path: "hooks/hooks.json", form: "gemini", hooks: { BeforeTool: [] } }],
      context: [{ path: "GEMINI.md", bytes: 7 }],
      themes: [{ name: "Night", colours: { base: "dark", tones: {}, backgrounds: {} } }],
      rules: [{ list: "deny", rule: { type: "command", words: ["rm"] }, from: "excludeTools" }],
    });
  });

  it("denies and asks about what its policies say, allows nothing, and names what cannot be applied", async () => {
    const { rules, problems } = await load({
      "gemini-extension.json": {
        name: "strict",
        mcpServers: { db: { command: "db" } },
        excludeTools: ["EditTool", "drop_table", "mcp_db_query", "run_shell_command(echo $HOME)", "write*", 5],
      },
      "policies/a.toml": [
        '[[rule]]\ntoolName = ["run_shell_command"]\ncommandPrefix = ["git push", "rm"]\ndecision = "deny"\npriority = 1',
        '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "rm"\ndecision = "allow"\npriority = 999',
        '[[rule]]\nmcpName = "other"\ndecision = "ask_user"',
        '[[rule]]\nmcpName = "*"\ntoolName = "*"\ndecision = "deny"',
        '[[rule]]\ntoolName = "write_file"\nargsPattern = "env"\ndecision = "deny"',
        '[[safety_checker]]\ntoolName = "glob"',
      ].join("\n"),
      "policies/b.toml": "[[rule",
      "policies/c.toml": 'rule = ["deny"]',
      "policies/read.me": "no policy",
    });
    const tool = (name: string, server?: string): object => ({ type: "tool", name, ...(server && { server }) });
    const deny = (rule: object, from: string): object => ({ list: "deny", rule, from });
    expect({ rules, problems }).toEqual({
      rules: [
        deny(tool("replace"), "excludeTools"),
        deny(tool("smart_edit"), "excludeTools"),
        deny(tool("drop_table"), "excludeTools"),
        deny(tool("drop_table", "db"), "excludeTools"),
        deny(tool("query", "db"), "excludeTools"),
        deny({ type: "command", words: ["git", "push"] }, "policies/a.toml"),
        deny({ type: "command", words: ["rm"] }, "policies/a.toml"),
        { list: "ask", rule: { type: "server", name: "other" }, from: "policies/a.toml" },
      ],
      problems: [
        'excludeTools: "deny run_shell_command echo $HOME" is not applied: "$HOME" has quotes, variables or operators, whose meaning would be ambiguous.',
        'excludeTools: "deny write*" is not applied: rules cannot name tools by a pattern.',
        "excludeTools: 5 is not a tool.",
        'policies/a.toml: "deny * *" is not applied: rules cannot name servers by a pattern.',
        'policies/a.toml: "deny write_file" is not applied: it depends on argsPattern, which rules cannot express here.',
        "policies/a.toml: allow rules of extensions are not applied.",
        "policies/a.toml: safety_checker is not applied.",
        "policies/b.toml is not applied: it is not valid TOML.",
        'policies/c.toml: "deny" is not a rule.',
      ],
    });
  });

  it("names its own context files, inside its folder only", async () => {
    const { context, problems } = await load({
      "gemini-extension.json": { name: "a", contextFileName: ["docs/USE.md", "../../secret.md", "/etc/passwd"] },
      "docs/USE.md": "Use.",
    });
    expect({ context, problems }).toEqual({
      context: [{ path: "docs/USE.md", bytes: 4 }],
      problems: [
        'contextFileName: "../../secret.md" is not a path in the extension.',
        'contextFileName: "/etc/passwd" is not a path in the extension.',
      ],
    });
  });
});

describe("a marketplace", () => {
  it("lists plugins by name and source, without those that lead out of it", async () => {
    const source = (name: string, from: unknown): object => ({ name, source: from });
    const marketplace = await readMarketplace(
      treeOf({
        ".claude-plugin/marketplace.json": {
          name: "team",
          owner: { name: "Team" },
          metadata: { pluginRoot: "./plugins" },
          plugins: [
            source("here", "./plugins/here"),
            source("short", "short"),
            source("hub", { source: "github", repo: "a/b", ref: "v1" }),
            source("sub", { source: "git-subdir", url: "https://a.test/b.git", path: "p/q", sha: "abc" }),
            source("out", "./../../x"),
            source("local", { source: "local", path: "./plugins/local" }),
            source("root", { source: "url", url: "./" }),
            source("above", { source: "local", path: "../x" }),
            source("npm", { source: "npm", package: "x" }),
            source("p\u0430rley", "./x"),
            "no object",
          ],
        },
      }),
    );
    expect(marketplace?.plugins.map((plugin) => [plugin.name, plugin.source])).toEqual([
      ["here", { type: "folder", path: "plugins/here" }],
      ["short", { type: "folder", path: "plugins/short" }],
      ["hub", { type: "git", url: "https://github.com/a/b.git", path: "", ref: "v1" }],
      ["sub", { type: "git", url: "https://a.test/b.git", path: "p/q", ref: "abc" }],
      ["out", { type: "unsupported", reason: "its path leads out of the marketplace" }],
      ["local", { type: "folder", path: "plugins/local" }],
      ["root", { type: "folder", path: "" }],
      ["above", { type: "unsupported", reason: "its path leads out of the repository" }],
      ["npm", { type: "unsupported", reason: 'its source "npm" is not supported' }],
    ]);
  });
});
