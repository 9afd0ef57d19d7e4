import { describe, expect, it } from "vitest";
import { SealStore, type SealFile } from "./seal-store.ts";

const memoryFile = (): SealFile & { text: string } => {
  const file = {
    text: "",
    read: () => file.text,
    append: (more: string) => void (file.text += more),
    replace: (all: string) => void (file.text = all),
  };
  return file;
};

describe("a seal store", () => {
  it("returns a seal to the client it was made for, also after a restart", () => {
    const file = memoryFile();
    const store = new SealStore({ now: () => 0, file });
    store.put("one", "call_a", "sealed");
    const again = new SealStore({ now: () => 0, file });
    expect([store, again].map((each) => [each.get("one", "call_a"), each.get("other", "call_a")])).toEqual([
      ["sealed", undefined],
      ["sealed", undefined],
    ]);
  });

  it("keeps the first seal of a call: sent bytes must not change", () => {
    const store = new SealStore({ now: () => 0 });
    store.put(undefined, "call_a", "first");
    store.put(undefined, "call_a", "second");
    expect(store.get(undefined, "call_a")).toBe("first");
  });

  it("drops the entries that were not used for longest, and old ones, in memory and in the file", () => {
    let now = 0;
    const file = memoryFile();
    const store = new SealStore({ now: () => now, file, maxSize: 300, maxAge: 100 });
    const held = (of: SealStore): readonly string[] => ["a", "b", "c"].filter((id) => of.get("me", id) !== undefined);
    store.put("me", "a", "x".repeat(100));
    store.put("me", "b", "x".repeat(100));
    store.get("me", "a");
    store.put("me", "c", "x".repeat(100));
    expect(held(store)).toEqual(["a", "c"]);
    for (let more = 0; more < 100; more++) store.put("me", `more${more}`, "x".repeat(100));
    expect(file.text.length).toBeLessThan(1000);
    now = 101;
    expect(store.get("me", "more99")).toBeUndefined();
    expect(held(new SealStore({ now: () => now, file, maxAge: 100 }))).toEqual([]);
  });

  it("reads a damaged file as far as it can, and works without one that can be written", () => {
    const file = { ...memoryFile(), read: () => '{"key":"[\\"me\\",\\"a\\"]","wrapped":"w","at":0}\n{"key":\n7\n' };
    expect(new SealStore({ now: () => 0, file }).get("me", "a")).toBe("w");
    const full = (): never => {
      throw new Error("ENOSPC");
    };
    const store = new SealStore({ now: () => 0, file: { read: () => "", append: full, replace: full } });
    store.put("me", "a", "w");
    expect(store.get("me", "a")).toBe("w");
  });
});
