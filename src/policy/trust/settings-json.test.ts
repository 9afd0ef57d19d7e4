import { afterEach, describe, expect, it, vi } from "vitest";
import { parseLocatedSettings, parseSettings, settingsText } from "./settings-json.ts";

const textOf = async (text: string): Promise<string> => {
  const parsed = await parseSettings(text);
  return parsed.ok ? settingsText(parsed.node) : parsed.problem;
};

describe("parsing settings", () => {
  afterEach(() => vi.doUnmock("jsonc-parser"));

  it("does not load the JSONC parser for plain JSON", async () => {
    vi.doMock("jsonc-parser", () => {
      throw new Error("It was loaded.");
    });
    expect(await textOf('{"a": [1, true, null, "x: \\" y"], "b": {"c": {}}}')).toBe(
      '{"a": [1, true, null, "x: \\" y"], "b": {"c": {}}}',
    );
    await expect(textOf('{"a": 1,}')).rejects.toThrow();
  });

  it("keeps repeated keys and the order of keys, which JSON.parse would lose", async () => {
    expect(await textOf('{"a": 1, "a": 2}')).toBe('{"a": 1, "a": 2}');
    expect(await textOf('{"b": 1, "2": 2, "1": 3}')).toBe('{"b": 1, "2": 2, "1": 3}');
  });

  it("returns the position of every node", async () => {
    const text = '\uFEFF{ // x\n"a": [1],\n}';
    const parsed = await parseLocatedSettings(text);
    if (!parsed.ok || parsed.node.type !== "object") throw new Error("not an object");
    const [member] = parsed.node.members;
    expect(text.slice(member?.start, member?.end)).toBe('"a": [1]');
    expect(text.slice(member?.value.start, member?.value.end)).toBe("[1]");
  });
});
