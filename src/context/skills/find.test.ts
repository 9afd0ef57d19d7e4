import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRealDisk } from "../../world/real/disk/disk.ts";
import { version } from "../../world/version.ts";
import { openSkillCacheFile } from "./cache.ts";
import { formatSkillCatalog } from "./catalog.ts";
import { findSkills, type FoundSkills, type Skill } from "./find.ts";

let base: string;
const at = (...names: readonly string[]): string => join(base, ...names);

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-skills-")));
  for (const folder of ["home", "repo/.git", "repo/app"]) mkdirSync(at(folder), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const addSkill = (folder: string, description = "Does it."): void => {
  mkdirSync(at(folder), { recursive: true });
  const name = folder.split("/").at(-1);
  writeFileSync(at(folder, "SKILL.md"), `---\nname: ${name}\ndescription: ${description}\n---\nInstructions.\n`);
};

const find = (given: { readonly isTrusted?: boolean } = {}): Promise<FoundSkills> =>
  findSkills({
    disk: createRealDisk(),
    home: at("home/.parley"),
    userHome: at("home"),
    isTrusted: async () => given.isTrusted ?? true,
    ...(given.isTrusted === false ? {} : { project: at("repo/app") }),
  });

const labels = ({ skills }: FoundSkills): readonly string[] => skills.map(({ label }) => label);

describe("skills", () => {
  it("are found in the project, its parents up to the repository, and the user's home", async () => {
    addSkill("repo/app/.agents/skills/a");
    addSkill("repo/app/.parley/skills/b");
    addSkill("repo/.claude/skills/c");
    addSkill("home/.gemini/skills/d");
    addSkill("home/.parley/skills/e");
    addSkill("home/.claude/skills/group/f");
    addSkill(".claude/skills/outside");
    const found = await find();
    expect(found.skills.map(({ name, label, source }) => `${name} ${label} ${source}`)).toEqual([
      "a .agents/skills/a project",
      "b .parley/skills/b project",
      "c ../.claude/skills/c project",
      "d ~/.gemini/skills/d user",
      "e ~/.parley/skills/e user",
      "f ~/.claude/skills/group/f user",
    ]);
    expect(found.notes).toEqual([]);
  });

  it("of one name: the nearest wins, and the others are named", async () => {
    addSkill("repo/app/.claude/skills/a", "near");
    addSkill("repo/app/.agents/skills/a", "first");
    addSkill("repo/.agents/skills/a", "far");
    addSkill("home/.agents/skills/a", "own");
    const { skills, notes } = await find();
    expect(skills.map(({ description }) => description)).toEqual(["first"]);
    expect(notes).toEqual([
      ".claude/skills/a is not used: .agents/skills/a has the same name.",
      "../.agents/skills/a is not used: .agents/skills/a has the same name.",
      "~/.agents/skills/a is not used: .agents/skills/a has the same name.",
    ]);
  });

  it("of an untrusted project are not read", async () => {
    addSkill("repo/app/.agents/skills/a");
    addSkill("home/.agents/skills/b");
    expect(labels(await find({ isTrusted: false }))).toEqual(["~/.agents/skills/b"]);
  });

  it("behind links are found once, and never outside the repository or the home folder", async () => {
    addSkill("repo/shared/a");
    addSkill("elsewhere/b");
    addSkill("home/elsewhere/c");
    mkdirSync(at("repo/app/.agents/skills"), { recursive: true });
    symlinkSync(at("repo/shared/a"), at("repo/app/.agents/skills/a"));
    symlinkSync(at("elsewhere/b"), at("repo/app/.agents/skills/b"));
    symlinkSync(at("repo/app/.agents"), at("repo/app/.claude"));
    mkdirSync(at("home/.claude"));
    symlinkSync(at("home/elsewhere"), at("home/.claude/skills"));
    symlinkSync(at("elsewhere"), at("home/.agents"));
    const { skills, notes } = await find();
    expect(skills.map(({ name }) => name)).toEqual(["a", "c"]);
    expect(notes).toEqual([]);
  });

  it("that cannot be used are named with the reason", async () => {
    mkdirSync(at("repo/app/.agents/skills/bad"), { recursive: true });
    writeFileSync(at("repo/app/.agents/skills/bad/SKILL.md"), "No front matter.");
    expect(await find()).toEqual({
      skills: [],
      notes: [".agents/skills/bad is not a skill: its front matter is missing."],
    });
  });
});

describe("the cache of skills", () => {
  const disk = createRealDisk();
  const stored = new Map<string, string>();
  const files = {
    read: async (path: string) => stored.get(path),
    writePrivate: async (path: string, text: string) => void stored.set(path, text),
  };
  beforeEach(() => stored.clear());

  /** Searches as a new process does; returns the descriptions, and the folders whose file was read. */
  const start = async (): Promise<readonly [descriptions: readonly string[], read: readonly string[]]> => {
    const read: string[] = [];
    const cache = openSkillCacheFile(files, at("home/.parley"));
    const { skills } = await findSkills(
      {
        disk: {
          ...disk,
          readHead: async (path, options) => {
            const head = await disk.readHead(path, options);
            if (head !== undefined && head.bytes !== "unchanged") read.push(basename(dirname(path)));
            return head;
          },
        },
        home: at("home/.parley"),
        userHome: at("home"),
        isTrusted: async () => true,
      },
      cache.open,
    );
    await cache.save();
    return [skills.map(({ description }) => description), read];
  };

  it("lets a start read only files that changed, and is optional", async () => {
    expect(await start()).toEqual([[], []]);
    expect([...stored]).toEqual([]);
    addSkill("home/.agents/skills/a");
    addSkill("home/.agents/skills/b");
    expect(await start()).toEqual([
      ["Does it.", "Does it."],
      ["a", "b"],
    ]);
    expect(await start()).toEqual([["Does it.", "Does it."], []]);
    addSkill("home/.agents/skills/b", "Does more.");
    expect(await start()).toEqual([["Does it.", "Does more."], ["b"]]);
    const [[path, text] = ["", ""]] = [...stored];
    for (const other of ["{", "null", "{}", text.replace(`"version":"${version}"`, '"version":"0.0.0"')]) {
      stored.set(path, other);
      expect(await start()).toEqual([
        ["Does it.", "Does more."],
        ["a", "b"],
      ]);
    }
  });
});

describe("the catalog", () => {
  const skill = (name: string, description: string, more: Partial<Skill> = {}): Skill => ({
    name,
    description,
    isForModels: true,
    isForPeople: true,
    problems: [],
    folder: `/skills/${name}`,
    root: "/skills",
    label: name,
    source: "user",
    ...more,
  });

  it("lists what models may activate, and is empty without skills", () => {
    expect(formatSkillCatalog([])).toBe("");
    const text = formatSkillCatalog([skill("a", "Does a."), skill("b", "Does b.", { isForModels: false })]);
    expect(text).toMatch(/^# Skills\n/);
    expect(text.split("\n").filter((line) => line.startsWith("- "))).toEqual(["- a: Does a."]);
  });

  it.each([10, 100, 500])(
    "of %i skills with long descriptions stays within its budget and names what fits",
    (count) => {
      const many = Array.from({ length: count }, (_, index) => skill(`skill-${index}`, "Ünicode words. ".repeat(70)));
      const text = formatSkillCatalog(many);
      expect(Buffer.byteLength(text)).toBeLessThan(6600);
      // The budget is for the skills that are listed, however many are not.
      expect(Buffer.byteLength(text)).toBeGreaterThan(5500);
      const listed = text.split("\n").filter((line) => line.startsWith("- ")).length;
      expect(listed).toBe(Math.min(count, listed));
      if (listed < count) expect(text).toContain(`(${count - listed} more skills are not listed.)`);
      else expect(listed).toBe(count);
      expect(text).not.toContain("\uFFFD");
    },
  );
});
