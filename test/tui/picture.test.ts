import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { drawPicture } from "../../scripts/draw-picture.ts";
import { createSimulator } from "../../src/sim/simulator.ts";
import { serve, type RunningSimulator } from "../../src/sim/serve.ts";
import { ensureBuilt, root } from "../built.ts";
import { environmentFor } from "../support/serve-simulators.ts";
import { appFixtures, normalizeScreen } from "./app-fixture.ts";
import type { CellRun } from "./terminal.ts";

/*
 * The picture of a session in README.md: the packaged program in a pseudo-terminal, with simulators of two providers.
 * Update it with `npx vitest run test/tui/picture.test.ts --update`, and look at it.
 */

ensureBuilt();
const { started } = appFixtures();

const cart = `export const total = (prices: number[]): number => {
  let sum = 0;
  for (const price of prices) sum += Math.round(price);
  return sum;
};
`;

const script = {
  rules: [
    {
      prompt: "cents",
      replies: [
        { say: "I will look at the code.", call: { tool: "read_file", input: { absolute_path: "src/cart.ts" } } },
        {
          call: {
            tool: "replace",
            input: { file_path: "src/cart.ts", old_string: "sum += Math.round(price);", new_string: "sum += price;" },
          },
        },
        { say: "Each price was rounded to whole units before it was added. Now `total` adds the exact prices." },
      ],
    },
    {
      prompt: "explain",
      replies: [
        { say: "`total` adds the prices of the cart. It rounded each one first, so 0.40 + 0.40 came out as **0**." },
      ],
    },
  ],
};

const columns = 92;
const path = join(root, "docs", "session.svg");

let simulators: RunningSimulator;
beforeEach(async () => {
  simulators = await serve(
    Object.fromEntries(
      ["anthropic", "google"].map((provider) => [`/${provider}`, createSimulator({ provider, script })]),
    ),
  );
});
afterEach(() => simulators.close());

it("README.md shows a session as it looks", async () => {
  const [app, { project }] = await started({
    files: { "src/cart.ts": cart },
    args: ["-m", "anthropic"],
    size: { columns, rows: 60 },
    env: {
      COLORTERM: "truecolor",
      ANTHROPIC_API_KEY: "none",
      GEMINI_API_KEY: "none",
      ...environmentFor({ anthropic: `${simulators.url}/anthropic`, google: `${simulators.url}/google` }),
    },
  });
  app.submit("why does the total of the cart lose cents?");
  await app.waitForQuestion();
  app.type("y");
  await app.waitForText("exact prices");
  await app.waitUntilIdle();
  app.submit("/model google");
  await app.waitForText("Yes, from the next request");
  app.type("\r");
  await app.waitForText("Switched to google");
  await app.waitUntilIdle();
  app.submit("explain the fault to a customer");
  await app.waitForText("came out as");
  await app.waitUntilIdle();
  const picture = drawPicture(
    app.screen.runs().map((runs) => normalizeRuns(runs, project)),
    columns,
  );
  if (withoutFigures(picture) !== withoutFigures(stored())) await expect(picture).toMatchFileSnapshot(path);
  await app.quit();
});

/** Replaces the folder, and removes the duration of a call: it is shown from one second on. */
const normalizeRuns = (runs: readonly CellRun[], project: string): readonly CellRun[] => {
  const row = runs.map(({ text }) => text).join("");
  const hasDuration = /^[✓✗] .* \d+s\s*$/.test(row);
  return runs.map((run) => ({
    ...run,
    text: normalizeScreen(hasDuration ? run.text.replace(/ \d+s\s*$/, "") : run.text, project),
  }));
};

const stored = (): string => (existsSync(path) ? readFileSync(path, "utf8") : "");

/** A picture without amounts, which change a little with every change of the system prompt, and without columns. */
const withoutFigures = (picture: string): string =>
  picture
    .replaceAll(/ (x|textLength)="[^"]*"/g, "")
    .replaceAll(/>[^<]*</g, (text) => text.replaceAll(/\$?\d+(\.\d+)?[kM%]?/g, "#").replaceAll(/ +/g, " "));
