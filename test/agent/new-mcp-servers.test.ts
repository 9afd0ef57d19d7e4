import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { scriptedServer } from "../mcp/with-servers.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";

let stage: ProgramStage;
beforeAll(async () => {
  ensureBuilt();
  stage = await openProgramStage(["anthropic"], { script: () => ({ parts: [{ type: "say", text: "Said." }] }) });
});
beforeEach(() => void stage.log.splice(0));
afterAll(() => stage.close());

/** The tools of the first request, and stderr. */
const runWith = async (
  name: string,
  behaviour: string,
): Promise<{ tools: string; err: string; code: number | null }> => {
  const file = join(stage.project, "servers.json");
  const server = { command: process.execPath, args: [scriptedServer, behaviour] };
  writeFileSync(file, JSON.stringify({ mcpServers: { [name]: server } }));
  const { code, err } = await stage.run(["-p", "Do it.", "-m", "anthropic", "--mcp-config", file]);
  const [first] = stage.log.splice(0);
  const { tools = [] } = (first?.entry.body ?? {}) as { tools?: { name: string }[] };
  return { tools: tools.map((tool) => tool.name).join(" "), err, code };
};

describe("an MCP server that was never seen before", () => {
  it("has its tools in the first request of a run without a terminal, which reports the wait", async () => {
    const first = await runWith("fresh", "honest");
    expect([first.code, first.tools]).toEqual([0, expect.stringMatching(/ echo$/)]);
    expect(first.err).toContain("parley: Waiting up to 10 s for MCP servers not seen before: fresh (mcp.startWait).");
    const second = await runWith("fresh", "honest");
    expect([second.tools.endsWith(" echo"), second.err]).toEqual([true, ""]);
  });

  it("is waited for no longer than the setting says, and the run continues", async () => {
    writeFileSync(join(stage.home, ".parley/settings.json"), JSON.stringify({ mcp: { startWait: 1 } }));
    const { code, tools, err } = await runWith("silent", "mute");
    expect([code, tools.endsWith(" echo")]).toEqual([0, false]);
    expect(err).toContain("The MCP server silent did not connect within 1 s;");
  });

  it("that does not start is reported with its stderr", async () => {
    const { code, err } = await runWith("broken", "exits");
    expect(code).toBe(0);
    expect(err).toMatch(/^parley: The MCP server broken is not available: .*no licence/m);
  });
});
