import { describe, expect, it } from "vitest";
import { simulatedWorld } from "../../world/simulated/world.ts";
import { findHookFiles } from "./hook-files.ts";
import { addHooks, importHooks } from "./import-hooks.ts";

const command = { type: "command", command: "check.sh" };

describe("importHooks", () => {
  it("takes the hooks of Claude Code as they are, and says what it leaves out", () => {
    expect(
      importHooks("claude", {
        PreToolUse: [{ matcher: "Bash", hooks: [{ ...command, timeout: 5, once: true, description: "x" }] }],
        Stop: [{ hooks: [{ type: "prompt", prompt: "Is it done?" }, command] }],
        FileChanged: [{ hooks: [command] }],
      }),
    ).toEqual({
      hooks: {
        PreToolUse: [{ matcher: "Bash", hooks: [{ ...command, timeout: 5 }] }],
        Stop: [{ hooks: [command] }],
      },
      count: 2,
      notTaken: [
        { what: "PreToolUse.0.hooks.0.once", why: "Parley has no such field; the hook is taken without it." },
        { what: "Stop.0.hooks.0", why: "Hooks in which a model decides are not supported." },
        { what: "FileChanged", why: "Parley has no such event." },
      ],
    });
  });

  it("translates the events and times of Gemini CLI", () => {
    expect(
      importHooks("gemini", {
        BeforeTool: [
          { matcher: "write_file", sequential: true, hooks: [{ ...command, name: "guard", timeout: 1500 }] },
        ],
        AfterAgent: [{ hooks: [command] }],
        BeforeModel: [{ hooks: [command] }],
      }),
    ).toEqual({
      hooks: {
        PreToolUse: [{ matcher: "write_file", hooks: [{ ...command, name: "guard", timeout: 1.5, format: "gemini" }] }],
        Stop: [{ hooks: [{ ...command, timeout: 60, format: "gemini" }] }],
      },
      count: 2,
      notTaken: [
        { what: "BeforeTool.0.sequential", why: "Hooks of an event run in parallel." },
        {
          what: "BeforeModel",
          why: "Hooks cannot change a request: its prefix stays the same for the prompt cache.",
        },
      ],
    });
  });

  it("names hooks of Codex that could never run, those for its patches alone", () => {
    const groups = (...matchers: readonly string[]) => ({
      PreToolUse: matchers.map((matcher) => ({ matcher, hooks: [command] })),
    });
    expect(importHooks("codex", groups("^apply_patch$", "apply_patch|Edit", ".*"))).toEqual({
      hooks: {
        PreToolUse: ["apply_patch|Edit", ".*"].map((matcher) => ({
          matcher,
          hooks: [{ ...command, format: "codex" }],
        })),
      },
      count: 2,
      notTaken: [
        {
          what: "PreToolUse.0",
          why: "Parley has no apply_patch: files are edited with Edit and Write, which it does not match.",
        },
      ],
    });
  });

  it("takes nothing it does not understand", () => {
    for (const given of [null, 5, [], { Stop: 1 }, { Stop: [1] }, { Stop: [{ hooks: [{ type: "http" }] }] }])
      expect(importHooks("codex", given)).toMatchObject({ hooks: {}, count: 0, notTaken: [{}] });
    expect(importHooks("codex", { state: { x: { trusted_hash: "1" } } })).toEqual({
      hooks: {},
      count: 0,
      notTaken: [],
    });
  });

  it("adds nothing the second time", () => {
    const { hooks } = importHooks("claude", { Stop: [{ hooks: [command] }] });
    const own = { Stop: [{ matcher: "x", hooks: [] }] };
    const once = addHooks(own, hooks);
    expect(once).toEqual({ Stop: [...own.Stop, { hooks: [command] }] });
    expect(addHooks(once, hooks)).toEqual(once);
  });
});

describe("findHookFiles", () => {
  it("reads the files of each agent in a home folder, and keeps off those that are switched off", async () => {
    const world = simulatedWorld();
    const { home } = world.host;
    const hooks = { Stop: [{ hooks: [command] }] };
    const file = (name: string, text: string): void => world.disk.seed(`${home}/${name}`, { kind: "file", text });
    file(".claude/settings.json", JSON.stringify({ model: "x", hooks }));
    file(".codex/hooks.json", JSON.stringify({ hooks, disableAllHooks: true }));
    file(".codex/config.toml", '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "check.sh"\n');
    file(".gemini/settings.json", "{");
    const imported = { hooks, count: 1, notTaken: [] };
    expect(await findHookFiles(world, "claude")).toEqual([{ file: `${home}/.claude/settings.json`, imported }]);
    expect(await findHookFiles(world, "codex")).toEqual([
      {
        file: `${home}/.codex/hooks.json`,
        imported: {
          hooks: {},
          count: 0,
          notTaken: [{ what: "hooks", why: "All hooks are switched off in this file." }],
        },
      },
      {
        file: `${home}/.codex/config.toml`,
        imported: { ...imported, hooks: { Stop: [{ hooks: [{ ...command, format: "codex" }] }] } },
      },
    ]);
    expect(await findHookFiles(world, "gemini")).toEqual([
      {
        file: `${home}/.gemini/settings.json`,
        problem: `${home}/.gemini/settings.json is not read: line 1: Expected "}".`,
      },
    ]);
    expect(await findHookFiles(world, "claude", { project: "/elsewhere" })).toEqual([]);
  });
});
