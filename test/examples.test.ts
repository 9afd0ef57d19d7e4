import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { providers } from "../src/api/index.ts";
import { ensureBuilt, root } from "./built.ts";

/** Each example, with its expected output. */
const expected: Readonly<Record<string, readonly RegExp[]>> = {
  "repair-a-transcript.ts": [/^before: [1-9]\d* findings$/m, /^ {2}synthetic-result: /m, /^after: 0 findings$/m],
  "switch-provider.ts": [/functions\.weather:1/, /toolu_01 \(complete\)/, /thinking-dropped/],
  "hold-a-conversation.ts": [/^read_file: complete$/m, /^Water the plants\.$/m],
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

beforeAll(ensureBuilt);

describe("the examples", () => {
  it("are all tested here", () => {
    expect(programs.toSorted()).toEqual(Object.keys(expected).toSorted());
  });

  it.each(programs)("%s is short, starts with a comment, and runs", (name) => {
    const text = readFileSync(join(root, "examples", name), "utf8");
    expect(text).toMatch(/^\/\*\n/);
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(60);
    const ran = spawnSync(process.execPath, ["--import", "tsx", join("examples", name)], {
      cwd: root,
      encoding: "utf8",
    });
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
