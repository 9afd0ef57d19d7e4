import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type BrowserContext, type Page } from "playwright-core";

const executablePath = process.env["PARLEY_CHROMIUM"] ?? "/usr/bin/chromium";

/** Whether the tests in a browser can run. In CI a missing browser is a failure, elsewhere they are skipped. */
export const hasBrowser: boolean = existsSync(executablePath) || process.env["PARLEY_BROWSER_TESTS"] === "required";

/** A browser with a fresh profile that records everything a page must not do. */
export type TestBrowser = {
  readonly open: (url: string) => Promise<Page>;
  /** Requests that left loopback, violated policies, and errors of the page. */
  readonly faults: readonly string[];
  readonly close: () => Promise<void>;
};

export const startBrowser = async (): Promise<TestBrowser> => {
  if (!existsSync(executablePath))
    throw new Error(`No browser at ${executablePath}. Install Debian's chromium, or set PARLEY_CHROMIUM.`);
  const profile = mkdtempSync(join(tmpdir(), "parley-browser-"));
  const context = await launch(profile);
  const faults: string[] = [];
  context.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol !== "blob:" && protocol !== "data:" && protocol !== "file:" && hostname !== "127.0.0.1")
      faults.push(`request to ${request.url()}`);
  });
  return {
    faults,
    open: async (url) => {
      const page = await context.newPage();
      page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
      page.on("console", (message) => {
        if (message.type() === "error") faults.push(`console: ${message.text()}`);
      });
      page.on("dialog", (dialog) => {
        faults.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      await page.goto(url);
      return page;
    },
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
};

const launch = (profile: string): Promise<BrowserContext> =>
  chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    viewport: { width: 1280, height: 800 },
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // Containers have little shared memory, and the browser crashes without it.
      "--disable-dev-shm-usage",
    ],
  });
