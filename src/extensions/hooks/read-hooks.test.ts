import { describe, expect, it } from "vitest";
import type { HookSet } from "./hook.ts";
import { parseMatcher } from "./match-name.ts";
import { readHooks } from "./read-hooks.ts";

const set = (settings: unknown): HookSet => ({ source: { type: "project" }, file: ".parley/settings.json", settings });
const command = (text: string): object => ({ type: "command", command: text });

describe("readHooks", () => {
  it("reads commands, programs and URLs with their defaults", () => {
    const own = set({
      PreToolUse: [
        {
          matcher: "Bash",
          hooks: [
            { type: "command", command: "check", args: ["-v"], timeout: 2, if: "Bash(git *)", onFailure: "block" },
          ],
        },
      ],
      UserPromptSubmit: [{ hooks: [{ ...command("note"), async: true, name: "Note" }] }],
      Stop: [{ matcher: "*", hooks: [{ type: "http", url: "http://127.0.0.1:1/x", format: "gemini" }] }],
    });
    expect(readHooks([own])).toEqual({
      hooks: [
        {
          event: "PreToolUse",
          set: own,
          matcher: "Bash",
          condition: "Bash(git *)",
          handler: { type: "program", program: "check", args: ["-v"] },
          timeoutMs: 2000,
          isAsync: false,
          blocksOnFailure: true,
          format: "claude",
          label: "check -v",
        },
        {
          event: "UserPromptSubmit",
          set: own,
          matcher: "",
          handler: { type: "command", command: "note" },
          timeoutMs: 30_000,
          isAsync: true,
          blocksOnFailure: false,
          format: "claude",
          label: "Note",
        },
        {
          event: "Stop",
          set: own,
          matcher: "*",
          handler: { type: "http", url: "http://127.0.0.1:1/x", headers: {}, allowedVariables: [] },
          timeoutMs: 600_000,
          isAsync: false,
          blocksOnFailure: false,
          format: "gemini",
          label: "http://127.0.0.1:1/x",
        },
      ],
      problems: [],
    });
  });

  const faults: readonly (readonly [what: string, settings: unknown, problem: string])[] = [
    ["no object", [], "hooks must be an object with events."],
    [
      "an unknown event",
      { PreToolUs: [{ hooks: [command("x")] }] },
      'The event "PreToolUs" is unknown, so its hooks do not run. Did you mean PreToolUse?',
    ],
    ["an event without a list", { Stop: { hooks: [] } }, "hooks.Stop must be a list."],
    ["a group without hooks", { Stop: [{ matcher: "" }] }, "hooks.Stop.0 needs hooks."],
    [
      "a matcher that is no pattern",
      { Stop: [{ matcher: "(", hooks: [command("x")] }] },
      "hooks.Stop.0.matcher is neither names joined by | nor a valid regular expression.",
    ],
    [
      "a type that does not exist here",
      { Stop: [{ hooks: [{ type: "prompt", command: "x" }] }] },
      'hooks.Stop.0.hooks.0.type must be "command" or "http", not "prompt".',
    ],
    [
      "a command without one",
      { Stop: [{ hooks: [{ type: "command", url: "http://a.test" }] }] },
      "hooks.Stop.0.hooks.0 needs command.",
    ],
  ];
  it.each(faults)("says what is wrong and leaves out only that: %s", (_, settings, problem) => {
    const good = set({ Stop: [{ hooks: [command("good")] }] });
    const { hooks, problems } = readHooks([set(settings), good]);
    expect([hooks.map(({ label }) => label), problems.at(-1)]).toEqual([
      ["good"],
      `Hooks (project, .parley/settings.json): ${problem}`,
    ]);
  });

  it("reports unknown fields and uses the rest", () => {
    const { hooks, problems } = readHooks([
      set({ Stop: [{ hooks: [{ ...command("x"), asyncRewake: true }], when: 1 }] }),
    ]);
    expect([hooks.length, problems]).toEqual([
      1,
      [
        "Hooks (project, .parley/settings.json): Unknown setting hooks.Stop.0.when.",
        "Hooks (project, .parley/settings.json): Unknown setting hooks.Stop.0.hooks.0.asyncRewake.",
      ],
    ]);
  });
});

describe("a matcher", () => {
  it.each([
    ["", ["Bash", "anything"], []],
    ["*", ["Bash"], []],
    ["Edit|Write", ["Edit", "Write"], ["MultiEdit", "edit"]],
    ["Edit | Bash", ["Edit", "Bash"], ["MultiEdit"]],
    ["Edit,Bash", ["Edit", "Bash"], ["Write"]],
    ["Task|Ba", ["Task"], ["Bash"]],
    ["mcp__.*__write", ["mcp__files__write", "mcp__files__write_all"], ["files__write"]],
    ["mcp__git-hub", ["mcp__git-hub__push"], ["mcp__other__push"]],
    ["^Bash$", ["Bash"], ["BashOutput"]],
    ["^(?!Read).*", ["Bash"], ["Read"]],
  ])("%s", (matcher, matching, others) => {
    const test = parseMatcher(matcher);
    expect([...matching, ...others].filter((name) => test?.(name))).toEqual(matching);
  });

  it.each([
    ["write", ["write_file"], ["replace"]],
    ["write_file|replace", ["write_file", "replace"], ["read_file"]],
  ])("of Gemini CLI matches a part of a name: %s", (matcher, matching, others) => {
    const test = parseMatcher(matcher, "gemini");
    expect([...matching, ...others].filter((name) => test?.(name))).toEqual(matching);
  });
});
