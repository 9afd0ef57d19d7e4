import { describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { appFixtures } from "./app-fixture.ts";
import { manualModels } from "./manual-model.ts";

ensureBuilt();
const { started } = appFixtures();
const held = manualModels();

describe("while an answer streams, a terminal resized", () => {
  it.each([
    { before: 80, after: 40, breaksAnew: true },
    { before: 120, after: 53, breaksAnew: true },
    { before: 61, after: 60, breaksAnew: true },
    { before: 200, after: 41, breaksAnew: true },
    { before: 40, after: 100, breaksAnew: true },
    { before: 80, after: 40, breaksAnew: false },
    { before: 200, after: 63, breaksAnew: false },
  ])("to $after columns from $before loses no character (reflows: $reflows)", async (sizes) => {
    const { before, after, breaksAnew } = sizes;
    const model = await held();
    const [app] = await started({ ...model, size: { columns: before, rows: 24 }, reflows: breaksAnew });
    app.submit("go");
    await model.requested;
    const first = `${words("first", 60)}\n\nReady 1.`;
    model.stream(`${first}\n\n${words("open", 30)} `);
    await app.waitForText("open29");
    // Pending output reaches a terminal that has its new size already, before the program gets the resize event.
    app.screen.resize({ columns: after, rows: 24 });
    model.stream(`${words("narrow", 40)}\n\n\`\`\`\n${codeLine}\n\`\`\`\n\nReady 2.\n\n${words("late", 40)} `);
    await app.waitForText("Ready 2.");
    app.type("a draft");
    await app.waitForText("> a draft");
    model.stream(`${words("later", 10)}\n\nReady 3.\n\n${words("still", 40)} `);
    await app.waitForText("Ready 3.");
    app.resize({ columns: after, rows: 24 });
    await app.waitForText("still39");
    model.stream(`${words("last", 10)}\n\nReady 4.`);
    model.end();
    await app.waitFor((rows) => [...rows.slice(-6, -4), rows.at(-3)].join("|") === "Ready 4.||> a draft");
    const answer = [
      // A terminal that does not reflow truncates existing lines.
      ...(breaksAnew ? [words("first", 60)] : []),
      "Ready 1.",
      `${words("open", 30)} ${words("narrow", 40)}`,
      codeLine,
      "Ready 2.",
      `${words("late", 40)} ${words("later", 10)}`,
      "Ready 3.",
      `${words("still", 40)} ${words("last", 10)}`,
      "Ready 4.",
      "> a draft",
    ].map((each) => letters([each]));
    const everything = letters(app.screen.scrollback());
    expect(answer.filter((each) => !everything.includes(each))).toEqual([]);
    expect(answer.map((each) => everything.lastIndexOf(each))).toEqual(
      answer.map((each) => everything.lastIndexOf(each)).toSorted((one, other) => one - other),
    );
    expect(app.screen.cursor()).toEqual({ row: app.screen.rows().length - 3, column: 9 });
    await app.quit();
  });
});

const words = (name: string, count: number): string =>
  Array.from({ length: count }, (_, at) => `${name}${at}`).join(" ");

/** A line without a break opportunity. */
const codeLine = Array.from({ length: 50 }, (_, at) => `code${at}`).join("_");

/** The written text without line breaks. */
const letters = (lines: readonly string[]): string => lines.join("").replaceAll(" ", "");
