import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realWorld } from "../../world/real/world.ts";
import type { World } from "../../world/world.ts";
import { openInBrowser } from "./browser.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "parley-browser-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Installs an opener with this script. */
const opener = (script: string): void => {
  writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\ncd "${folder}"\n${script}\n`);
  chmodSync(join(folder, "xdg-open"), 0o755);
};

type After = World["clock"]["after"];

const never: After = () => () => undefined;

const open = (address: string, after = never): Promise<boolean> =>
  openInBrowser(
    {
      ...realWorld(),
      clock: { ...realWorld().clock, after },
      env: { PATH: `${folder}:/bin:/usr/bin`, COLOUR: "red", OPENAI_API_KEY: "sk-1" },
      host: { ...realWorld().host, platform: "linux" },
    },
    address,
  );

describe.runIf(process.platform !== "win32")("a URL", () => {
  it("is passed to the browser as one argument, without secrets in the environment", async () => {
    opener(`printf '%s\\n' "$#" "$1" "$COLOUR" "$OPENAI_API_KEY" > seen`);
    expect(await open("https://a.test/?q=$(touch%20x);`id` 'b")).toBe(true);
    expect(readFileSync(join(folder, "seen"), "utf8")).toBe("1\nhttps://a.test/?q=$(touch%20x);`id`%20%27b\nred\n\n");
  });

  it("that is not http(s) is not opened", async () => {
    opener("touch seen");
    const addresses = ["file:///etc/passwd", "javascript:alert(1)", "--help", "", "ssh://a.test"];
    expect(await Promise.all(addresses.map((address) => open(address)))).toEqual(addresses.map(() => false));
    expect(existsSync(join(folder, "seen"))).toBe(false);
  });

  it("is not opened if there is no program for it, or if the program fails", async () => {
    expect(await open("https://a.test")).toBe(false);
    opener("exit 3");
    expect(await open("https://a.test")).toBe(false);
  });

  it("is opened if the program keeps running", async () => {
    writeFileSync(join(folder, "hold"), "");
    opener("while [ -e hold ]; do sleep 0.05; done");
    const atOnce: After = (_, work) => (work(), () => undefined);
    expect(await open("https://a.test", atOnce)).toBe(true);
    rmSync(join(folder, "hold"));
  });
});
