import { describe, expect, it } from "vitest";
import { readSettings } from "../file/read.ts";
import { SettingsError } from "../error.ts";

const readOrExplain = async (text: string) => {
  try {
    return await readSettings(text, "settings.json");
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
};

const refused = (...problems: readonly string[]): string =>
  [
    "Invalid settings in settings.json:",
    ...problems.map((problem) => `  ${problem}`),
    "Correct the file, or use parley config set and unset.",
  ].join("\n");

describe("the user's settings file", () => {
  it("can have comments, a byte order mark and trailing commas", async () => {
    const text =
      '\uFEFF// mine\n{ "model": "a/b", /* cheap */ "limits": { "spend": 2.5, }, "context": { "fileName": "X.md" }, }';
    expect(await readOrExplain(text)).toEqual({
      values: { model: "a/b", "limits.spend": 2.5, "context.fileName": ["X.md"] },
      warnings: [],
    });
  });

  it.each(["", " \n", "\uFEFF\n", "{}"])("can be empty: %j", async (text) => {
    expect(await readOrExplain(text)).toEqual({ values: {}, warnings: [] });
  });

  it("uses the last of repeated keys, as JSON does everywhere", async () => {
    expect(await readOrExplain('{"model": "a/b", "limits": {"spend": 1}, "model": "c/d", "limits": {}}')).toEqual({
      values: { model: "c/d" },
      warnings: [],
    });
  });

  it.each([
    ["{", 'line 1, column 2: Expected "}".'],
    ['{\n  "model": "a/b"\n  "sandbox": true\n}', 'line 3, column 3: Expected ",".'],
    ['{\n  "model": tru\n}', 'line 2, column 12: Unexpected "tru".'],
    ['{"model": "a/b\n}', "line 1, column 11: Unterminated string."],
    ["\uFEFF[]", "line 1, column 1: Expected an object in { and }."],
    ["null", "line 1, column 1: Expected an object in { and }."],
    ['{"a": 1} 2', 'line 1, column 10: Unexpected "2".'],
  ])("with a syntax error is reported with line and column: %s", async (text, where) => {
    expect(await readOrExplain(text)).toBe(
      `Cannot read settings.json: ${where} Correct it there; the file was not changed.`,
    );
  });

  it.each([
    ["# mine", 'line 1, column 1: Unexpected "#".'],
    ['{"model": # }', 'line 1, column 11: Unexpected "#".'],
    ["/* mine", "line 1, column 1: Unterminated comment."],
    ["[".repeat(100_000), "line 1, column 1: Nested too deeply."],
  ])("says what is unexpected: %#", async (text, where) => {
    expect(await readOrExplain(text)).toBe(
      `Cannot read settings.json: ${where} Correct it there; the file was not changed.`,
    );
  });

  it.each([
    [
      '{"permissions": {"allow": ["Bsh(npm test)"]}}',
      'line 1, column 28: Unknown rule "Bsh(npm test)" in permissions.allow. Did you mean Bash(npm test)?',
    ],
    ['{"model": 5}', "line 1, column 11: model must be a name without spaces, not 5."],
    ['{"model": "a b"}', 'line 1, column 11: model must be a name without spaces, not "a b".'],
    ['{"sandbox": "yes"}', 'line 1, column 13: sandbox must be true or false, not "yes".'],
    [
      '{"limits": 3}',
      "line 1, column 12: limits must be an object with maxTurns, toolTime, idleTime, answerTime, spend, processes, not 3.",
    ],
    [
      '{"limits": {\n  "maxTurns": 1.5}}',
      "line 2, column 15: limits.maxTurns must be a whole number of 1 or more, not 1.5.",
    ],
    ['{"limits": {"spend": 1e999}}', "line 1, column 22: limits.spend must be a number of 0 or more, not Infinity."],
    ['{"compaction": 2}', 'line 1, column 16: compaction must be a number from 0.05 to 1 or "off", not 2.'],
    [
      '{"permissions": {"mode": "never"}}',
      'line 1, column 26: permissions.mode must be "plan" or "default" or "auto_edit" or "yolo", not "never".',
    ],
    [
      '{"permissions": {"deny": ["read_file", "rm -rf"]}}',
      'line 1, column 40: Unknown rule "rm -rf" in permissions.deny. Rules are edits, write_file, run_shell_command(npm test), server:NAME, agent:NAME, host:NAME, path:NAME, Bash(npm test:*), Edit(src/**), Read(.env), WebFetch(domain:NAME) or mcp__SERVER__TOOL.',
    ],
    [
      '{"pools": {"x": {"models": []}}}',
      "line 1, column 28: pools.x.models must be a non-empty list, each a model such as anthropic/claude-sonnet-5, not an empty list.",
    ],
    ['{"pools": {"x": {}}}', "line 1, column 17: pools.x needs models."],
    [
      '{"pools": {"a b": {}}}',
      'line 1, column 11: pools has the invalid key "a b"; a key must be a name without spaces.',
    ],
    ['{"mcpServers": {"x": {"args": []}}}', "line 1, column 22: mcpServers.x needs one of command, url, httpUrl."],
    [
      '{"providers": {"openai": {"baseUrl": "api.test"}}}',
      'line 1, column 38: providers.openai.baseUrl must be an http or https URL, not "api.test".',
    ],
    [
      '{"models": {"local/a.b": []}}',
      'line 1, column 26: models."local/a.b" must be an object with context, maxOutput, input, reasoning, price, not an empty list.',
    ],
    ['{"editor": null}', "line 1, column 12: editor must be a string, not null."],
    [
      '{"mcpServers": {"x": {"command": "a", "env": {"KEY": 1234}}}}',
      "line 1, column 54: mcpServers.x.env.KEY must be a string.",
    ],
  ])("with an invalid value is reported with the expected and the actual value: %s", async (text, problem) => {
    expect(await readOrExplain(text)).toBe(refused(problem));
  });

  it("reports all errors at once", async () => {
    expect(await readOrExplain('{"sandbox": 1,\n "model": 2}')).toBe(
      refused(
        "line 1, column 13: sandbox must be true or false, not 1.",
        "line 2, column 11: model must be a name without spaces, not 2.",
      ),
    );
  });

  it.each([
    ['{\n"modle": "a/b"}', "line 2: Unknown setting modle. Did you mean model or models?"],
    ['{"limits": {"maxTurn": 5}}', "line 1: Unknown setting limits.maxTurn. Did you mean limits.maxTurns?"],
    ['{"qqqqqqqqqqqq": 5}', "line 1: Unknown setting qqqqqqqqqqqq."],
    ['{"__proto__": {"sandbox": true}}', "line 1: Unknown setting __proto__."],
    ['{"constructor": 1}', "line 1: Unknown setting constructor."],
  ])("with an unknown name works, and suggests similar names: %s", async (text, warning) => {
    expect(await readOrExplain(text)).toEqual({ values: {}, warnings: [`settings.json, ${warning}`] });
  });
});
