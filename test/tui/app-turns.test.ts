import { afterEach, describe, expect, it } from "vitest";
import { createSimulator } from "../../src/sim/simulator.ts";
import { serve, type RunningSimulator } from "../../src/sim/serve.ts";
import { ensureBuilt } from "../built.ts";
import { environmentFor } from "../support/serve-simulators.ts";
import { appFixtures } from "./app-fixture.ts";

ensureBuilt();
const { started } = appFixtures();

let server: RunningSimulator | undefined;
afterEach(() => server?.close());

describe("a request that is retried", () => {
  it("is one line while it is, and after", async () => {
    const simulator = createSimulator({
      provider: "anthropic",
      script: { rules: [{ prompt: "try", replies: [{ say: "At last." }] }] },
      faults: [{ on: { to: 2 }, fault: { type: "status", status: 529 } }],
    });
    server = await serve({ "/anthropic": simulator });
    const [app] = await started({
      args: ["-m", "anthropic"],
      env: { ANTHROPIC_API_KEY: "none", ...environmentFor({ anthropic: `${server.url}/anthropic` }) },
    });
    app.submit("try it");
    await app.waitForText(/^Anthropic: overloaded\. Retrying.*\(attempt 3\)\.$/);
    expect(app.screen.rows().filter((row) => row.includes("Retr"))).toHaveLength(1);
    await app.waitForText("At last.");
    await app.waitUntilIdle();
    const rows = app.screen.scrollback();
    expect(rows.filter((row) => row.includes("Retr"))).toEqual(["Anthropic: overloaded. Retried twice."]);
    await app.quit();
  });
});

describe("a turn longer than five seconds", () => {
  it("ends with its time and steps", async () => {
    const call = { tool: "run_shell_command", input: { command: "sleep 5.1" } };
    const [app] = await started({
      script: { rules: [{ prompt: "wait", replies: [{ call }, { say: "Rested." }] }] },
      args: ["--approval-mode", "yolo"],
      env: { PARLEY_TURN_SUMMARY: "true" },
    });
    app.submit("wait a little");
    await app.waitForText(/^\d+s · 2 steps$/);
    const rows = app.screen.rows();
    expect(
      rows
        .slice(rows.indexOf("Rested."))
        .slice(0, 4)
        .map((row) => row.replace(/^\d+s/, "5s")),
    ).toEqual(["Rested.", "", "5s · 2 steps", ""]);
    await app.quit();
  });
});
