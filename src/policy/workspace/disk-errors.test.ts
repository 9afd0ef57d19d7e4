import { expect, it } from "vitest";
import { simulatedDisk } from "../../world/simulated/disk.ts";
import { openWorkspace } from "./open.ts";

it.each(["ENOSPC", "EDQUOT"])("a write to a full disk reports it: %s", async (code) => {
  const disk = simulatedDisk({ now: () => 0, before: ({ kind }) => (kind === "put" ? { code } : undefined) });
  disk.seed("/ws", { kind: "folder" });
  const workspace = await openWorkspace({ disk, roots: ["/ws"], home: "/home/own", scratch: "/home/own/scratch" });

  await expect(workspace.write("a.txt", Buffer.from("a"), "absent")).rejects.toMatchObject({
    type: "no_space_left",
    message: expect.stringMatching(/^"a.txt" cannot be written: no space left on the disk/),
  });
  await workspace.close();
});
