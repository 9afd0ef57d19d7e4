import { describe, expect, it } from "vitest";
import { DiskError, type Folder } from "../../world/disk.ts";
import { walkPath, type WorkspaceRoot } from "./walk.ts";

/** A folder in which opening `inner` fails `misses` times with this code before it succeeds. */
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
  it("enters a folder that is created during the walk", async () => {
    const spot = await walkPath([rootOf(appearing(2, "ENOENT"))], "/ws/new/file.txt");
    expect([spot.names, spot.name, spot.entry, spot.missing]).toEqual([["new"], "file.txt", undefined, []]);
  });

  it.each([
    ["was not a folder when opened", 1, "ENOTDIR"],
    ["was a link when opened", 1, "ELOOP"],
    ["appears and disappears endlessly", Number.POSITIVE_INFINITY, "ENOENT"],
  ])("does not enter a folder that %s", async (_, misses, code) => {
    await expect(walkPath([rootOf(appearing(misses, code))], "/ws/new/file.txt")).rejects.toMatchObject({ code });
  });
});
