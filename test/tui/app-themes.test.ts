import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { runCommand } from "../support/run-command.ts";
import { appFixtures } from "./app-fixture.ts";

ensureBuilt();
const { on } = appFixtures();

const script = {
  rules: [
    {
      prompt: "links",
      replies: [{ say: "See https://docs.example/a_b and [the guide](https://docs.example/guide)." }],
    },
  ],
};

describe("links", () => {
  it.each([
    { env: { TERM_PROGRAM: "WezTerm" }, links: ["https://docs.example/a_b", "https://docs.example/guide"] },
    { env: { TERM_PROGRAM: "Apple_Terminal" }, links: [] },
  ])("are written only for a terminal that shows them: $env.TERM_PROGRAM", async ({ env, links }) => {
    const { start } = await on({ script, env });
    const app = start();
    await app.waitUntilIdle();
    app.submit("links, please");
    await app.waitForText("the guide");
    await app.waitUntilIdle();
    expect(await app.quit()).toBe(0);
    // oxlint-disable-next-line no-control-regex
    const opened = [...app.output().matchAll(/\u001b\]8;;([^\u001b\u0007]+)\u001b\\/g)].map(
      ([, target = ""]) => target,
    );
    expect([...new Set(opened)].toSorted()).toEqual(links);
  });
});

describe("a theme in a file", () => {
  it("colours the screen from the start, is offered by /theme, and its faults are named", async () => {
    const { start, home } = await on({ env: { COLORTERM: "truecolor" } });
    mkdirSync(join(home, ".parley/themes"), { recursive: true });
    writeFileSync(join(home, ".parley/settings.json"), JSON.stringify({ ui: { theme: "mine" } }));
    writeFileSync(
      join(home, ".parley/themes/mine.json"),
      JSON.stringify({ base: "dark", tones: { accent: "#ff8801", sparkle: "#ffffff" } }),
    );
    writeFileSync(join(home, ".parley/themes/other.json"), JSON.stringify({ tones: { accent: "#01ff88" } }));
    const app = start();
    await app.waitUntilIdle();
    await app.waitForText('Unknown name "sparkle"');
    expect(app.screen.styledRows().some((row) => row.startsWith("[bold #ff8801]Parley"))).toBe(true);
    app.submit("/theme");
    await app.waitForText("other");
    app.type("other\r");
    await app.waitFor(() => app.screen.styledRows().some((row) => row.startsWith("[bold #01ff88]> ")));
    expect(await app.quit()).toBe(0);
  });
});

describe("a theme of a plugin", () => {
  it("colours the screen and is offered by /theme, while the plugin is enabled, agreed to and unchanged", async () => {
    const { start, home } = await on({ env: { COLORTERM: "truecolor" } });
    const plugins = (...args: readonly string[]): ReturnType<typeof runCommand> =>
      runCommand(["plugins", ...args], { cwd: home, env: { HOME: home, PATH: process.env["PATH"] } });
    const source = join(home, "green");
    mkdirSync(source);
    const manifest = (accent: string): string =>
      JSON.stringify({ name: "green", themes: [{ name: "Deep Green", type: "custom", text: { accent } }] });
    writeFileSync(join(source, "gemini-extension.json"), manifest("#01a202"));
    const added = await plugins("add", source, "--yes");
    expect(added.err).toContain("Themes: colours of the terminal UI that you can choose\n  Deep-Green\n");

    const app = start();
    await app.waitUntilIdle();
    app.submit("/theme");
    await app.waitForText("green:Deep-Green");
    app.type("green:\r");
    await app.waitForText("Theme set to green:Deep-Green.");
    await app.waitFor(() => app.screen.styledRows().some((row) => row.startsWith("[bold #01a202]> ")));
    expect(await app.quit()).toBe(0);

    const again = start();
    await again.waitUntilIdle();
    expect(again.screen.styledRows().some((row) => row.startsWith("[bold #01a202]Parley"))).toBe(true);
    expect(await again.quit()).toBe(0);

    const [hash = ""] = readdirSync(join(home, ".parley/plugins/content"));
    for (const prepare of [
      () => plugins("disable", "green"),
      async () => {
        await plugins("enable", "green", "--yes");
        writeFileSync(join(home, ".parley/plugins/content", hash, "gemini-extension.json"), manifest("#ff0000"));
      },
    ]) {
      await prepare();
      const without = start();
      await without.waitUntilIdle();
      await without.waitForText('Unknown theme "green:Deep-Green"');
      expect(without.screen.styledRows().some((row) => row.startsWith("[bold #79b8ff]Parley"))).toBe(true);
      without.type("/theme ");
      await without.waitForText("by the terminal's background");
      expect(without.screen.rows().some((row) => row.startsWith("green:"))).toBe(false);
      expect(await without.quit()).toBe(0);
    }
  });
});
