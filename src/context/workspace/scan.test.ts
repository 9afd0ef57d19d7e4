import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { simulatedDisk } from "../../world/simulated/disk.ts";
import { openContextFixture, type ContextFixture } from "../fixture.cases.ts";
import { scanWorkspace } from "./scan.ts";
import { formatTree, type TreeLimits } from "./tree.ts";

let ground: ContextFixture;

beforeEach(async () => {
  ground = await openContextFixture();
});

afterEach(() => ground.close());

const tree = async (bounds: TreeLimits & { readonly folders?: number } = {}, folder = ground.root): Promise<string> => {
  const { world, files } = ground;
  const { folders, ...shown } = bounds;
  const options = { disk: world.disk, files, folder };
  return formatTree(await scanWorkspace(folders === undefined ? options : { ...options, maxFolders: folders }), shown);
};

const put = (...paths: readonly string[]): void => {
  for (const path of paths) ground.put(`home/project/${path}`);
};

describe("a look around", () => {
  it("shows folders, then files, by name", async () => {
    put("b.ts", "a.ts", "src/z.ts", "src/deep/er/x.ts", "docs/a.md", ".hidden");
    mkdirSync(join(ground.root, "empty"));
    expect(await tree()).toBe(
      [
        "docs/",
        "  a.md",
        "empty/",
        "src/",
        "  deep/",
        "    er/",
        "      x.ts",
        "  z.ts",
        ".hidden",
        "a.ts",
        "b.ts",
      ].join("\n"),
    );
  });

  it("leaves out what ignore files name, also in the folders they stand in", async () => {
    ground.put("home/project/.gitignore", "*.log\nbuild/\n/only-here\n");
    ground.put("home/project/.parleyignore", "secret*\n");
    ground.put("home/project/sub/.gitignore", "!keep.log\nlocal/\n/top\n");
    put("a.log", "build/x", "only-here", "secret.txt", "sub/only-here", "sub/keep.log", "sub/b.log", "sub/local/x");
    put("sub/top", "sub/in/top", "sub/in/keep.log", "sub/in/local/x", "sub/in/secret.md");
    expect(await tree()).toBe(
      [
        "sub/",
        "  in/",
        "    keep.log",
        "    top",
        "  .gitignore",
        "  keep.log",
        "  only-here",
        ".gitignore",
        ".parleyignore",
      ].join("\n"),
    );
  });

  it("names what other programs fill, and does not look into it; nor into links, nor the agent's own folder", async () => {
    put("node_modules/x/index.js", "src/venv/bin/python");
    mkdirSync(join(ground.root, ".git"));
    ground.link("home/project/out", "../../out");
    expect(await tree()).toBe(["node_modules/ ...", "src/", "  venv/ ...", "out"].join("\n"));
    expect(await tree({}, join(ground.base, "home")).catch(String)).toContain("outside");
    await ground.close();
    ground = await openContextFixture({ roots: ["home"] });
    ground.put("home/.parley/trust.json");
    ground.put("home/.parleyx/a");
    expect(await tree()).toBe([".parleyx/", "  a"].join("\n"));
  });

  it("ends at a number of names, of names in a folder, and of folders, and marks where", async () => {
    put("a/1", "a/2", "a/3", "b/1", "b/c/1", "x");
    expect(await tree({ maxNames: 5 })).toBe(["a/", "  1", "  2", "  ...", "b/ ...", "x"].join("\n"));
    expect(await tree({ maxNames: 2 })).toBe(["a/ ...", "b/ ...", "..."].join("\n"));
    expect(await tree({ maxNamesPerFolder: 2 })).toBe(
      ["a/", "  1", "  2", "  ...", "b/", "  c/", "    1", "  1", "..."].join("\n"),
    );
    expect(await tree({ folders: 1 })).toBe(["a/ ...", "b/ ...", "x"].join("\n"));
    expect(await tree({ folders: 2 })).toBe(["a/", "  1", "  2", "  3", "b/ ...", "x"].join("\n"));
    expect(await tree({ folders: 3 })).toBe(["a/", "  1", "  2", "  3", "b/", "  c/ ...", "  1", "x"].join("\n"));
  });

  it("writes names that could pass for others so that they cannot", async () => {
    put("a\nb", "c\u202ed");
    expect(await tree()).toBe(['"a\\nb"', '"c\\u{202e}d"'].join("\n"));
  });

  it("says of a folder that cannot be listed that there may be more", async () => {
    const disk = simulatedDisk();
    disk.seed("/w/a/x", { kind: "file", text: "" });
    disk.seed("/w/shut", { kind: "folder", mode: 0 });
    const files = { ignoring: () => Promise.resolve(() => undefined) };
    expect(formatTree(await scanWorkspace({ disk, files, folder: "/w" }))).toBe("a/\n  x\nshut/ ...");
    expect(formatTree(await scanWorkspace({ disk, files, folder: "/none" }))).toBe("");
  });
});
