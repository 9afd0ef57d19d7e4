import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realWorld } from "../../world/real/world.ts";
import { createCommandJudge } from "./resolve.ts";
import { checkProtection } from "../workspace/protected-paths.ts";
import { openWorkspace } from "../workspace/open.ts";

let base = "";
let root = "";

beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "judging-")));
  root = join(base, "work");
  await mkdir(join(root, "src"), { recursive: true });
  await mkdir(join(base, "home"));
  await mkdir(join(root, ".git", "objects"), { recursive: true });
  await mkdir(join(root, ".git", "refs"));
  await writeFile(join(root, ".git", "HEAD"), "ref: refs/heads/main\n");
  await mkdir(join(root, "vendor", ".git"), { recursive: true });
  await writeFile(join(root, ".git", "config"), "[core]\n\tbare = false\n");
  await writeFile(join(root, "vendor", ".git", "config"), "[core]\n\tfsmonitor = touch x\n");
  await writeFile(join(root, "src", "a.ts"), "a\n");
  await writeFile(join(base, "secret"), "secret\n");
  await mkdir(join(root, "bin"));
  await writeFile(join(root, "bin", "ls"), "#!/bin/sh\n", { mode: 0o755 });
  await symlink(join(base, "secret"), join(root, "out"));
  await symlink(base, join(root, "up"));
  await symlink("src/a.ts", join(root, "in"));
  await symlink(join(base, "absent"), join(root, "dangling"));
  await symlink(".git", join(root, "disguised"));
});

afterAll(() => rm(base, { recursive: true, force: true }));

const judge = async (text: string, folder = ".", mode: "default" | "yolo" = "default", path = "/usr/bin:/bin") => {
  const { disk, processes } = realWorld({});
  const home = join(base, "home");
  const agentHome = join(home, ".parley");
  const files = await openWorkspace({ disk, roots: [root], home: agentHome, scratch: join(base, "scratch") });
  const world = { disk, processes, files, ownFolders: [agentHome], roots: [root], home, env: { PATH: path } };
  const command = createCommandJudge({
    ...world,
    protection: (at) => checkProtection(at, { roots: [root], ownFolders: [join(home, ".parley")] }),
  });
  const { decision } = await command({ text, folder: join(root, folder) }, { allow: [], deny: [], mode });
  await files.close();
  return decision;
};

describe("a command line on a real disk", () => {
  it.each(["ls", "cat src/a.ts", "cat in", "cat absent", "git status", "cd src && cat a.ts", "cat src/new/absent"])(
    "runs unasked where it only reads the workspace: %s",
    async (text) => {
      expect(await judge(text)).toBe("allow");
    },
  );

  it.each([
    "cat out",
    "cat up/secret",
    "ls up",
    "cd up && ls",
    "cat dangling",
    "grep x out",
    "cd vendor && git status",
  ])("needs approval if a link leads out, or a nested repository may run programs: %s", async (text) => {
    expect(await judge(text)).toBe("ask");
  });

  it("needs approval if it reads what an ignore file of a folder below hides from models", async () => {
    const hidden = join(root, "src/hidden");
    await mkdir(hidden);
    await writeFile(join(hidden, "k"), "k");
    expect(await Promise.all(["cat src/hidden/k", "grep -r k src"].map((text) => judge(text)))).toEqual([
      "allow",
      "allow",
    ]);
    await writeFile(join(root, "src/.aiexclude"), "/hidden/\n");
    expect(await Promise.all(["cat src/hidden/k", "grep -r k src"].map((text) => judge(text)))).toEqual(["ask", "ask"]);
    await rm(join(root, "src/.aiexclude"));
  });

  it("is resolved from the folder it would run in", async () => {
    expect(await judge("cat a.ts", "src")).toBe("allow");
    expect(await judge("cat ../src/a.ts", "src")).toBe("allow");
    expect(await judge("cat ../../secret", "src")).toBe("ask");
    expect(await judge("git status", "vendor")).toBe("ask");
  });

  it("needs approval if the search path leads to a program in the workspace", async () => {
    expect(await judge("ls", ".", "default", `${join(root, "bin")}:/usr/bin:/bin`)).toBe("ask");
  });

  it("does not write through links in yolo mode", async () => {
    expect(await judge("echo x > src/new", ".", "yolo")).toBe("allow");
    expect(await judge("echo x > in", ".", "yolo")).toBe("allow");
    expect(await judge("echo x > out", ".", "yolo")).toBe("deny");
    expect(await judge("echo x > up/new", ".", "yolo")).toBe("deny");
    expect(await judge("echo x > dangling", ".", "yolo")).toBe("deny");
    expect(await judge("echo x > disguised/config", ".", "yolo")).toBe("deny");
  });
});
