/* npx tsx test/inspector/screenshots.ts FOLDER [NAME]: pictures of every view, at three widths, light and dark. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startBrowser } from "./browser.ts";
import { pageViews, serveSources } from "./views.ts";

const [folder = "screenshots", only] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await startBrowser();
const sources = await serveSources();
for (const { name, source, route, ready, prepare } of pageViews.filter(
  (view) => only === undefined || view.name === only,
))
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [360, 820, 1280]) {
      const page = await browser.open("about:blank");
      await page.setViewportSize({ width, height: width < 800 ? 760 : 900 });
      await page.emulateMedia({ colorScheme });
      await page.goto(`${sources.urls[source]}${route}`);
      await page.waitForSelector(ready, { state: "attached" });
      await prepare?.(page);
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}-${width}.png`) });
      await page.close();
    }
await sources.close();
await browser.close();
process.stdout.write(`${browser.faults.join("\n")}\n`);
