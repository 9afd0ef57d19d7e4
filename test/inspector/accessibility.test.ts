import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, startBrowser, type TestBrowser } from "./browser.ts";
import { pageViews, serveSources, type PageView, type ServedSources } from "./views.ts";

const axe = (): string => readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

describe.skipIf(!hasBrowser)("the inspector page, for everyone", () => {
  let browser: TestBrowser;
  let sources: ServedSources;

  beforeAll(async () => {
    browser = await startBrowser();
    sources = await serveSources();
  });
  afterAll(async () => {
    await sources?.close();
    await browser?.close();
  });

  const openView = async ({ source, route, ready, prepare }: PageView, page: Page): Promise<void> => {
    await page.goto("about:blank");
    await page.goto(`${sources.urls[source]}${route}`);
    await page.waitForSelector(ready, { state: "attached" });
    await prepare?.(page);
  };

  it.each(pageViews.map((view) => [view.name, view] as const))(
    "has no fault of roles, names, order or contrast, light and dark, wide and narrow: %s",
    async (_, view) => {
      const page = await browser.open("about:blank");
      const found: string[] = [];
      for (const width of [1280, 820, 360]) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme: "light" });
        await openView(view, page);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          found.push(...(await listViolations(page)).map((fault) => `${width} ${colorScheme}: ${fault}`));
        }
      }
      await page.close();
      expect(found).toEqual([]);
    },
  );

  it("moves the focus through the page in the order it is read, and shows where it is", async () => {
    const page = await browser.open("about:blank");
    await page.setViewportSize({ width: 1400, height: 900 });
    await openView(pageViews[0]!, page);
    const names: string[] = [];
    for (let presses = 0; presses < 16; presses += 1) {
      await page.keyboard.press("Tab");
      const focus = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        const name = element.getAttribute("aria-label") ?? element.textContent ?? "";
        return { name: name.slice(0, 30), isVisible: outlineStyle !== "none" && outlineWidth !== "0px" };
      });
      expect(focus.isVisible).toBe(true);
      names.push(focus.name.trim());
    }
    expect(names).toEqual([
      "Conversation",
      "As sent",
      "Requests5",
      "Composition",
      "Switch",
      "Lint",
      "Search the conversation",
      "Live",
      "Light or dark",
      "Help",
      "Conversation",
      "System prompt 51 B",
      "Tools 3",
      "Table",
      "the build",
      "ThinkingsealedThe queue test p",
    ]);
    await page.close();
  });

  it("keeps the focus in the help while it is open, and gives it back", async () => {
    const page = await browser.open("about:blank");
    await openView(pageViews[0]!, page);
    const help = page.getByRole("button", { name: "Help" });
    await help.focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open]");
    expect(await page.evaluate(() => document.activeElement?.closest("dialog") !== null)).toBe(true);
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog[open]", { state: "detached" });
    expect(await help.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.close();
  });

  it("made no fault on the way", () => {
    expect(browser.faults).toEqual([]);
  });
});

/** Runs axe in the page: it is injected by the browser's debugger, which the page's policy does not apply to. */
const listViolations = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(axe());
  return page.evaluate(async () => {
    const { violations } = await (
      globalThis as unknown as {
        readonly axe: {
          readonly run: (options: unknown) => Promise<{
            readonly violations: readonly {
              readonly id: string;
              readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
            }[];
          }>;
        };
      }
    ).axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ""}`),
    );
  });
};
