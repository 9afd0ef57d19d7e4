import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTrustStore } from "../../policy/trust/folders.ts";
import { readContextFiles, type ContextFiles, type ContextOptions } from "./read.ts";
import { openContextFixture, type ContextFixture } from "../fixture.cases.ts";

let ground: ContextFixture;

beforeEach(async () => {
  ground = await openContextFixture();
});

afterEach(() => ground.close());

const always = () => Promise.resolve(true);

const read = async (options: Partial<ContextOptions> = {}): Promise<ContextFiles> =>
  readContextFiles({
    world: ground.world,
    files: ground.files,
    home: ground.home,
    isTrusted: always,
    scans: ground.scans(),
    ...options,
  });

/** The result in short: the user's own files with a star. */
const found = async (options: Partial<ContextOptions> = {}): Promise<readonly string[]> =>
  (await read(options)).files.map(({ scope, label, text }) => `${scope === "person" ? "*" : ""}${label}: ${text}`);

const notes = async (options: Partial<ContextOptions> = {}): Promise<readonly string[]> =>
  (await read(options)).notes.map(({ kind, path }) => `${kind} ${ground.maskBase(path)}`);

describe("context files", () => {
  it("are the person's memory, then the project's from outside to inside", async () => {
    mkdirSync(join(ground.base, "home/project/.git"));
    ground.put("home/AGENTS.md", "not the project's");
    ground.put("home/.parley/PARLEY.md", "likes tabs");
    for (const path of ["AGENTS.md", "GEMINI.md", "CLAUDE.md", "PARLEY.md", "deep/er/CLAUDE.md", "sub/AGENTS.md"])
      ground.put(`home/project/${path}`, path);
    expect(await read()).toEqual({
      files: [
        { scope: "person", label: "~/.parley/PARLEY.md", text: "likes tabs" },
        ...["AGENTS.md", "GEMINI.md", "CLAUDE.md", "PARLEY.md", "sub/AGENTS.md", "deep/er/CLAUDE.md"].map((label) => ({
          scope: "project",
          label,
          text: label,
        })),
      ],
      notes: [],
    });
  });

  it("are found upward as far as the repository reaches", async () => {
    await ground.close();
    ground = await openContextFixture({ roots: ["home/repo/packages/one"] });
    mkdirSync(join(ground.base, "home/repo/.git"));
    ground.put("home/AGENTS.md", "home");
    ground.put("home/repo/AGENTS.md", "repo");
    ground.put("home/repo/packages/AGENTS.md", "packages");
    ground.put("home/repo/packages/one/AGENTS.md", "one");
    ground.put("home/repo/packages/two/AGENTS.md", "two");
    expect(await found()).toEqual(["../../AGENTS.md: repo", "../AGENTS.md: packages", "AGENTS.md: one"]);
  });

  it("are found upward to the home folder where there is no repository, and not at all outside of it", async () => {
    ground.put("AGENTS.md", "outside");
    ground.put("home/AGENTS.md", "home");
    ground.put("home/project/AGENTS.md", "project");
    expect(await found()).toEqual(["../AGENTS.md: home", "AGENTS.md: project"]);
    await ground.close();
    ground = await openContextFixture({ roots: ["srv/app"] });
    ground.put("srv/AGENTS.md", "outside");
    ground.put("srv/app/AGENTS.md", "app");
    expect(await found()).toEqual(["AGENTS.md: app"]);
  });

  it("of a folder that is not trusted are not read, but the person's own are", async () => {
    const trust = openTrustStore(ground.world.disk, ground.home);
    ground.put("home/.parley/PARLEY.md", "likes tabs");
    ground.put("home/AGENTS.md", "home");
    ground.put("home/project/AGENTS.md", "@notes.md");
    ground.put("home/project/notes.md");
    const untouched: ContextOptions["files"] = {
      roots: ground.files.roots,
      open: () => Promise.reject(new Error("opened")),
      ignored: () => Promise.reject(new Error("looked")),
    };
    expect(await found({ ...trust, files: untouched })).toEqual(["*~/.parley/PARLEY.md: likes tabs"]);
    expect(await notes(trust)).toEqual(["untrusted {BASE}/home/project"]);
    await trust.trustFolder(ground.root);
    // The folder above was not trusted, so it still has no say.
    expect(await found(trust)).toEqual(["*~/.parley/PARLEY.md: likes tabs", "notes.md: home/project/notes.md"]);
  });

  it("of several roots are read root by root, with those of an untrusted one left out", async () => {
    await ground.close();
    ground = await openContextFixture({ roots: ["home/project", "home/other", "home/third"] });
    for (const root of ["project", "other", "third"]) ground.put(`home/${root}/AGENTS.md`, root);
    ground.put("home/third/sub/AGENTS.md", "third");
    const isTrusted = async (folder: string) => !/third|home$/.test(folder);
    expect((await found({ isTrusted })).map(ground.maskBase)).toEqual([
      "AGENTS.md: project",
      "~/other/AGENTS.md: other",
    ]);
    expect(await notes({ isTrusted })).toEqual(["untrusted {BASE}/home/third"]);
  });

  it("go by the names settings give, and by no paths", async () => {
    ground.put("home/project/AGENTS.md");
    ground.put("home/project/TEAM.md", "team");
    ground.put("home/project/sub/TEAM.md", "sub");
    ground.put("home/x.md", "x");
    expect(await found({ names: ["TEAM.md", "../x.md", "..", "", "sub/TEAM.md"] })).toEqual([
      "TEAM.md: team",
      "sub/TEAM.md: sub",
    ]);
  });

  it("of other agents count where the person's settings name them, through links too", async () => {
    ground.put("home/.claude/CLAUDE.md", "claude");
    ground.put("home/dotfiles/gemini.md", "gemini @more.md @../.claude/CLAUDE.md");
    ground.put("home/dotfiles/more.md", "more");
    mkdirSync(join(ground.base, "home/.gemini"));
    ground.link("home/.gemini/GEMINI.md", "../dotfiles/gemini.md");
    expect(await found()).toEqual([]);
    const person = ["~/.gemini/GEMINI.md", "~/.claude/CLAUDE.md", "~/none.md", "relative.md"];
    expect(await found({ person })).toEqual([
      "*~/dotfiles/gemini.md: gemini @more.md @../.claude/CLAUDE.md",
      "*~/dotfiles/more.md: more",
      "*~/.claude/CLAUDE.md: claude",
    ]);
    expect(await notes({ person })).toEqual(["outside ~/.claude/CLAUDE.md", "absent ../none.md"]);
  });

  it("count once, whether by a link, by the same words or by an import", async () => {
    ground.put("home/project/AGENTS.md", "one\r\n");
    ground.link("home/project/CLAUDE.md", "AGENTS.md");
    ground.put("home/project/GEMINI.md", "one");
    ground.put("home/project/PARLEY.md", "see @AGENTS.md");
    expect(await found()).toEqual(["AGENTS.md: one", "PARLEY.md: see @AGENTS.md"]);
    expect(await notes()).toEqual(["same GEMINI.md"]);
  });

  it("that lead out of the project by a link are not read, and named", async () => {
    ground.link("home/project/AGENTS.md", "../../out/canary.md");
    ground.link("home/project/CLAUDE.md", join(ground.base, "out/canary.md"));
    ground.link("home/project/sub", "../../out");
    ground.put("out/AGENTS.md", "canary");
    ground.link("home/project/GEMINI.md", "GEMINI.md");
    expect(await found()).toEqual([]);
    expect(await notes()).toEqual(["outside AGENTS.md", "outside GEMINI.md", "outside CLAUDE.md"]);
  });

  it("that ignore files name are not read: git's count below the root, those for agents everywhere", async () => {
    ground.put("home/project/.gitignore", "AGENTS.md\nbuild/\n");
    ground.put("home/project/.parleyignore", "CLAUDE.md\nsecret.md\n");
    ground.put("home/project/AGENTS.md", "mine alone @secret.md");
    ground.put("home/project/CLAUDE.md", "canary");
    ground.put("home/project/secret.md", "canary");
    ground.put("home/project/sub/AGENTS.md", "canary");
    ground.put("home/project/build/GEMINI.md", "canary");
    ground.put("home/project/node_modules/x/GEMINI.md", "canary");
    expect(await found()).toEqual(["AGENTS.md: mine alone @secret.md"]);
    expect(await notes()).toEqual(["ignored secret.md", "ignored CLAUDE.md"]);
  });

  it.each([
    ["a picture", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), undefined, ["not-text AGENTS.md"]],
    ["with a NUL in it", "a\0b", undefined, ["not-text AGENTS.md"]],
    ["with a mark at its start", "\ufeffwords", "words", []],
    ["in UTF-16", Buffer.from("\ufeffwörds", "utf16le"), "wörds", []],
    ["with Windows line ends", "a\r\nb\r\n", "a\nb", []],
    ["with tags that cannot be seen", "a\u{e0041}\u{e0042}b", "ab", ["invisible AGENTS.md"]],
    ["that turns the direction of reading", "a\u202eb", "a<U+202E>b", ["invisible AGENTS.md"]],
    ["with a terminal's commands", "a\u001b[31mb\u0007", "ab␇", ["invisible AGENTS.md"]],
    ["with letters of every kind", "日本語 👩‍👩‍👧 é ا", "日本語 👩‍👩‍👧 é ا", []],
    ["that is empty", " \n", undefined, []],
  ])("%s", async (_, content, text, expected) => {
    ground.put("home/project/AGENTS.md", content);
    expect(await found()).toEqual(text === undefined ? [] : [`AGENTS.md: ${text}`]);
    expect(await notes()).toEqual(expected);
  });

  it("that is a folder is none", async () => {
    mkdirSync(join(ground.root, "AGENTS.md"));
    expect(await read()).toEqual({ files: [], notes: [] });
  });

  it("too long for one are cut at a line, and together they have an end; both are said", async () => {
    const line = `${"x".repeat(99)}\n`;
    for (const name of ["AGENTS", "GEMINI", "CLAUDE", "PARLEY"])
      ground.put(`home/project/${name}.md`, name + line.repeat(5000));
    const { files } = await read();
    expect(files.map(({ label, text }) => [label, text.length, text.slice(-60)])).toEqual([
      ["AGENTS.md", 40_000 - 1 - 94 + 58, `xx\n[Cut here: the file is longer. read_file reads the rest.]`],
      ["GEMINI.md", 40_000 - 1 - 94 + 58, `xx\n[Cut here: the file is longer. read_file reads the rest.]`],
      ["CLAUDE.md", expect.any(Number), `xx\n[Cut here: the file is longer. read_file reads the rest.]`],
    ]);
    expect(files.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(100_200);
    expect(await notes()).toEqual(["cut AGENTS.md", "cut GEMINI.md", "cut CLAUDE.md", "full PARLEY.md"]);
  });

  it("say the same whatever the order the disk gives them in", async () => {
    for (const name of ["zeta", "alpha", "mid"]) ground.put(`home/project/${name}/AGENTS.md`, name);
    expect(await found()).toEqual(["alpha/AGENTS.md: alpha", "mid/AGENTS.md: mid", "zeta/AGENTS.md: zeta"]);
  });
});

