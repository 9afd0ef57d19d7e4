import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { checkValue } from "./check.ts";
import { createSettingsSchema } from "./json-schema.ts";
import { settingPaths, settingsTable, type Setting } from "./table.ts";
import type { SettingPath } from "./values.ts";
import { createFileShape } from "./file-shape.ts";
import { fc } from "../../../test/support/fast-check.ts";

const rows = settingPaths.map((path): readonly [SettingPath, Setting] => [path, settingsTable[path]]);

/** A file with one value in it. */
const fileWith = (path: string, value: unknown): unknown =>
  path.split(".").reduceRight<unknown>((inside, name) => ({ [name]: inside }), value);

// The schema has words of its own for editors, and says what a draft may hold in more than one way.
const accepts = new Ajv({ strict: false }).compile(createSettingsSchema());

describe("the table of settings", () => {
  it.each(rows)(
    "shows a value of %s that fits, and a default that fits",
    (path, { shape, example, default: usual }) => {
      expect(checkValue(shape, example, [path])).toEqual([]);
      expect(usual === undefined ? [] : checkValue(shape, usual, [path])).toEqual([]);
      expect(example).not.toEqual(usual);
    },
  );

  it.each(rows)("describes %s in a sentence", (_, { description }) => {
    expect(description).toMatch(/^[A-Z].*\.$/);
  });

  it("uses every flag and variable for one setting only", () => {
    const names = rows.flatMap(([, { flag, variables = [], fallbacks = [] }]) => [
      ...(flag === undefined ? [] : [`--${flag}`]),
      ...variables,
      ...fallbacks,
    ]);
    expect(new Set(names).size).toBe(names.length);
  });

  it("lets a project restrict permissions, and ask for servers and hooks", () => {
    expect(rows.flatMap(([path, { project }]) => (project === undefined ? [] : [[path, project]]))).toEqual([
      ["permissions.mode", "tighten"],
      ["permissions.deny", "tighten"],
      ["sandbox", "tighten"],
      ["sandboxNetwork", "tighten"],
      ["mcpServers", "ask"],
      ["hooks", "ask"],
    ]);
  });
});

describe("the JSON schema", () => {
  it.each(rows)("accepts the example of %s", (path, { example }) => {
    expect(accepts(fileWith(path, example))).toBe(true);
  });

  it("rejects exactly what validation rejects", () => {
    const texts = [
      "stub",
      "plan",
      "on",
      "off",
      "a/b",
      "a b",
      "",
      "http://a.test",
      "ftp://a",
      "read_file",
      "stdio",
      "image",
    ];
    const scalar = fc.constantFrom<unknown>(...texts, 0, 0.5, 1, -1, 1.5, 100, true, false, null);
    const name = fc.constantFrom(
      "a",
      "a/b",
      "command",
      "url",
      "models",
      "strategy",
      "context",
      "price",
      "baseUrl",
      "zzz",
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        scalar,
        fc.array(tie("value"), { maxLength: 2 }),
        fc.array(fc.tuple(name, tie("value")), { maxLength: 3 }).map((members) => Object.fromEntries(members)),
      ),
    }));
    fc.assert(
      fc.property(fc.constantFrom(...settingPaths), value, (path, given) => {
        const file = fileWith(path, given);
        expect(accepts(file)).toBe(checkValue(createFileShape(), file, []).length === 0);
      }),
      { numRuns: 5000 },
    );
  });

  it("has no setting that is not in the table", () => {
    expect(accepts({ $schema: "./settings.schema.json" })).toBe(true);
    expect(accepts({ modell: "a/b" })).toBe(false);
    expect(accepts({ limits: { maxTurn: 1 } })).toBe(false);
  });
});
