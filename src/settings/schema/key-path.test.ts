import { describe, expect, it } from "vitest";
import { describeShape } from "./shape.ts";
import { parseKeyPath, formatKeyPath } from "./key-path.ts";
import { findSetting } from "./find-setting.ts";
import { settingsTable } from "./table.ts";
import { parseCliValue } from "../load/parse-cli-value.ts";
import { redactSecrets } from "./redact-secrets.ts";
import { fc } from "../../../test/support/fast-check.ts";

describe("a key path", () => {
  it("can be formatted and parsed again, whatever its keys", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" }), { minLength: 1 }), (path) => {
        expect(parseKeyPath(formatKeyPath(path))).toEqual(path);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ["model", ["model"]],
    ['models."local/a.b".context', ["models", "local/a.b", "context"]],
    ["mcpServers.my-server.env.A_B", ["mcpServers", "my-server", "env", "A_B"]],
    ["", undefined],
    ["a.", undefined],
    [".a", undefined],
    ["a..b", undefined],
    ['a"b', undefined],
    ['"a"b', undefined],
    ['"a', undefined],
    ["a b", undefined],
  ])("%j is %j", (text, path) => {
    expect(parseKeyPath(text)).toEqual(path);
  });

  it("leads to the shape of a value", () => {
    expect(
      ["permissions", "mcpServers.x.timeout", "pools.p", "limits.spend"].map((name) =>
        describeShape(findSetting(name).shape),
      ),
    ).toEqual([
      "an object with mode, allow, ask, deny, only",
      "a number of 1 or more",
      "an object with models, strategy, cooldown",
      "a number of 0 or more",
    ]);
  });
});

describe("a command-line value", () => {
  it.each([
    ["model", "5", "5"],
    ["editor", "code --wait", "code --wait"],
    ["sandbox", "on", true],
    ["sandbox", "off", false],
    ["sandbox", "true", true],
    ["sandbox", "maybe", "maybe"],
    ["limits.spend", "2.5", 2.5],
    ["limits.spend", "two", "two"],
    ["compaction", "off", "off"],
    ["compaction", "0.5", 0.5],
    ["compaction", "never", "never"],
    ["permissions.deny", "a, run_shell_command(x,y),", ["a", "run_shell_command(x,y)"]],
    ["permissions.deny", '["a,b"]', ["a,b"]],
    ["permissions.deny", "", []],
    ["pools.x", '{"models": ["a/b",],}', { models: ["a/b"] }],
  ])("for %s, %j means %j", async (name, word, value) => {
    expect(await parseCliValue(findSetting(name).shape, word)).toEqual(value);
  });
});

describe("printing settings", () => {
  it("redacts variables and headers of a server, unless they refer to an environment variable", () => {
    const servers = {
      a: { command: "x", env: { KEY: "12345", FROM: "$MY_KEY", OTHER: "${MY_KEY}", MIXED: "x$MY_KEY" }, more: "?" },
      b: { url: "http://b.test", headers: { Authorization: "Bearer 1" } },
      c: 5,
    };
    expect(redactSecrets(settingsTable.mcpServers.shape, servers)).toEqual({
      a: {
        command: "x",
        env: { KEY: "[secret]", FROM: "$MY_KEY", OTHER: "${MY_KEY}", MIXED: "[secret]" },
        more: "?",
      },
      b: { url: "http://b.test", headers: { Authorization: "[secret]" } },
      c: 5,
    });
  });
});