describe("a file kept from models", () => {
  it("is not read by another name, even where only its own is known", async () => {
    ground.put("home/project/kept.md", "canary");
    ground.link("home/project/AGENTS.md", "kept.md");
    const { roots, open } = ground.files;
    const ignored = async (path: string) => (path === join(ground.root, "kept.md") ? ".parleyignore" : undefined);
    expect(await found({ files: { roots, open, ignored } })).toEqual([]);
  });
});

describe("a memory", () => {
  it("that is a link is left alone, and told", async () => {
    ground.link("home/.parley/PARLEY.md", "../../out/canary.md");
    expect(await found()).toEqual([]);
    expect(await notes()).toEqual(["unreadable ~/.parley/PARLEY.md"]);
  });

  it("imports documents beside it and nothing else", async () => {
    ground.put("home/.parley/PARLEY.md", "@style.md @trust.json @../secret.md");
    ground.put("home/.parley/style.md", "tabs");
    ground.put("home/.parley/trust.json", "canary");
    ground.put("home/secret.md", "canary");
    expect(await found()).toEqual([
      "*~/.parley/PARLEY.md: @style.md @trust.json @../secret.md",
      "*~/.parley/style.md: tabs",
    ]);
    expect(await notes()).toEqual(["outside ../secret.md"]);
  });
});

