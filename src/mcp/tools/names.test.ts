import { describe, expect, it } from "vitest";
import { ToolNames, toValidName, type ToolKey } from "./names.ts";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";

const namesOf = (keys: readonly ToolKey[], reserved: readonly string[] = []): readonly (string | undefined)[] => {
  const names = new ToolNames(reserved);
  names.assign(keys);
  return keys.map((key) => names.nameOf(key));
};

const key = (server: string, tool: string): ToolKey => ({ server, tool });

describe("a name", () => {
  it.each([
    ["get-tiny.image_2", "get-tiny.image_2"],
    ["a b/c:d", "a_b_c_d"],
    ["日本", "__"],
    ["\u001b[31mred\u202e", "__31mred_"],
    ["2fast", "_2fast"],
    ["x".repeat(63), "x".repeat(63)],
    [`${"a".repeat(28)}MIDDLE${"b".repeat(32)}`, `${"a".repeat(28)}___${"b".repeat(32)}`],
  ])("of %j is legal everywhere: %s", (given, name) => {
    expect(toValidName(given)).toBe(name);
  });
});

describe("the names of tools", () => {
  it.each<[string, readonly ToolKey[], readonly string[]]>([
    ["alone", [key("a", "list"), key("b", "read")], ["list", "read"]],
    ["shared", [key("a", "list"), key("b", "list")], ["a__list", "b__list"]],
    ["shared but for case", [key("a", "List"), key("b", "list")], ["a__List", "b__list"]],
    ["like one of ours", [key("a", "read_file")], ["a__read_file"]],
    ["legal and not, on one server", [key("a", "x_y"), key("a", "x y")], ["a__x_y", "a__x_y_17e5ba06"]],
    [
      "such that a server's name runs into the tool's",
      [key("a_b", "read_file"), key("a", "b_read_file"), key("a__b", "read_file"), key("a", "b__read_file")],
      ["a_b__read_file", "b_read_file", "a__b__read_file", "b__read_file"],
    ],
  ])("are unique: %s", (_, keys, expected) => {
    expect(namesOf(keys, ["read_file"])).toEqual(expected);
  });

  it("stay, whatever tools are added later", () => {
    const names = new ToolNames([]);
    names.assign([key("a", "list")]);
    names.assign([key("b", "list"), key("a", "list")]);
    expect([names.nameOf(key("a", "list")), names.nameOf(key("b", "list"))]).toEqual(["list", "b__list"]);
  });

  it("are valid, unique and reversible, whatever the names of servers and tools", () => {
    const word = fc.oneof(
      fc.string({ unit: "binary", minLength: 1, maxLength: 90 }),
      fc.stringMatching(/^[ab_ .-]{1,5}$/),
      fc.constantFrom(
        "read_file",
        "READ_FILE",
        "a__b",
        "a",
        "b",
        `${"x".repeat(30)}1${"y".repeat(40)}`,
        `${"x".repeat(30)}2${"y".repeat(40)}`,
      ),
    );
    const keys = fc.uniqueArray(fc.record({ server: word, tool: word }), {
      selector: ({ server, tool }) => JSON.stringify([server, tool]),
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.array(keys, { maxLength: 4 }), (batches) => {
        const names = new ToolNames(["read_file", "a__b"]);
        const seen = new Map<string, string>();
        for (const batch of batches) {
          names.assign(batch);
          const given = batch.map((each) => names.nameOf(each)!);
          const isValid = (name: string): boolean =>
            /^[A-Za-z_][A-Za-z0-9_.-]{0,62}$/.test(name) && !["read_file", "a__b"].includes(name.toLowerCase());
          expect(given.filter((name) => !isValid(name))).toEqual([]);
          expect(given.map((name) => names.keyOf(name))).toEqual(batch.map((each) => ({ ...each })));
          const ids = batch.map(({ server, tool }) => JSON.stringify([server, tool]));
          expect(ids.map((id, index) => seen.get(id) ?? given[index])).toEqual(given);
          for (const [index, id] of ids.entries()) seen.set(id, given[index]!);
        }
        expect(new Set([...seen.values()].map((name) => name.toLowerCase())).size).toBe(seen.size);
      }),
      { numRuns: runsPerTier(2000) },
    );
  });
});
