import { describe, expect, it } from "vitest";
import { readSettings } from "../file/read.ts";
import { SettingsError } from "../error.ts";

const said = (text: string) => {
  try {
    return readSettings(text, "settings.json");
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
};

const refused = (...problems: readonly string[]): string =>
  [
    "settings.json cannot be used:",
    ...problems.map((problem) => `  ${problem}`),
    "Change it there, or with parley config set and unset.",
  ].join("\n");

describe("a person's settings file", () => {
  it("may be written by hand, with comments, a byte order mark and commas at the end", () => {
    const text =
      '\uFEFF// mine\n{ "model": "a/b", /* cheap */ "limits": { "spend": 2.5, }, "context": { "fileName": "X.md" }, }';
    expect(said(text)).toEqual({
      values: { model: "a/b", "limits.spend": 2.5, "context.fileName": ["X.md"] },
      warnings: [],
    });
  });

  it.each(["", " \n", "\uFEFF\n", "{}"])("may say nothing: %j", (text) => {
    expect(said(text)).toEqual({ values: {}, warnings: [] });
  });

  it("counts the last of two equal keys, as JSON does everywhere", () => {
    expect(said('{"model": "a/b", "limits": {"spend": 1}, "model": "c/d", "limits": {}}')).toEqual({
      values: { model: "c/d" },
      warnings: [],
    });
  });

  it.each([
    ["{", "line 1, column 2, a key in double quotes is missing"],
    ['{\n  "model": "a/b"\n  "sandbox": true\n}', "line 3, column 3, a comma or } is missing"],
    ['{\n  "model": tru\n}', "line 2, column 12, tru is not JSON"],
    ['{"model": "a/b\n}', "line 1, column 11, a text does not end"],
    ["\uFEFF[]", "line 1, column 1, there must be an object in { and }"],
    ["null", "line 1, column 1, there must be an object in { and }"],
    ['{"a": 1} 2', "line 1, column 10, something follows after its end"],
  ])("that is not JSON says where, and is left alone: %s", (text, where) => {
    expect(said(text)).toBe(`settings.json cannot be read: ${where}. Mend it there; it was left as it is.`);
  });

  it.each([
    ['{"model": 5}', "line 1, column 11: model must be a name without spaces; it is 5."],
    ['{"model": "a b"}', 'line 1, column 11: model must be a name without spaces; it is the text "a b".'],
    ['{"sandbox": "yes"}', 'line 1, column 13: sandbox must be true or false; it is the text "yes".'],
    [
      '{"limits": 3}',
      "line 1, column 12: limits must be an object with maxTurns, toolTime, idleTime, answerTime, spend, processes; it is 3.",
    ],
    [
      '{"limits": {\n  "maxTurns": 1.5}}',
      "line 2, column 15: limits.maxTurns must be a whole number of 1 or more; it is 1.5.",
    ],
    ['{"limits": {"spend": 1e999}}', "line 1, column 22: limits.spend must be a number of 0 or more; it is Infinity."],
    ['{"compaction": 2}', 'line 1, column 16: compaction must be a number from 0.05 to 1 or "off"; it is 2.'],
    [
      '{"permissions": {"mode": "never"}}',
      'line 1, column 26: permissions.mode must be "plan" or "default" or "auto_edit" or "yolo"; it is the text "never".',
    ],
    [
      '{"permissions": {"deny": ["read_file", "rm -rf"]}}',
      'line 1, column 40: permissions.deny.1 must be a rule such as write_file, run_shell_command(npm test), server:NAME, host:NAME or path:NAME; it is the text "rm -rf".',
    ],
    [
      '{"pools": {"x": {"models": []}}}',
      "line 1, column 28: pools.x.models must be a filled list, each a model such as anthropic/claude-sonnet-5; it is an empty list.",
    ],
    ['{"pools": {"x": {}}}', "line 1, column 17: pools.x needs models."],
    ['{"pools": {"a b": {}}}', 'line 1, column 11: pools holds the name "a b"; each must be a name without spaces.'],
    ['{"mcpServers": {"x": {"args": []}}}', "line 1, column 22: mcpServers.x needs one of command, url, httpUrl."],
    [
      '{"providers": {"openai": {"baseUrl": "api.test"}}}',
      'line 1, column 38: providers.openai.baseUrl must be an http or https address; it is the text "api.test".',
    ],
    [
      '{"models": {"local/a.b": []}}',
      'line 1, column 26: models."local/a.b" must be an object with context, maxOutput, input, reasoning, price; it is an empty list.',
    ],
    ['{"editor": null}', "line 1, column 12: editor must be a text; it is null."],
    [
      '{"mcpServers": {"x": {"command": "a", "env": {"KEY": 1234}}}}',
      "line 1, column 54: mcpServers.x.env.KEY must be a text.",
    ],
  ])("with a value of the wrong kind says which, what is there and what should be: %s", (text, problem) => {
    expect(said(text)).toBe(refused(problem));
  });

  it("tells all that is wrong at once", () => {
    expect(said('{"sandbox": 1,\n "model": 2}')).toBe(
      refused(
        "line 1, column 13: sandbox must be true or false; it is 1.",
        "line 2, column 11: model must be a name without spaces; it is 2.",
      ),
    );
  });

  it.each([
    ['{\n"modle": "a/b"}', "line 2: There is no setting modle. Did you mean model or models?"],
    ['{"limits": {"maxTurn": 5}}', "line 1: There is no setting limits.maxTurn. Did you mean limits.maxTurns?"],
    ['{"qqqqqqqqqqqq": 5}', "line 1: There is no setting qqqqqqqqqqqq."],
    ['{"__proto__": {"sandbox": true}}', "line 1: There is no setting __proto__."],
    ['{"constructor": 1}', "line 1: There is no setting constructor."],
  ])("with a name nobody knows works, and tells the nearest: %s", (text, warning) => {
    expect(said(text)).toEqual({ values: {}, warnings: [`settings.json, ${warning}`] });
  });
});
