import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WorkspaceFiles } from "../../tools/capabilities.ts";
import { PolicyError } from "../error.ts";
import {
  canary,
  disks,
  file,
  folder,
  link,
  listenOnSocket,
  pipe,
  createRealFixture,
  type WorkspaceFixture,
} from "./open.cases.ts";
import type { Workspace } from "./open.ts";
import { perTier, sampleCases } from "../../../test/support/tier.ts";

let fixture: WorkspaceFixture;
let workspace: Workspace;
afterEach(() => fixture.close());

const text = new TextDecoder();
const bytes = (value: string): Uint8Array => new TextEncoder().encode(value);

/** The type of the refusal, or the text that was read. */
const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => (value instanceof Uint8Array ? text.decode(value) : value),
    (error: unknown) => (error instanceof PolicyError ? error.type : error),
  );
const readText = (path: string): Promise<unknown> => outcome(workspace.bytes(path, 1000));
const writeText = async (path: string, was = "absent"): Promise<unknown> =>
  outcome(workspace.write(path, bytes("mine"), was));

/** In the quick tier the tables are complete on the simulated disk, and sampled on the real ones. */
const strideOn = (name: string): number => (name === "a simulated disk" ? 1 : 4);

describe.each(disks)("a workspace on $name", ({ name: diskName, createFixture }) => {
  const inside = (path: string): string =>
    path.replace("{WS}", fixture.ws).replace("{OUT}", fixture.out).replace("{HOME}", fixture.home);
  beforeEach(async () => {
    fixture = createFixture();
    workspace = await fixture.open();
    fixture.put(`${fixture.ws}/f.txt`, file("inside"));
    fixture.put(`${fixture.ws}/..foo/f.txt`, file("inside"));
    fixture.put(`${fixture.ws}-evil/f.txt`, file(canary));
    fixture.put(`${fixture.ws}/link_in`, link(`${fixture.ws}/f.txt`));
    fixture.put(`${fixture.ws}/beside`, link("../ws/f.txt"));
    fixture.put(`${fixture.ws}/link_leaf`, link(`${fixture.home}/.zshrc`));
    fixture.put(`${fixture.ws}/dangling`, link(`${fixture.out}/new.txt`));
    fixture.put(`${fixture.ws}/dangling_in`, link("made.txt"));
    fixture.put(`${fixture.ws}/d1`, link("d2"));
    fixture.put(`${fixture.ws}/d2`, link(fixture.out));
    fixture.put(`${fixture.ws}/up`, link(".."));
    fixture.put(`${fixture.ws}/top`, link("/"));
    fixture.put(`${fixture.ws}/round`, link("round"));
    fixture.put(`${fixture.ws}/ping`, link("pong/x"));
    fixture.put(`${fixture.ws}/pong`, link("ping/x"));
    fixture.put(`${fixture.ws}/here`, link("."));
    fixture.put(`${fixture.ws}/sly`, link(".git/hooks"));
    fixture.put(`${fixture.ws}/fifo`, pipe);
    fixture.put(`${fixture.ws}/sub`, folder);
  });

  it.each(
    sampleCases(
      [
        ["../outside.txt", "path_not_in_workspace"],
        ["{WS}-evil/f.txt", "path_not_in_workspace"],
        ["{WS}/sub/../../outside.txt", "path_not_in_workspace"],
        ["{WS}/./sub/.././f.txt", "inside"],
        ["{WS}/nothing/../f.txt", "inside"],
        ["{WS}/..foo/f.txt", "inside"],
        ["f.txt", "inside"],
        ["./f.txt", "inside"],
        ["/etc/passwd", "path_not_in_workspace"],
        ["/", "path_not_in_workspace"],
        ["~/.ssh/id_rsa", "path_not_in_workspace"],
        ["~", "path_not_in_workspace"],
        ["file:///etc/passwd", "path_not_in_workspace"],
        ["file://localhost/etc/passwd", "path_not_in_workspace"],
        ["FILE:f.txt", "path_not_in_workspace"],
        ["smb://host/f.txt", "path_not_in_workspace"],
        ["{WS}/a.txt\0.png", "policy_violation"],
        ["..\\outside.txt", "file_not_found"],
        ["%2e%2e/outside.txt", "file_not_found"],
        ["..%2foutside.txt", "file_not_found"],
        ["．．/outside.txt", "file_not_found"],
        ["{WS}/link_in", "inside"],
        ["{WS}/beside", "inside"],
        ["{WS}/here/here/link_in", "inside"],
        ["{WS}/link_leaf", "path_not_in_workspace"],
        ["{WS}/dangling", "path_not_in_workspace"],
        ["{WS}/dangling_in", "file_not_found"],
        ["{WS}/d1/secret.txt", "path_not_in_workspace"],
        ["{WS}/up/outside.txt", "path_not_in_workspace"],
        ["{WS}/up/ws/f.txt", "inside"],
        ["{WS}/top/etc/passwd", "path_not_in_workspace"],
        ["{WS}/round", "path_not_in_workspace"],
        ["{WS}/ping", "path_not_in_workspace"],
        ["/proc/self/root/etc/passwd", "path_not_in_workspace"],
        ["/proc/self/cwd/f.txt", "path_not_in_workspace"],
        ["/dev/stdin", "path_not_in_workspace"],
        ["/dev/fd/0", "path_not_in_workspace"],
        ["{WS}/fifo", "not_a_regular_file"],
        ["{WS}/sub", "target_is_directory"],
        ["{WS}", "target_is_directory"],
        ["{WS}/f.txt/x", "path_is_not_a_directory"],
        ["{WS}/nothing/x", "file_not_found"],
        [`{WS}/${"x/".repeat(20_000)}`, "policy_violation"],
      ],
      strideOn(diskName),
    ),
  )("reads %j as %j", async (path, expected) => {
    const before = fixture.outside();

    expect(await readText(inside(path))).toBe(expected);
    expect(fixture.outside()).toEqual(before);
  });

  it.each(
    sampleCases(
      [
        ["{WS}/link_leaf", "path_not_in_workspace"],
        ["{WS}/dangling", "path_not_in_workspace"],
        ["{WS}/d1/new.txt", "path_not_in_workspace"],
        ["{WS}/up/x", "path_not_in_workspace"],
        ["{WS}/fifo", "not_a_regular_file"],
        ["{WS}/sub", "target_is_directory"],
        ["{WS}", "target_is_directory"],
        ["../new.txt", "path_not_in_workspace"],
        ["{HOME}/.config/agent/trusted.json", "path_not_in_workspace"],
        ["{HOME}/.parley/trust.json", "path_not_in_workspace"],
        ["{WS}/a\nb.txt", "policy_violation"],
        ["{WS}/a\u202eb.txt", "policy_violation"],
        ["{WS}/a\u200bb/c.txt", "policy_violation"],
        ["{WS}/\u001b[2J/c.txt", "policy_violation"],
        ["{WS}/\ud800.txt", "policy_violation"],
        ["./~/x", "policy_violation"],
        ["file:x", "path_not_in_workspace"],
        ["{WS}/.git/hooks/pre-commit", "policy_violation"],
        ["{WS}/.GIT/hooks/pre-commit", "policy_violation"],
        ["{WS}/.git./config", "policy_violation"],
        ["{WS}/.git /config", "policy_violation"],
        ["{WS}/.git\u200b/config", "policy_violation"],
        ["{WS}/GIT~1/config", "policy_violation"],
        ["{WS}/.git::$INDEX_ALLOCATION/config", "policy_violation"],
        ["{WS}/sub/.git/config", "policy_violation"],
        ["{WS}/.git", "policy_violation"],
        ["{WS}/sly/pre-commit", "policy_violation"],
        ["{WS}/.parley/settings.json", "policy_violation"],
        ["{WS}/here/.Parley/settings.json", "policy_violation"],
        ["{WS}/f.txt/x", "path_is_not_a_directory"],
      ],
      strideOn(diskName),
    ),
  )("writes nothing at %j: %s", async (path, expected) => {
    const before = [fixture.outside(), fixture.inside()];

    expect(await writeText(inside(path))).toBe(expected);
    expect([fixture.outside(), fixture.inside()]).toEqual(before);
  });

  it("creates no file through a link: the path of a new file must not contain one", async () => {
    fixture.put(`${fixture.ws}/target`, folder);
    fixture.put(`${fixture.ws}/swapped`, link("target"));
    expect(await writeText("dangling_in", "absent")).toBe("file_modified_conflict");
    expect(await writeText("swapped/new.txt", "absent")).toBe("file_modified_conflict");
    expect(Object.keys(fixture.inside()).filter((path) => /made\.txt|new\.txt/.test(path))).toEqual([]);
  });

  it("writes new files with their folders, and existing files through links inside", async () => {
    const before = fixture.outside();
    await workspace.write("a/b/new.txt", bytes("one"), "absent");
    await workspace.write((await workspace.resolve("dangling_in")).path, bytes("two"), "absent");
    await workspace.write("link_in", bytes("three"), (await workspace.resolve("link_in")).identity);

    expect(await Promise.all(["a/b/new.txt", "made.txt", "f.txt"].map(readText))).toEqual(["one", "two", "three"]);
    expect(fixture.inside()).toMatchObject({
      [`${fixture.ws}/dangling_in`]: "-> made.txt",
      [`${fixture.ws}/link_in`]: `-> ${fixture.ws}/f.txt`,
    });
    expect(fixture.outside()).toEqual(before);
  });

  it("writes nothing to a file that has changed", async () => {
    const { identity } = await workspace.resolve("f.txt");
    fixture.put(`${fixture.ws}/f.txt`, file("by another"));

    expect(await writeText("f.txt", identity)).toBe("file_modified_conflict");
    expect(await writeText("f.txt", "absent")).toBe("file_modified_conflict");
    expect(await writeText("gone.txt", identity)).toBe("file_modified_conflict");
    expect(await readText("f.txt")).toBe("by another");
  });

  it("writes nothing through a link that replaced a file after approval", async () => {
    const { identity } = await workspace.resolve("f.txt");
    fixture.put(`${fixture.ws}/f.txt`, link(`${fixture.out}/secret.txt`));
    const out = await writeText("f.txt", identity);
    fixture.put(`${fixture.ws}/f.txt`, link("..foo/f.txt"));

    expect([out, await writeText("f.txt", identity)]).toEqual(["path_not_in_workspace", "file_modified_conflict"]);
    expect(fixture.outside()).toMatchObject({ [`${fixture.out}/secret.txt`]: canary });
  });

  it("follows as many links as the operating system, and no more", async () => {
    fixture.put(`${fixture.ws}/l0`, link("f.txt"));
    for (let index = 1; index <= 40; index++) fixture.put(`${fixture.ws}/l${index}`, link(`l${index - 1}`));

    expect([await readText("l39"), await readText("l40")]).toEqual(["inside", "path_not_in_workspace"]);
  });

  it("resolves a path to its canonical form", async () => {
    const places = await Promise.all(["here/link_in", "sub", ".", "new/x.txt", "fifo"].map(workspace.resolve));

    expect(
      places.map(({ path, shown, kind, size }) => ({ path: path.replace(fixture.ws, "{WS}"), shown, kind, size })),
    ).toMatchObject([
      { path: "{WS}/f.txt", shown: "f.txt", kind: "file", size: 6 },
      { path: "{WS}/sub", shown: "sub", kind: "folder" },
      { path: "{WS}", shown: ".", kind: "folder" },
      { path: "{WS}/new/x.txt", shown: "new/x.txt", kind: "absent", size: 0 },
      { path: "{WS}/fifo", shown: "fifo", kind: "other" },
    ]);
    expect(places[3]?.identity).toBe("absent");
  });

  it("lists a folder by name, links as links", async () => {
    fixture.put(`${fixture.ws}/sub/b`, file("12"));
    fixture.put(`${fixture.ws}/sub/a`, folder);
    fixture.put(`${fixture.ws}/sub/c`, link(fixture.out));
    fixture.put(`${fixture.ws}/sub/\u001b[2J`, file(""));
    const listed = (await workspace.list("here/sub")).map(({ name, kind }) => [name, kind]);

    expect(listed).toEqual([
      ["\u001b[2J", "file"],
      ["a", "folder"],
      ["b", "file"],
      ["c", "link"],
    ]);
    expect((await workspace.list("sub", 2)).map(({ name }) => name)).toEqual(["\u001b[2J", "a"]);
    expect(await Promise.all(["/", "d1", "up", "f.txt", "gone"].map((path) => outcome(workspace.list(path))))).toEqual([
      "path_not_in_workspace",
      "path_not_in_workspace",
      "path_not_in_workspace",
      "path_is_not_a_directory",
      "file_not_found",
    ]);
  });

  it("reads any part of an open file, even after it was replaced", async () => {
    const opened = await workspace.open("link_in");
    fixture.put(`${fixture.ws}/f.txt`, link(`${fixture.out}/secret.txt`));

    expect(text.decode(await opened.read(2, 3))).toBe("sid");
    expect(opened.place.shown).toBe("f.txt");
    await opened.close();
  });

  it("reads no more than the limit", async () => {
    expect(await outcome(workspace.bytes("f.txt", 5))).toBe("file_too_large");
    expect(await outcome(workspace.bytes("f.txt", 6))).toBe("inside");
  });

  it("accepts every path its roots were given by, and links from one root to another", async () => {
    fixture.put(`${fixture.ws}-two/g.txt`, file("second"));
    fixture.put(`${fixture.ws}/over`, link(`${fixture.ws}-two/g.txt`));
    fixture.put(`${fixture.ws}/across`, link("../ws-two/g.txt"));
    fixture.put(`${fixture.out}/alias`, link(fixture.ws));
    workspace = await fixture.open({ roots: [`${fixture.out}/alias`, `${fixture.ws}-two`] });

    expect(workspace.roots).toEqual([fixture.ws, `${fixture.ws}-two`]);
    expect(
      await Promise.all(
        [`${fixture.out}/alias/f.txt`, `${fixture.ws}/f.txt`, "over", "across", `${fixture.ws}-two/g.txt`].map(
          readText,
        ),
      ),
    ).toEqual(["inside", "inside", "second", "second", "second"]);
    expect(await readText(`${fixture.out}/secret.txt`)).toBe("path_not_in_workspace");
  });

  it("stays in the folder it opened when the root's path is replaced", async () => {
    fixture.remove(fixture.ws);
    fixture.put(fixture.ws, link(fixture.out));

    expect(await readText("secret.txt")).not.toBe(canary);
    expect(await writeText("new.txt")).not.toBe(undefined);
    expect(await readText(`${fixture.out}/secret.txt`)).toBe("path_not_in_workspace");
  });

  it("opens no root that does not exist", async () => {
    expect(await outcome(fixture.open({ roots: [`${fixture.ws}/gone`] }))).toBe("file_not_found");
    expect(await outcome(fixture.open({ roots: [`${fixture.ws}/f.txt`] }))).toBe("path_is_not_a_directory");
  });

  it("does not access the agent's own folder inside the workspace", async () => {
    const home = `${fixture.ws}/agent`;
    fixture.put(`${home}/settings.json`, file(canary));
    fixture.put(`${home}/kept/long.txt`, file("long"));
    fixture.put(`${fixture.ws}/sly`, link("agent/settings.json"));
    workspace = await fixture.open({ home, scratch: `${home}/kept` });
    const paths = ["agent/settings.json", "sly", "agent", "AGENT/settings.json"];

    expect(await Promise.all(paths.map(readText))).not.toContain(canary);
    expect(await readText("sly")).toBe("policy_violation");
    expect(await writeText("agent/new.json")).toBe("policy_violation");
    expect(await writeText("agent/kept/new.txt")).toBe("policy_violation");
    expect(await readText("agent/kept/long.txt")).toBe("long");
  });

  it("stores long texts once each, readable but not writable", async () => {
    const before = Object.keys(fixture.outside());
    const path = await workspace.keep("all of it", "../../output of ls");
    const again = await workspace.keep("all of it", "../../output of ls");

    expect(path.replace(fixture.home, "{HOME}")).toMatch(
      /^\{HOME\}\/\.parley\/scratch\/output-of-ls-[0-9a-f]{16}\.txt$/,
    );
    expect(again).toBe(path);
    expect(await readText(path)).toBe("all of it");
    expect(await writeText(path, (await workspace.resolve(path)).identity)).toBe("path_not_in_workspace");
    expect(Object.keys(fixture.outside()).filter((each) => !before.includes(each))).toEqual([path]);
  });

  it("stores nothing if a link replaces the scratch folder", async () => {
    fixture.put(`${fixture.home}/.parley/scratch`, link(`${fixture.home}/.ssh`));
    const whole = await outcome(fixture.open());
    fixture.put(`${fixture.home}/.parley/scratch`, folder);
    workspace = await fixture.open();
    const path = await workspace.keep("text", "name");
    fixture.put(path, link(`${fixture.home}/.zshrc`));
    await workspace.keep("text", "name");

    expect(whole).toBe("policy_violation");
    expect(fixture.outside()).toMatchObject({ [`${fixture.home}/.zshrc`]: canary, [path]: "text" });
  });
});

