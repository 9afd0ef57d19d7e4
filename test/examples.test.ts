import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { providers } from "../src/api/index.ts";
import { ensureBuilt, root } from "./built.ts";
import { sampleCases } from "./support/tier.ts";

/** Each example, with its expected output. */
const expected: Readonly<Record<string, readonly RegExp[]>> = {
  "repair-a-transcript.ts": [/^before: [1-9]\d* findings$/m, /^ {2}synthetic-result: /m, /^after: 0 findings$/m],
  "switch-provider.ts": [/functions\.weather:1/, /toolu_01 \(complete\)/, /thinking-dropped/],
  "hello.ts": [/^I am Parley's built-in demo model/],
  "stream-events.ts": [
    /^\.\.\. Read notes\.txt\nread_file: complete$/m,
    /^Water the plants\.$/m,
    /^\(\d+ tokens in, \d+ out\)$/m,
  ],
  "custom-tool.ts": [/"value":\{"item":"tea","count":12\}/, /"status":"error".*There is no item \\"gold\\"/],
  "approve-calls.ts": [/^write_file: Write notes\.txt/m, /Only edits are allowed here/, /^\[ 'notes\.txt' \]$/m],
  "custom-provider.ts": [/^Hello from Acme\.$/m],
  "move-between-providers.ts": [
    /^I listed it\.\nYou asked for the folder\.\nnote: signature-filler\naccepted accepted\naccepted$/m,
  ],
  "structured-output.ts": [/^The answer does not match the schema\. .* \(1 of 2\)\.\nOslo: 277\.15 K$/m],
  "resume-session.ts": [/^2 prompts, answered by offline\nThere is no session unknown\./m],
  "http-service.ts": [/^ann 200: I am Parley's/m, /^bob 200: Hello!/m, /^ann 200: Hello!/m],
  "front-door-client.ts": [/^Parley: .+$/m, /^turn: finished$/m, /^again: duplicate true$/m],
  "send-and-read.ts": [/^You said: "Hello there!"\.$/m, /^\(stop\)$/m],
  "test-against-a-simulator.ts": [
    /^429 /m,
    /^200 "tool_calls":.*\\"Oslo\\"/m,
    /^400 "message":"/m,
    /^1 refused .*\n2 accepted\n3 refused openai-chat\/\S+\n$/m,
  ],
  "image-result-everywhere.ts": providers.map(({ id }) => new RegExp(`^${id}/`, "m")),
};

const programs = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".ts"));

/** In the package, so that the examples import it by its name. */
let scripts: string;
beforeAll(() => {
  ensureBuilt();
  mkdirSync(join(root, ".cache"), { recursive: true });
  scripts = mkdtempSync(join(root, ".cache", "examples-"));
});
afterAll(() => rmSync(scripts, { recursive: true }));

describe("the examples", () => {
  it("are all tested here", () => {
    expect(programs.toSorted()).toEqual(Object.keys(expected).toSorted());
  });

  it.each(sampleCases(programs, 6))("%s is short, starts with a comment, and runs", (name) => {
    const text = readFileSync(join(root, "examples", name), "utf8");
    expect(text).toMatch(/^\/\*\n/);
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(60);
    const home = mkdtempSync(join(tmpdir(), "parley-examples-"));
    const script = join(scripts, name.replace(/\.ts$/, ".mjs"));
    writeFileSync(script, transformSync(text, { loader: "ts", format: "esm" }).code);
    const ran = spawnSync(process.execPath, [script], {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, PARLEY_HOME: home },
    });
    rmSync(home, { recursive: true });
    expect({ code: ran.status, err: ran.stderr }).toEqual({ code: 0, err: "" });
    for (const pattern of expected[name]!) expect(ran.stdout).toMatch(pattern);
  });
});

describe("the package", () => {
  it("prints nothing during setup if nothing has changed", () => {
    const ran = spawnSync(process.execPath, [join(root, "scripts", "setup.mjs")], { encoding: "utf8" });
    expect({ code: ran.status, out: ran.stdout, err: ran.stderr }).toEqual({ code: 0, out: "", err: "" });
  });

  it("has every entry point its manifest names", () => {
    const { name, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      readonly name: string;
      readonly exports: Readonly<Record<string, unknown>>;
    };
    const doors = Object.keys(exports).filter((door) => !door.endsWith(".json"));
    const script = doors.map((door) => `await import("${name}${door.slice(1)}");`).join("\n");
    const ran = spawnSync(process.execPath, ["--input-type=module", "-e", script], { cwd: root, encoding: "utf8" });
    expect({ code: ran.status, err: ran.stderr }).toEqual({ code: 0, err: "" });
  });
});