describe("imports", () => {
  it("follow the file that asks for them, relative to it", async () => {
    ground.put("home/project/AGENTS.md", "start\n@docs/style.md\nend");
    ground.put("home/project/docs/style.md", "style, see @more/words.md.");
    ground.put("home/project/docs/more/words.md", "words");
    ground.put("home/project/CLAUDE.md", "@AGENTS.md");
    expect(await found()).toEqual([
      "AGENTS.md: start\n@docs/style.md\nend",
      "docs/style.md: style, see @more/words.md.",
      "docs/more/words.md: words",
    ]);
    expect(await notes()).toEqual([]);
  });

  it("in a circle end, and the circle is named", async () => {
    ground.put("home/project/AGENTS.md", "a @b.md @AGENTS.md");
    ground.put("home/project/b.md", "b @AGENTS.md");
    expect(await found()).toEqual(["AGENTS.md: a @b.md @AGENTS.md", "b.md: b @AGENTS.md"]);
    expect(await notes()).toEqual(["cycle AGENTS.md"]);
  });

  it("end at a depth", async () => {
    ground.put("home/project/AGENTS.md", "0 @1.md");
    for (let at = 1; at < 100; at++) ground.put(`home/project/${at}.md`, `${at} @${at + 1}.md`);
    expect((await found()).length).toBe(6);
    expect(await notes()).toEqual(["deep 6.md"]);
  });

  it("end at a number", async () => {
    ground.put("home/project/AGENTS.md", Array.from({ length: 1000 }, (_, at) => `@none/${at}.md`).join("\n"));
    const said = await notes();
    expect(said.length).toBe(101);
    expect(said.at(-1)).toBe("full none/100.md");
  });

  it("out of the project are not read, whatever leads there", async () => {
    ground.link("home/project/link.md", "../../out/canary.md");
    ground.link("home/project/folder", "../../out");
    const said = "x @../../out/canary.md @link.md @folder/canary.md @~/x.md @/etc/motd.txt @gone.md";
    ground.put("home/project/AGENTS.md", said);
    expect(await found()).toEqual([`AGENTS.md: ${said}`]);
    expect(await notes()).toEqual([
      "outside {BASE}/out/canary.md",
      "outside link.md",
      "outside folder/canary.md",
      "outside ~/x.md",
      "outside /etc/motd.txt",
      "absent gone.md",
    ]);
  });
});
