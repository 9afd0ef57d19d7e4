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

let grounds: WorkspaceFixture;
let workspace: Workspace;
afterEach(() => grounds.close());

const text = new TextDecoder();
const bytes = (value: string): Uint8Array => new TextEncoder().encode(value);

/** What came of it: the type of the refusal, or what was read. */
const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => (value instanceof Uint8Array ? text.decode(value) : value),
    (error: unknown) => (error instanceof PolicyError ? error.type : error),
  );
const readText = (path: string): Promise<unknown> => outcome(workspace.bytes(path, 1000));
const writeText = async (path: string, was = "absent"): Promise<unknown> =>
  outcome(workspace.write(path, bytes("mine"), was));

describe.each(disks)("a workspace on $name", ({ grounds: newGrounds }) => {
  const inside = (path: string): string =>
    path.replace("{WS}", grounds.ws).replace("{OUT}", grounds.out).replace("{HOME}", grounds.home);
  beforeEach(async () => {
    grounds = newGrounds();
    workspace = await grounds.open();
    grounds.put(`${grounds.ws}/f.txt`, file("inside"));
    grounds.put(`${grounds.ws}/..foo/f.txt`, file("inside"));
    grounds.put(`${grounds.ws}-evil/f.txt`, file(canary));
    grounds.put(`${grounds.ws}/link_in`, link(`${grounds.ws}/f.txt`));
    grounds.put(`${grounds.ws}/beside`, link("../ws/f.txt"));
    grounds.put(`${grounds.ws}/link_leaf`, link(`${grounds.home}/.zshrc`));
    grounds.put(`${grounds.ws}/dangling`, link(`${grounds.out}/new.txt`));
    grounds.put(`${grounds.ws}/dangling_in`, link("made.txt"));
    grounds.put(`${grounds.ws}/d1`, link("d2"));
    grounds.put(`${grounds.ws}/d2`, link(grounds.out));
    grounds.put(`${grounds.ws}/up`, link(".."));
    grounds.put(`${grounds.ws}/top`, link("/"));
    grounds.put(`${grounds.ws}/round`, link("round"));
    grounds.put(`${grounds.ws}/ping`, link("pong/x"));
    grounds.put(`${grounds.ws}/pong`, link("ping/x"));
    grounds.put(`${grounds.ws}/here`, link("."));
    grounds.put(`${grounds.ws}/sly`, link(".git/hooks"));
    grounds.put(`${grounds.ws}/fifo`, pipe);
    grounds.put(`${grounds.ws}/sub`, folder);
  });

  it.each([
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
  ])("reads %j as %j", async (path, expected) => {
    const before = grounds.outside();

    expect(await readText(inside(path))).toBe(expected);
    expect(grounds.outside()).toEqual(before);
  });

  it.each([
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
  ])("writes nothing at %j: %s", async (path, expected) => {
    const before = [grounds.outside(), grounds.inside()];

    expect(await writeText(inside(path))).toBe(expected);
    expect([grounds.outside(), grounds.inside()]).toEqual(before);
  });

  it("makes no new file through a link: where it was to be made is said without one", async () => {
    grounds.put(`${grounds.ws}/target`, folder);
    grounds.put(`${grounds.ws}/swapped`, link("target"));
    expect(await writeText("dangling_in", "absent")).toBe("file_modified_conflict");
    expect(await writeText("swapped/new.txt", "absent")).toBe("file_modified_conflict");
    expect(Object.keys(grounds.inside()).filter((path) => /made\.txt|new\.txt/.test(path))).toEqual([]);
  });

  it("writes new files with the folders they need, and where a link inside leads", async () => {
    const before = grounds.outside();
    await workspace.write("a/b/new.txt", bytes("one"), "absent");
    await workspace.write((await workspace.resolve("dangling_in")).path, bytes("two"), "absent");
    await workspace.write("link_in", bytes("three"), (await workspace.resolve("link_in")).identity);

    expect(await Promise.all(["a/b/new.txt", "made.txt", "f.txt"].map(readText))).toEqual(["one", "two", "three"]);
    expect(grounds.inside()).toMatchObject({
      [`${grounds.ws}/dangling_in`]: "-> made.txt",
      [`${grounds.ws}/link_in`]: `-> ${grounds.ws}/f.txt`,
    });
    expect(grounds.outside()).toEqual(before);
  });

  it("writes nothing to a file that is no longer what it was", async () => {
    const { identity } = await workspace.resolve("f.txt");
    grounds.put(`${grounds.ws}/f.txt`, file("by another"));

    expect(await writeText("f.txt", identity)).toBe("file_modified_conflict");
    expect(await writeText("f.txt", "absent")).toBe("file_modified_conflict");
    expect(await writeText("gone.txt", identity)).toBe("file_modified_conflict");
    expect(await readText("f.txt")).toBe("by another");
  });

  it("writes nothing through a link that took a file's place after it was approved", async () => {
    const { identity } = await workspace.resolve("f.txt");
    grounds.put(`${grounds.ws}/f.txt`, link(`${grounds.out}/secret.txt`));
    const out = await writeText("f.txt", identity);
    grounds.put(`${grounds.ws}/f.txt`, link("..foo/f.txt"));

    expect([out, await writeText("f.txt", identity)]).toEqual(["path_not_in_workspace", "file_modified_conflict"]);
    expect(grounds.outside()).toMatchObject({ [`${grounds.out}/secret.txt`]: canary });
  });

  it("follows as many links as the system would, and no more", async () => {
    grounds.put(`${grounds.ws}/l0`, link("f.txt"));
    for (let index = 1; index <= 40; index++) grounds.put(`${grounds.ws}/l${index}`, link(`l${index - 1}`));

    expect([await readText("l39"), await readText("l40")]).toEqual(["inside", "path_not_in_workspace"]);
  });

  it("tells where a path really leads", async () => {
    const places = await Promise.all(["here/link_in", "sub", ".", "new/x.txt", "fifo"].map(workspace.resolve));

    expect(
      places.map(({ path, shown, kind, size }) => ({ path: path.replace(grounds.ws, "{WS}"), shown, kind, size })),
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
    grounds.put(`${grounds.ws}/sub/b`, file("12"));
    grounds.put(`${grounds.ws}/sub/a`, folder);
    grounds.put(`${grounds.ws}/sub/c`, link(grounds.out));
    grounds.put(`${grounds.ws}/sub/\u001b[2J`, file(""));
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

  it("reads any part of an open file, and keeps to it when another takes its name", async () => {
    const opened = await workspace.open("link_in");
    grounds.put(`${grounds.ws}/f.txt`, link(`${grounds.out}/secret.txt`));

    expect(text.decode(await opened.read(2, 3))).toBe("sid");
    expect(opened.place.shown).toBe("f.txt");
    await opened.close();
  });

  it("reads no more at once than it was told", async () => {
    expect(await outcome(workspace.bytes("f.txt", 5))).toBe("file_too_large");
    expect(await outcome(workspace.bytes("f.txt", 6))).toBe("inside");
  });

  it("knows its roots by every name they were given, and links lead from one to another", async () => {
    grounds.put(`${grounds.ws}-two/g.txt`, file("second"));
    grounds.put(`${grounds.ws}/over`, link(`${grounds.ws}-two/g.txt`));
    grounds.put(`${grounds.ws}/across`, link("../ws-two/g.txt"));
    grounds.put(`${grounds.out}/alias`, link(grounds.ws));
    workspace = await grounds.open({ roots: [`${grounds.out}/alias`, `${grounds.ws}-two`] });

    expect(workspace.roots).toEqual([grounds.ws, `${grounds.ws}-two`]);
    expect(
      await Promise.all(
        [`${grounds.out}/alias/f.txt`, `${grounds.ws}/f.txt`, "over", "across", `${grounds.ws}-two/g.txt`].map(
          readText,
        ),
      ),
    ).toEqual(["inside", "inside", "second", "second", "second"]);
    expect(await readText(`${grounds.out}/secret.txt`)).toBe("path_not_in_workspace");
  });

  it("keeps to the folder it opened when another takes the root's place", async () => {
    grounds.remove(grounds.ws);
    grounds.put(grounds.ws, link(grounds.out));

    expect(await readText("secret.txt")).not.toBe(canary);
    expect(await writeText("new.txt")).not.toBe(undefined);
    expect(await readText(`${grounds.out}/secret.txt`)).toBe("path_not_in_workspace");
  });

  it("opens no root that is not there", async () => {
    expect(await outcome(grounds.open({ roots: [`${grounds.ws}/gone`] }))).toBe("file_not_found");
    expect(await outcome(grounds.open({ roots: [`${grounds.ws}/f.txt`] }))).toBe("path_is_not_a_directory");
  });

  it("does not touch the agent's own folder where it is inside the workspace", async () => {
    const home = `${grounds.ws}/agent`;
    grounds.put(`${home}/settings.json`, file(canary));
    grounds.put(`${home}/kept/long.txt`, file("long"));
    grounds.put(`${grounds.ws}/sly`, link("agent/settings.json"));
    workspace = await grounds.open({ home, scratch: `${home}/kept` });
    const paths = ["agent/settings.json", "sly", "agent", "AGENT/settings.json"];

    expect(await Promise.all(paths.map(readText))).not.toContain(canary);
    expect(await readText("sly")).toBe("policy_violation");
    expect(await writeText("agent/new.json")).toBe("policy_violation");
    expect(await writeText("agent/kept/new.txt")).toBe("policy_violation");
    expect(await readText("agent/kept/long.txt")).toBe("long");
  });

  it("keeps long texts where they can be read and not written, and each once", async () => {
    const before = Object.keys(grounds.outside());
    const path = await workspace.keep("all of it", "../../output of ls");
    const again = await workspace.keep("all of it", "../../output of ls");

    expect(path.replace(grounds.home, "{HOME}")).toMatch(
      /^\{HOME\}\/\.parley\/scratch\/output-of-ls-[0-9a-f]{16}\.txt$/,
    );
    expect(again).toBe(path);
    expect(await readText(path)).toBe("all of it");
    expect(await writeText(path, (await workspace.resolve(path)).identity)).toBe("path_not_in_workspace");
    expect(Object.keys(grounds.outside()).filter((each) => !before.includes(each))).toEqual([path]);
  });

  it("keeps nothing where somebody put a link in the way", async () => {
    grounds.put(`${grounds.home}/.parley/scratch`, link(`${grounds.home}/.ssh`));
    const whole = await outcome(grounds.open());
    grounds.put(`${grounds.home}/.parley/scratch`, folder);
    workspace = await grounds.open();
    const path = await workspace.keep("text", "name");
    grounds.put(path, link(`${grounds.home}/.zshrc`));
    await workspace.keep("text", "name");

    expect(whole).toBe("policy_violation");
    expect(grounds.outside()).toMatchObject({ [`${grounds.home}/.zshrc`]: canary, [path]: "text" });
  });
});

describe("a workspace", () => {
  it("is what tools take for their files", async () => {
    grounds = createRealFixture();
    const files: WorkspaceFiles = await grounds.open();

    expect(files.roots).toEqual([grounds.ws]);
  });

  it("answers at once for sockets", async () => {
    grounds = createRealFixture();
    workspace = await grounds.open();
    const close = await listenOnSocket(`${grounds.ws}/sock`);

    expect(await readText("sock")).toBe("not_a_regular_file");
    await close();
  });

  it("walks thousands of nested folders", async () => {
    grounds = disks[2]?.grounds() ?? createRealFixture();
    workspace = await grounds.open();
    const deep = "d/".repeat(4000);
    grounds.put(`${grounds.ws}/${deep}f.txt`, file("deep"));
    grounds.put(`${grounds.ws}/${deep}up`, link("../d/".repeat(20)));

    expect(await readText(`${deep}f.txt`)).toBe("deep");
    expect(await outcome(workspace.list(`${deep}up`))).toBe("path_not_in_workspace");
  });

  it("does not show the system's own places, even where all of the disk is the workspace", async () => {
    grounds = disks[2]?.grounds() ?? createRealFixture();
    for (const path of ["/proc/self/environ", "/dev/sda", "/sys/x", "/etc/hosts"]) grounds.put(path, file("text"));
    grounds.put("/sly", link("../proc/self"));
    workspace = await grounds.open({ roots: ["/"] });
    const paths = ["/proc/self/environ", "dev/sda", "/sys/x", "sly/environ", "/proc", "/etc/hosts"];

    expect(await Promise.all(paths.map(readText))).toEqual([...Array<string>(5).fill("path_not_in_workspace"), "text"]);
  });

  it("refuses where it may not look, instead of guessing", async () => {
    grounds = disks[2]?.grounds() ?? createRealFixture();
    workspace = await grounds.open();
    grounds.put(`${grounds.ws}/shut`, { kind: "folder", mode: 0o000 });

    expect(await Promise.all([readText("shut/f.txt"), writeText("shut/f.txt")])).toEqual([
      "permission_denied",
      "permission_denied",
    ]);
  });

  it("holds only the first names of a folder with very many", async () => {
    grounds = createRealFixture();
    workspace = await grounds.open();
    mkdirSync(join(grounds.ws, "many"));
    for (let index = 0; index < 5000; index++) writeFileSync(join(grounds.ws, "many", `${index}`.padStart(5, "0")), "");

    expect((await workspace.list("many", 3)).map(({ name }) => name)).toEqual(["00000", "00001", "00002"]);
    expect(await workspace.list("many")).toHaveLength(5000);
  });

  it("lets go of every handle, whatever came of it", async () => {
    grounds = createRealFixture();
    workspace = await grounds.open();
    for (const [name, what] of Object.entries({
      f: file("x"),
      out: link(grounds.out),
      here: link("."),
      fifo: pipe,
      "sub/x": file("x"),
    }))
      grounds.put(`${grounds.ws}/${name}`, what);
    const opened = (): readonly string[] =>
      readdirSync("/proc/self/fd")
        .map((number) => {
          try {
            return readlinkSync(`/proc/self/fd/${number}`);
          } catch {
            return "";
          }
        })
        .filter((path) => path.startsWith(join(grounds.ws, "..")));
    for (const path of ["f", "out/x", "here/here/f", "fifo", "sub", "sub/x", "sub/x/y", "new/deep/x", "..", "a\nb"]) {
      const { identity = "absent" } = await workspace.resolve(path).catch(() => ({ identity: undefined }));
      await readText(path);
      await outcome(workspace.list(path));
      await outcome(workspace.ignored(path, { git: true, own: true }));
      await writeText(path, identity);
      await outcome(workspace.open(path).then((found) => found.close()));
    }

    expect(opened()).toEqual([grounds.ws]);
    await workspace.close();
    expect(opened()).toEqual([]);
    workspace = await grounds.open();
  });
});