describe("a workspace", () => {
  it("fits the files capability of tools", async () => {
    fixture = createRealFixture();
    const files: WorkspaceFiles = await fixture.open();

    expect(files.roots).toEqual([fixture.ws]);
  });

  it("does not wait for sockets", async () => {
    fixture = createRealFixture();
    workspace = await fixture.open();
    const close = await listenOnSocket(`${fixture.ws}/sock`);

    expect(await readText("sock")).toBe("not_a_regular_file");
    await close();
  });

  it("walks thousands of nested folders", async () => {
    fixture = disks[2]?.createFixture() ?? createRealFixture();
    workspace = await fixture.open();
    const deep = "d/".repeat(perTier({ quick: 1500, all: 4000 }));
    fixture.put(`${fixture.ws}/${deep}f.txt`, file("deep"));
    fixture.put(`${fixture.ws}/${deep}up`, link("../d/".repeat(20)));

    expect(await readText(`${deep}f.txt`)).toBe("deep");
    expect(await outcome(workspace.list(`${deep}up`))).toBe("path_not_in_workspace");
  });

  it("does not access virtual file systems, even if the whole disk is the workspace", async () => {
    fixture = disks[2]?.createFixture() ?? createRealFixture();
    for (const path of ["/proc/self/environ", "/dev/sda", "/sys/x", "/etc/hosts"]) fixture.put(path, file("text"));
    fixture.put("/sly", link("../proc/self"));
    workspace = await fixture.open({ roots: ["/"] });
    const paths = ["/proc/self/environ", "dev/sda", "/sys/x", "sly/environ", "/proc", "/etc/hosts"];

    expect(await Promise.all(paths.map(readText))).toEqual([...Array<string>(5).fill("path_not_in_workspace"), "text"]);
  });

  it("refuses a path it has no permission to read", async () => {
    fixture = disks[2]?.createFixture() ?? createRealFixture();
    workspace = await fixture.open();
    fixture.put(`${fixture.ws}/shut`, { kind: "folder", mode: 0o000 });

    expect(await Promise.all([readText("shut/f.txt"), writeText("shut/f.txt")])).toEqual([
      "permission_denied",
      "permission_denied",
    ]);
  });

  it("lists only the first names of a very large folder", async () => {
    fixture = createRealFixture();
    workspace = await fixture.open();
    mkdirSync(join(fixture.ws, "many"));
    const count = perTier({ quick: 500, all: 5000 });
    for (let index = 0; index < count; index++)
      writeFileSync(join(fixture.ws, "many", `${index}`.padStart(5, "0")), "");

    expect((await workspace.list("many", 3)).map(({ name }) => name)).toEqual(["00000", "00001", "00002"]);
    expect(await workspace.list("many")).toHaveLength(count);
  });

  it("closes every handle, whatever the result", async () => {
    fixture = createRealFixture();
    workspace = await fixture.open();
    for (const [name, what] of Object.entries({
      f: file("x"),
      out: link(fixture.out),
      here: link("."),
      fifo: pipe,
      "sub/x": file("x"),
    }))
      fixture.put(`${fixture.ws}/${name}`, what);
    const opened = (): readonly string[] =>
      readdirSync("/proc/self/fd")
        .map((number) => {
          try {
            return readlinkSync(`/proc/self/fd/${number}`);
          } catch {
            return "";
          }
        })
        .filter((path) => path.startsWith(join(fixture.ws, "..")));
    for (const path of ["f", "out/x", "here/here/f", "fifo", "sub", "sub/x", "sub/x/y", "new/deep/x", "..", "a\nb"]) {
      const { identity = "absent" } = await workspace.resolve(path).catch(() => ({ identity: undefined }));
      await readText(path);
      await outcome(workspace.list(path));
      await outcome(workspace.ignored(path, { git: true, own: true }));
      await writeText(path, identity);
      await outcome(workspace.open(path).then((found) => found.close()));
    }

    expect(opened()).toEqual([fixture.ws]);
    await workspace.close();
    expect(opened()).toEqual([]);
    workspace = await fixture.open();
  });
});
