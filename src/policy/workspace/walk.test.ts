import { describe, expect, it } from "vitest";
import { DiskError, type Folder } from "../../world/disk.ts";
import { walkPath, type WorkspaceRoot } from "./walk.ts";

/** A folder in which `inner` appears after it was opened `misses` times in vain, as what it is seen as. */
const appearing = (misses: number, code: string): Folder => {
  let tries = 0;
  const entry = { kind: "folder", size: 0, modified: 0, mode: 0o755, identity: "1" } as const;
  const inner = { path: "/ws/new", stat: async () => undefined, close: async () => undefined } as unknown as Folder;
  return {
    path: "/ws",
    openFolder: async () => {
      tries += 1;
      if (tries > misses) return inner;
      throw new DiskError(code, "Could not open it");
    },
    stat: async () => entry,
  } as unknown as Folder;
};

const rootOf = (folder: Folder): WorkspaceRoot => ({ path: "/ws", requestedPath: "/ws", spellings: [["ws"]], folder });

describe("a walk", () => {
  it("goes into a folder that is made while it looks", async () => {
    const spot = await walkPath([rootOf(appearing(2, "ENOENT"))], "/ws/new/file.txt");
    expect([spot.names, spot.name, spot.entry, spot.missing]).toEqual([["new"], "file.txt", undefined, []]);
  });

  it.each([
    ["was something else a moment ago", 1, "ENOTDIR"],
    ["was a link a moment ago", 1, "ELOOP"],
    ["comes and goes without end", Number.POSITIVE_INFINITY, "ENOENT"],
  ])("goes into none that %s", async (_, misses, code) => {
    await expect(walkPath([rootOf(appearing(misses, code))], "/ws/new/file.txt")).rejects.toMatchObject({ code });
  });
});
