import { describe, expect, it } from "vitest";
import { simulatedDisk } from "../../world/simulated/disk.ts";
import { checkProtection } from "../workspace/protected-paths.ts";
import { listSecretPathsInHome } from "./paths.ts";
import { openWorkspace } from "../workspace/open.ts";

describe("a home folder opened as a workspace", () => {
  it("does not include paths with keys", async () => {
    const disk = simulatedDisk();
    for (const path of [".ssh/id_rsa", ".aws/credentials", ".netrc", ".config/gcloud/x", "notes.txt"])
      disk.seed(`/home/me/${path}`, { kind: "file", text: "text" });
    const files = await openWorkspace({
      disk,
      roots: ["/home/me"],
      home: "/home/me/.parley",
      scratch: "/home/me/.parley/scratch",
      secrets: listSecretPathsInHome("/home/me"),
    });
    for (const path of [".ssh/id_rsa", ".ssh", ".aws/credentials", ".netrc", ".config/gcloud/x"])
      await expect(files.resolve(path)).rejects.toThrow(
        "can contain the user's keys and is not part of the workspace.",
      );
    expect((await files.resolve("notes.txt")).kind).toBe("file");
    const judge = await files.ignoring("/home/me", { git: false, own: true });
    expect([judge(".ssh", true), judge("notes.txt", false)]).toEqual(["Parley (it can contain keys)", undefined]);
  });
});

describe("files with instructions for agents", () => {
  it.each(["AGENTS.md", "CLAUDE.md", "sub/GEMINI.md", ".cursorrules", ".github/copilot-instructions.md", "Agents.MD"])(
    "are asked about in every mode: %s",
    (path) => {
      expect(checkProtection(`/p/${path}`, { roots: ["/p"], ownFolders: ["/h"] }).level).toBe("ask");
    },
  );
});
