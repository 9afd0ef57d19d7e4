import { describe, expect, it } from "vitest";
import type { Folder } from "../disk.ts";
import { simulatedDisk, type SimulatedDisk } from "./disk.ts";
import { simulatedWorld } from "./world.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const begun = async (): Promise<{ disk: SimulatedDisk; folder: Folder }> => {
  const disk = simulatedDisk();
  disk.seed("/f", { kind: "folder" });
  return { disk, folder: await disk.openFolder("/f") };
};

/** Every distinct state left by many power losses. */
const statesOf = (disk: SimulatedDisk): ReadonlySet<string> => {
  const { random } = simulatedWorld({ seed: 5 });
  return new Set(Array.from({ length: 2000 }, () => JSON.stringify(disk.crash(random).snapshot())));
};
const state = (tree: object): string => JSON.stringify(tree);

describe("a power loss on a simulated disk", () => {
  it("keeps flushed bytes of a file whose name was flushed", async () => {
    const { disk, folder } = await begun();
    const log = await folder.openAppend("log");
    await log.append(bytes("abc"));
    await log.flush();
    expect(statesOf(disk)).toEqual(new Set([state({ "/f/": "" }), state({ "/f/log": "abc" })]));
    await folder.flush();

    expect(statesOf(disk)).toEqual(new Set([state({ "/f/log": "abc" })]));
  });

  it("may leave any part of unflushed bytes: shorter, with zeros, or a later byte without an earlier one", async () => {
    const { disk, folder } = await begun();
    const log = await folder.openAppend("log");
    await folder.flush();
    await log.append(bytes("a"));
    await log.flush();
    await log.append(bytes("bc"));
    const left = ["a", "ab", "abc", "a\0", "a\0\0", "ab\0", "a\0c"];

    expect([...statesOf(disk)].toSorted()).toEqual(left.map((text) => state({ "/f/log": text })).toSorted());
  });

  it("keeps an atomically written file, and any of the names created and removed since", async () => {
    const { disk, folder } = await begun();
    await folder.writeFile("one", bytes("1"));
    await folder.writeFile("two", bytes("2"));
    await folder.remove("one");
    await folder.makeFolder("three");

    expect(statesOf(disk)).toEqual(
      new Set([
        state({ "/f/one": "1", "/f/two": "2" }),
        state({ "/f/two": "2" }),
        state({ "/f/one": "1", "/f/two": "2", "/f/three/": "" }),
        state({ "/f/two": "2", "/f/three/": "" }),
      ]),
    );
  });

  it("returns an independent copy and does not change the original", async () => {
    const { disk, folder } = await begun();
    const log = await folder.openAppend("log");
    await log.append(bytes("abc"));
    const left = disk.crash(() => 0.99);
    await log.append(bytes("d"));
    await (await left.openFolder("/f")).writeFile("log", bytes("x"));

    expect([disk.snapshot(), left.snapshot()]).toEqual([{ "/f/log": "abcd" }, { "/f/log": "x" }]);
  });

  it("is not the only fault: a change may fail, and an append halfway", async () => {
    const seen: string[] = [];
    const disk = simulatedDisk({
      before: ({ kind, path }) => {
        seen.push(`${kind} ${path}`);
        return kind === "append" ? { code: "ENOSPC", written: 1 } : undefined;
      },
    });
    disk.seed("/f", { kind: "folder" });
    const log = await (await disk.openFolder("/f")).openAppend("log");

    await expect(log.append(bytes("abc"))).rejects.toMatchObject({ code: "ENOSPC" });
    expect({ tree: disk.snapshot(), seen }).toEqual({
      tree: { "/f/log": "a" },
      seen: ["create /f/log", "append /f/log"],
    });
  });
});
