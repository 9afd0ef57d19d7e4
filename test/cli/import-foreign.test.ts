import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ForeignAgent } from "../../src/foreign/agents.ts";
import { lint } from "../../src/rules/lint.ts";
import type { RuleWire } from "../../src/rules/rule.ts";
import type { Ran } from "../built.ts";
import { makeStory } from "../support/foreign/story.ts";
import { storyWriters } from "../support/foreign/writers.ts";
import { runCommand } from "../support/run-command.ts";
import { seedFor } from "../support/tier.ts";

let base: string;
let project: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-import-")));
  project = join(base, "project");
  mkdirSync(project);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const parley = (...args: readonly string[]): Promise<Ran> =>
  runCommand(args, {
    cwd: project,
    env: { PATH: process.env["PATH"], HOME: base, USERPROFILE: base, PARLEY_HOME: join(base, ".parley") },
  });

const agents = Object.keys(storyWriters) as ForeignAgent[];

const writeAll = (chosen: readonly ForeignAgent[] = agents): void => {
  for (const agent of chosen) {
    const { limits, write } = storyWriters[agent]!;
    for (const [path, text] of Object.entries(write(makeStory(seedFor(3), limits), project))) {
      mkdirSync(dirname(join(base, path)), { recursive: true });
      writeFileSync(join(base, path), text);
    }
  }
};

/** Every file of other agents, with its content and its time. */
const foreignFiles = (): object =>
  Object.fromEntries(
    readdirSync(base, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(join(base, ".parley")))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, [readFileSync(path, "utf8"), statSync(path).mtimeMs]]),
  );

type Listed = {
  readonly sessions: readonly { readonly agent: string; readonly id: string; readonly import: object }[];
};

describe("parley sessions import", () => {
  it("lists the sessions of every agent for this folder, and writes nothing", async () => {
    writeAll();
    const before = foreignFiles();
    const { code, out } = await parley("sessions", "import", "--json");
    const { sessions } = JSON.parse(out) as Listed;
    expect([code, sessions.map(({ agent }) => agent).toSorted()]).toEqual([0, agents.toSorted()]);
    expect(sessions.every((each) => JSON.stringify(each.import) === '{"type":"new"}')).toBe(true);
    expect(foreignFiles()).toEqual(before);
    expect(existsSync(join(base, ".parley", "sessions"))).toBe(false);
  });

  it("imports one by a short id, once, and shows its source in the list", async () => {
    writeAll(["claude"]);
    const before = foreignFiles();
    const dry = await parley("sessions", "import", "claude:0a1b", "--dry-run");
    expect([dry.code, dry.out]).toEqual([
      0,
      expect.stringMatching(/^Would import claude:0a1b2c3d-.*: \d+ entries\.\n$/),
    ]);
    const first = await parley("sessions", "import", "claude:0a1b");
    expect([first.code, first.err]).toEqual([0, expect.stringContaining("Imported from Claude Code:")]);
    const id = first.out.trim();
    const again = await parley("sessions", "import", "claude:0a1b");
    expect([again.out.trim(), again.err]).toEqual([id, expect.stringContaining("was already imported")]);

    const list = await parley("sessions", "list");
    expect(list.out).toMatch(new RegExp(`^${id} .* claude `, "m"));
    const { sessions } = JSON.parse((await parley("sessions", "list", "--json")).out) as {
      readonly sessions: readonly { readonly id: string; readonly source?: object }[];
    };
    expect(sessions.map((each) => [each.id, each.source])).toEqual([
      [id, { agent: "claude", id: "0a1b2c3d-0000-4000-8000-00000000beef" }],
    ]);
    expect(foreignFiles()).toEqual(before);
  });

  it("counts the results of several at the end", async () => {
    writeAll(["claude", "pi"]);
    await parley("sessions", "import", "claude:0a1b");
    const both = await parley("sessions", "import", "claude:0a1b", "pi:0a1b");
    expect(both.err).toMatch(/\nparley: 1 imported, 1 already imported\.\n$/);
  });

  it("imports all of one agent, and all of all that are listed", async () => {
    writeAll(["codex", "pi", "gemini"]);
    const codex = await parley("sessions", "import", "--from", "codex", "--json");
    expect((JSON.parse(codex.out) as Listed).sessions.map(({ agent }) => agent)).toEqual(["codex"]);
    const { sessions } = JSON.parse((await parley("sessions", "import", "--json")).out) as Listed;
    expect(Object.fromEntries(sessions.map((each) => [each.agent, (each.import as { type: string }).type]))).toEqual({
      codex: "imported",
      pi: "new",
      gemini: "new",
    });
  });

  it("makes sessions that are written for a model like any other", async () => {
    writeAll(["pi"]);
    const { out: id } = await parley("sessions", "import", "pi:0a1b");
    for (const wire of ["anthropic", "openai-responses", "gemini"]) {
      const { code, out } = await parley("sessions", "export", id.trim(), "--format", wire);
      expect([wire, code]).toEqual([wire, 0]);
      expect(lint(JSON.parse(out), { wire: wire as RuleWire }).filter(({ level }) => level === "error")).toEqual([]);
    }
  });

  it.each([
    [["claude:9999"], "No session claude:9999"],
    [["emacs:1"], "No such file: emacs:1."],
    [["claude:0a1b", "emacs:1"], "Not a session of another agent"],
  ])("refuses %j and says what is wrong", async (args, message) => {
    writeAll(["claude"]);
    const { code, err } = await parley("sessions", "import", ...args);
    expect(code).not.toBe(0);
    expect(err).toContain(message);
  });
});
