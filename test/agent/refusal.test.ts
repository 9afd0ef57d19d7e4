import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { openProgramStage, type OutputLine, type ProgramStage } from "../support/agent-program.ts";
import { appFixtures } from "../tui/app-fixture.ts";
import { itInAll } from "../support/tier.ts";

let stage: ProgramStage;
beforeAll(ensureBuilt);
// The model makes a call, and the request with its result is refused.
beforeEach(async () => {
  stage = await openProgramStage(["anthropic"], {
    script: { rules: [{ replies: [{ call: { tool: "list_directory", input: { path: "." } } }] }] },
    faults: [{ on: { from: 2 }, fault: { type: "status", status: 400, message: "messages: something is wrong" } }],
  });
  return () => stage.close();
});

const { started } = appFixtures();
const size = { columns: 200, rows: 40 };
const args = ["-p", "Look around.", "-m", "anthropic/claude-sonnet-5"];

const report = {
  target: "anthropic/claude-sonnet-5",
  idFormat: expect.any(String) as string,
  calls: [
    {
      call: expect.any(String) as string,
      id: expect.stringMatching(/^toolu_/) as string,
      tool: "list_directory",
      status: "complete",
    },
  ],
  notes: expect.any(Array) as unknown[],
};

const check = (name: string, value: unknown): void => {
  const path = fileURLToPath(new URL(`../../schemas/headless-${name}.schema.json`, import.meta.url));
  const isValid = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(
    JSON.parse(readFileSync(path, "utf8")) as object,
  );
  expect(isValid(value) ? [] : isValid.errors).toEqual([]);
};

describe("a request that the provider refuses", () => {
  it("names the command that shows the request and its report", async () => {
    const ran = await stage.run(args);
    expect([ran.code, ran.out]).toEqual([1, ""]);
    expect(ran.err).toContain("refused the request (400): messages: something is wrong.");
    const command = /^parley: Show the request and its report: parley (render \S+ --for \S+ --explain)$/m.exec(ran.err);
    const shown = await stage.run(command?.[1]?.split(" ") ?? []);
    expect(shown.code).toBe(0);
    expect(JSON.parse(shown.err)).toEqual(report);
    expect(JSON.parse(shown.out)).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant" }, { role: "user" }],
    });
  });

  it("has its report in the JSON output", async () => {
    const ran = await stage.run([...args, "-o", "json"]);
    const result = JSON.parse(ran.out) as OutputLine;
    check("json", result);
    expect(result["error"]).toMatchObject({ type: "refused", report });
  });

  itInAll("has its report in the error line of the JSON stream", async () => {
    const lines = (await stage.run([...args, "-o", "stream-json"])).lines();
    for (const line of lines) check("stream-json", line);
    expect(lines.find(({ type }) => type === "error")).toMatchObject({ severity: "error", report });
    expect(lines.at(-1)).toMatchObject({ type: "result", error: { type: "refused" } });
  });

  it("names /explain in the terminal, which shows the report", async () => {
    const { HOME: _home, ...env } = stage.env;
    const [app] = await started({ args: ["-m", "anthropic/claude-sonnet-5"], env, size });
    app.submit("Look around.");
    await app.waitForText("See /explain for what was sent");
    app.submit("/explain");
    await app.waitForText("Last request, to anthropic/claude-sonnet-5: 1 call");
    await app.quit();
  });
});
