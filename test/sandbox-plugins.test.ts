import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureBuilt } from "./built.ts";
import {
  copyProgram,
  hasBubblewrap,
  openSandboxFixture,
  users,
  type SandboxFixture,
} from "./support/sandbox-fixture.ts";
import { sampleCases } from "./support/tier.ts";

/* The files of a plugin, with the packaged program and real bubblewrap. Skipped without bubblewrap; CI installs it. */

let app: string;
beforeAll(() => {
  ensureBuilt();
  app = copyProgram();
});
afterAll(() => rmSync(app, { recursive: true, force: true }));

/** A server over stdio that writes what it read of its plugin to a file of the project. */
const server = `
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
const [, , root, project] = process.argv;
writeFileSync(project + "/server-read.txt", readFileSync(root + "/note.txt"));
const results = {
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "kit", version: "1" } },
  "tools/list": { tools: [] },
  ping: {},
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }) + "\\n");
}
`;

/** Reads and writes the folders of the plugin and Parley's own, and notes the results in the project. */
const hook = `
cat "$CLAUDE_PLUGIN_ROOT/note.txt" > hook-read.txt
echo changed > "$CLAUDE_PLUGIN_ROOT/note.txt"
touch "$CLAUDE_PLUGIN_ROOT/new.txt"
echo kept > "$CLAUDE_PLUGIN_DATA/data.txt"
cat "$HOME/.parley/settings.json" "$HOME/.parley/plugins/installed.json" > hook-hidden.txt
echo changed > "$HOME/.parley/plugins/installed.json"
true
`;

describe.runIf(hasBubblewrap).each(sampleCases(users, 1))("in the sandbox of $name, a plugin", (user) => {
  let fixture: SandboxFixture;
  beforeEach(() => {
    fixture = openSandboxFixture(user, app);
  });
  afterEach(() => fixture.close());

  it("is readable for its hooks, servers and scripts of skills; they can change only its data folder", async () => {
    const { home, workspace, put } = fixture;
    put("kit/.claude-plugin/plugin.json", JSON.stringify({ name: "kit" }));
    put("kit/note.txt", "the note\n");
    put("kit/hook.sh", hook);
    put("kit/serve.mjs", server);
    put("kit/skills/lint/SKILL.md", "---\nname: lint\ndescription: Lints.\n---\nRun scripts/lint.sh.\n");
    put("kit/skills/lint/scripts/lint.sh", 'cat "$(dirname "$0")/../../../note.txt"\n');
    put(
      "kit/hooks/hooks.json",
      JSON.stringify({
        hooks: { SessionStart: [{ hooks: [{ type: "command", command: 'sh "${CLAUDE_PLUGIN_ROOT}/hook.sh"' }] }] },
      }),
    );
    const args = ["${CLAUDE_PLUGIN_ROOT}/serve.mjs", "${CLAUDE_PLUGIN_ROOT}", "${CLAUDE_PROJECT_DIR}"];
    put("kit/.mcp.json", JSON.stringify({ mcpServers: { serve: { command: process.execPath, args } } }));
    const added = spawnSync(process.execPath, [join(app, "parley.cjs"), "plugins", "add", "../kit", "--yes"], {
      cwd: workspace,
      encoding: "utf8",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, NODE_DISABLE_COMPILE_CACHE: "1" },
      ...(user.uid === undefined ? {} : { uid: user.uid, gid: user.uid }),
    });
    expect(added.stderr).toContain("Added kit.");
    const contents = join(home, ".parley/plugins/content");
    const root = join(contents, readdirSync(contents)[0] ?? "");
    const data = join(home, ".parley/plugins/data/kit");

    const [script, write, other, seen] = await fixture.run([
      `sh ${root}/skills/lint/scripts/lint.sh`,
      `echo changed > ${root}/note.txt`,
      `echo changed > ${data}/data.txt`,
      "cat ~/.parley/settings.json; ls -A ~/.parley",
    ]);
    expect(script).toEqual({ code: "0", output: "the note" });
    expect([write?.code, other?.code]).not.toContain("0");
    expect(seen?.output).not.toContain("offline");
    const read = (name: string): string => readFileSync(join(workspace, name), "utf8");
    expect([read("hook-read.txt"), read("hook-hidden.txt"), read("server-read.txt")]).toEqual([
      "the note\n",
      "",
      "the note\n",
    ]);
    expect(readFileSync(join(root, "note.txt"), "utf8")).toBe("the note\n");
    expect(existsSync(join(root, "new.txt"))).toBe(false);
    expect(readFileSync(join(data, "data.txt"), "utf8")).toBe("kept\n");
    expect(readFileSync(join(home, ".parley/plugins/installed.json"), "utf8")).not.toContain("changed");
  });
});
