import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realWorld } from "../../world/real/world.ts";
import { findSystemKeyStore, type SystemKeyStore } from "./system-key-store.ts";

/** A stand-in for `security` of macOS: keeps passwords in a file, and reads command lines from stdin with -i. */
const security = (folder: string): string => `#!${process.execPath}
const fs = require("node:fs");
const file = ${JSON.stringify(join(folder, "passwords.json"))};
const saved = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : {};
fs.appendFileSync(${JSON.stringify(join(folder, "arguments.log"))}, process.argv.slice(2).join(" ") + "\\n");
const words = (line) => [...line.matchAll(/"((?:[^"\\\\]|\\\\.)*)"|(\\S+)/g)].map(([, quoted, bare]) => bare ?? quoted.replace(/\\\\(.)/g, "$1"));
const run = ([name, ...rest]) => {
  const option = (flag) => rest[rest.indexOf(flag) + 1];
  const id = option("-s") + "/" + option("-a");
  if (name === "add-generic-password") saved[id] = option("-w");
  else if (saved[id] === undefined) return 44;
  else if (name === "find-generic-password") process.stdout.write(saved[id] + "\\n");
  else if (name === "delete-generic-password") delete saved[id];
  else return 1;
  fs.writeFileSync(file, JSON.stringify(saved));
  return 0;
};
if (fs.existsSync(${JSON.stringify(join(folder, "locked"))})) process.exit(36);
const lines = process.argv[2] === "-i" ? fs.readFileSync(0, "utf8").split("\\n").filter(Boolean).map(words) : [process.argv.slice(2)];
process.exitCode = lines.map(run).at(-1);
`;

let folder: string;
let store: SystemKeyStore;
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-keychain-")));
  const program = join(folder, "security");
  writeFileSync(program, security(folder));
  chmodSync(program, 0o755);
  const { processes, clock, host, env } = realWorld();
  const found = await findSystemKeyStore({
    clock,
    env,
    host: { ...host, platform: "darwin" },
    processes: {
      ...processes,
      start: (options) =>
        processes.start({ ...options, file: options.file === "/usr/bin/security" ? program : options.file }),
    },
    searchPath: "/usr/bin:/bin",
  });
  if (found === undefined) throw new Error("no store");
  store = found;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const saved = (): unknown => {
  const file = join(folder, "passwords.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
};

describe("the keychain of macOS", () => {
  it("keeps, returns and deletes a key, which is never an argument", async () => {
    const key = String.raw`sk-"quoted" \back\ and $HOME 'x'`;
    expect(await store.write("anthropic/default", key)).toBe(true);
    expect(saved()).toEqual({ "parley/anthropic/default": key });
    expect(await store.read("anthropic/default")).toBe(key);
    expect(await store.read("openai/default")).toBeUndefined();
    expect(readFileSync(join(folder, "arguments.log"), "utf8")).not.toContain("sk-");
    expect(await store.remove("anthropic/default")).toBe(true);
    expect([saved(), await store.remove("anthropic/default"), store.name]).toEqual([{}, false, "the keychain"]);
  });

  it("says when it is locked", async () => {
    writeFileSync(join(folder, "locked"), "");
    expect([await store.write("a", "b"), await store.read("a"), await store.remove("a")]).toEqual([
      false,
      undefined,
      false,
    ]);
  });

  it.each([
    ["a line break in the key", "a", 'x"\nadd-generic-password -U -s parley -a other -w y'],
    ["a line break in the name", "a\nadd-generic-password -U -s parley -a other -w y", "x"],
    ["a key longer than a line of the program", "a", "x".repeat(5000)],
  ])("takes %s for no second command, and stores nothing", async (_, account, secret) => {
    expect([await store.write(account, secret), saved()]).toEqual([false, {}]);
  });
});
