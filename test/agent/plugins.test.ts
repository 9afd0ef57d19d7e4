import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelFunction } from "../../src/sim/family.ts";
import { ensureBuilt } from "../built.ts";
import { scriptedServer } from "../mcp/with-servers.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";

/** Activates the skill a prompt names, then repeats the result. */
const speak: ModelFunction = ({ turns }) => {
  const results = turns.flatMap((turn) => (turn.by === "tools" ? turn.results : []));
  if (results.length > 0) return { parts: [{ type: "say", text: `Got: ${JSON.stringify(results.at(-1))}` }] };
  const [, name] = /Use (\S+)/.exec(turns.findLast((turn) => turn.by === "user")?.text ?? "") ?? [];
  if (name === undefined) return { parts: [{ type: "say", text: "Nothing." }] };
  return { parts: [{ type: "call", tool: "activate_skill", input: { name } }] };
};

let stage: ProgramStage;
beforeAll(async () => {
  ensureBuilt();
  stage = await openProgramStage(["anthropic"], { script: speak });
});
afterAll(() => stage.close());

const put = (path: string, text: string | object): void => {
  const file = join(stage.home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof text === "string" ? text : JSON.stringify(text));
};
const lastBody = (): { readonly system: unknown; readonly tools: readonly { readonly name: string }[] } =>
  stage.log.at(-1)?.entry.body as never;

describe("the plugins of a session", () => {
  it("bring skills, tools of servers and instructions once the person agreed, and nothing after their removal", async () => {
    put("dev/.claude-plugin/plugin.json", { name: "dev" });
    put("dev/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Works with PDF files.\n---\nFill the form.\n");
    put("dev/skills/pdf/form.txt", "a form");
    put("dev/.mcp.json", { mcpServers: { scripted: { command: process.execPath, args: [scriptedServer, "honest"] } } });
    put("dev/hooks/hooks.json", {
      hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command: 'cat "$CLAUDE_PLUGIN_ROOT/rule.txt"' }] }] },
    });
    put("dev/rule.txt", "Rule of the plugin.");
    put("ext/gemini-extension.json", { name: "ext", version: "1.0.0" });
    put("ext/GEMINI.md", "Prefer small steps.");
    for (const name of ["dev", "ext"])
      expect((await stage.run(["plugins", "add", join(stage.home, name), "--yes"])).code).toBe(0);

    const { code, out } = await stage.run(["-p", "Use dev:pdf", "-m", "anthropic"]);
    expect(code).toBe(0);
    for (const text of ["Fill the form.", "form.txt"]) expect(out).toContain(text);
    const { system, tools } = lastBody();
    expect(JSON.stringify(lastBody())).toContain("Rule of the plugin.");
    expect(JSON.stringify(system)).toContain("- dev:pdf: Works with PDF files.");
    expect(JSON.stringify(system)).toContain("--- plugin ext: GEMINI.md ---\\nPrefer small steps.");
    expect(tools.map(({ name }) => name).filter((name) => /activate_skill|echo/.test(name))).toEqual([
      "activate_skill",
      "echo",
    ]);
    for (const name of ["dev", "ext"]) expect((await stage.run(["plugins", "remove", name])).code).toBe(0);

    await stage.run(["-p", "Hello", "-m", "anthropic"]);
    const after = lastBody();
    expect(JSON.stringify(after)).not.toMatch(/dev:pdf|plugin ext|Rule of/);
    expect(after.tools.map(({ name }) => name).filter((name) => /activate_skill|echo/.test(name))).toEqual([]);
  });
});
