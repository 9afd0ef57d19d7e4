import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/conversation/json.ts";
import { canary, modes, openAttackFixture, type AttackSession, type AttackFixture } from "./fixture.ts";
import { itInAll, perTier, sampleCases } from "../support/tier.ts";

/** Folders within each other: more than fit into the longest path, which has 4,096 bytes. */
const depth = 4000;
const lineBytes = perTier({ quick: "30M", all: "300M" });

/*
 * Paths that lead out, and files that are not what they seem, from the model's call to its end. A refused call is
 * refused in every mode, reveals no content, and changes nothing outside the workspace.
 */

let fixture: AttackFixture;
beforeEach(() => {
  fixture = openAttackFixture();
  fixture.put("f.txt", "inside\n");
  fixture.put("sub/g.txt", "inside too\n");
});
afterEach(() => fixture.close());

type Row = readonly [id: string, why: string, tool: string, input: JsonObject, setUp?: () => unknown];

const read = (path: string): JsonObject => ({ absolute_path: path });
const write = (path: string): JsonObject => ({ file_path: path, content: "evil\n" });
const filled = (input: JsonObject): JsonObject => JSON.parse(fixture.fill(JSON.stringify(input))) as JsonObject;

const reads: readonly Row[] = [
  ["P001", "traversal", "read_file", read("../outside.txt")],
  ["P001a", "traversal, doubled", "read_file", read("....//outside.txt")],
  ["P001b", "traversal, many steps", "read_file", read(`${"../".repeat(60)}etc/passwd`)],
  ["P003", "a folder with the same beginning", "read_file", read("{WS}-evil/f.txt")],
  ["P003a", "the same, from inside", "read_file", read("../ws-evil/f.txt")],
  ["P004", "traversal after a folder that is there", "read_file", read("{WS}/sub/../../outside.txt")],
  ["P004a", "traversal after one that is not", "read_file", read("{WS}/none/../../outside.txt")],
  ["P007", "a file of the system", "read_file", read("/etc/passwd")],
  ["P007a", "two slashes in front", "read_file", read("//etc/passwd")],
  ["P008", "a tilde", "read_file", read("~/.ssh/id_rsa")],
  ["P008a", "a tilde with a user name", "read_file", read("~root/.bashrc")],
  ["P008b", "a variable", "read_file", read("$HOME/.ssh/id_rsa")],
  ["P010", "a file address", "read_file", read("file:///etc/passwd")],
  ["P010a", "a file address, in capitals", "read_file", read("FILE:/etc/passwd")],
  ["P011", "a file address with a host", "read_file", read("file://localhost/etc/passwd")],
  ["P012", "a NUL", "read_file", read("{WS}/f.txt\u0000.png")],
  ["P013", "backslashes", "read_file", read("..\\outside.txt")],
  ["P014", "percent signs", "read_file", read("%2e%2e/outside.txt")],
  ["P015", "a slash by percent sign", "read_file", read("..%2foutside.txt")],
  ["P015a", "percent signs, twice", "read_file", read("%252e%252e%252foutside.txt")],
  ["P016", "wide dots", "read_file", read("．．/outside.txt")],
  ["P016a", "a dot leader", "read_file", read("‥/outside.txt")],
  ["P016b", "a slash that is none", "read_file", read("..∕outside.txt")],
  ["P017", "a link to a file outside", "read_file", read("link"), () => fixture.link("link", "{OUT}/secret.txt")],
  ["P018", "a link to a folder outside", "read_file", read("d/secret.txt"), () => fixture.link("d", "{OUT}")],
  ["P018a", "a relative link out", "read_file", read("d/outside.txt"), () => fixture.link("d", "..")],
  ["P018b", "a link to a link out", "read_file", read("a"), () => chain("a", "b", "{OUT}/secret.txt")],
  ["P018c", "a link to itself", "read_file", read("a"), () => fixture.link("a", "a")],
  ["P032", "the root of a process", "read_file", read("/proc/self/root/etc/passwd")],
  ["P032a", "the folder of a process", "read_file", read("/proc/self/cwd/f.txt")],
  ["P032b", "the variables of a process", "read_file", read("/proc/self/environ")],
  ["P032c", "the same through a link", "read_file", read("e"), () => fixture.link("e", "/proc/self/environ")],
  ["P035", "what is typed", "read_file", read("/dev/stdin")],
  ["P035a", "a device without end", "read_file", read("/dev/zero")],
  ["P035b", "a device through a link", "read_file", read("z"), () => fixture.link("z", "/dev/zero")],
  ["P043", "the whole disk", "list_directory", { path: "/" }],
  ["P043a", "the folder above", "list_directory", { path: ".." }],
  ["P043b", "the home folder", "list_directory", { path: "{HOME}" }],
  ["P043c", "a folder behind a link", "list_directory", { path: "d" }, () => fixture.link("d", "{OUT}")],
  ["P048", "a pattern from the root", "glob", { pattern: "/**/*.pem" }],
  ["P049", "dots inside a pattern", "glob", { pattern: "**/../../*" }],
  ["P049a", "dots before a pattern", "glob", { pattern: "../*" }],
  ["P050", "dots in a choice", "glob", { pattern: "{..,src}/**" }],
  ["P050a", "dots in a choice in a choice", "glob", { pattern: "{a,{..,b}}/*" }],
  ["P050b", "an absolute choice", "glob", { pattern: "{/etc,src}/*" }],
  ["P050c", "a folder outside", "glob", { pattern: "*", path: "{OUT}" }],
  ["P055", "an option as a filter", "search_file_content", { pattern: "x", include: "--pre=touch {CANARY}" }],
  ["P056", "an option as a path", "search_file_content", { pattern: "x", path: "-f/etc/passwd" }],
  ["P056a", "an option as a pattern", "search_file_content", { pattern: "--pre=./x", path: "{OUT}" }],
  ["P057", "a command as a filter", "search_file_content", { pattern: "x", include: "$(touch {CANARY})" }],
  ["P057a", "a command in backticks", "search_file_content", { pattern: "x", include: "`touch {CANARY}`" }],
  ["P058a", "a search outside", "search_file_content", { pattern: "canary", path: "{OUT}" }],
  ["P058b", "a filter that leads out", "search_file_content", { pattern: "canary", include: "../**" }],
  ["P059", "several ways out", "read_many_files", { paths: ["/etc/*", "../*"] }],
  ["P059a", "one way out among others", "read_many_files", { paths: ["f.txt", "../outside.txt"] }],
  ["P059b", "a way out to be included", "read_many_files", { paths: ["f.txt"], include: ["../*.txt"] }],
  ["P059c", "an absolute choice", "read_many_files", { paths: ["{/etc,sub}/*"] }],
  ["P092", "a command elsewhere", "run_shell_command", { command: "ls", directory: "/" }],
  ["P092a", "a command above", "run_shell_command", { command: "ls", directory: ".." }],
  [
    "P092b",
    "a command behind a link",
    "run_shell_command",
    { command: "ls", directory: "d" },
    () => fixture.link("d", "{OUT}"),
  ],
];

const keep = (): unknown => [
  fixture.put(".parleyignore", "secret.env\n"),
  fixture.put("secret.env", `KEY=${canary}\n`),
];
const hidden: readonly Row[] = [
  ["P060", "by its name", "read_many_files", { paths: ["secret.env"] }, keep],
  ["P060a", "by its name, alone", "read_file", read("secret.env"), keep],
  ["P060b", "by its full path", "read_file", read("{WS}/sub/../secret.env"), keep],
  ["P060c", "by an edit", "replace", { file_path: "secret.env", old_string: "KEY", new_string: "X" }, keep],
  [
    "P061",
    "by a link",
    "read_many_files",
    { paths: ["alias.env"] },
    () => [keep(), fixture.link("alias.env", "secret.env")],
  ],
  [
    "P061a",
    "by a link, alone",
    "read_file",
    read("alias.env"),
    () => [keep(), fixture.link("alias.env", "secret.env")],
  ],
  ["P061b", "by a folder that is a link", "read_file", read("d/secret.env"), () => [keep(), fixture.link("d", ".")]],
];

const writes: readonly Row[] = [
  ["P002", "traversal", "write_file", write("../new.txt")],
  ["P009", "a tilde", "write_file", write("~/.zshrc")],
  ["P020", "a link to a file outside", "write_file", write("{WS}/l"), () => fixture.link("l", "{HOME}/.zshrc")],
  ["P021", "a link to nothing yet", "write_file", write("{WS}/l"), () => fixture.link("l", "{OUT}/new.txt")],
  ["P022", "a chain of links", "write_file", write("{WS}/d1/new.txt"), () => chain("d1", "d2", "{OUT}")],
  ["P023", "a link to the folder above", "write_file", write("{WS}/up/x"), () => fixture.link("up", "..")],
  ["P023a", "a link to the root", "write_file", write("{WS}/up/tmp/x"), () => fixture.link("up", "/")],
  [
    "P020a",
    "an edit through a link",
    "replace",
    { file_path: "l", old_string: "canary", new_string: "x" },
    () => fixture.link("l", "{OUT}/secret.txt"),
  ],
  [
    "P020b",
    "another edit through a link",
    "smart_edit",
    { file_path: "l", instruction: "x", old_string: "canary", new_string: "x" },
    () => fixture.link("l", "{OUT}/secret.txt"),
  ],
  ["P063", "a hook", "write_file", write("{WS}/.git/hooks/pre-commit")],
  ["P064", "a hook, in capitals", "write_file", write("{WS}/.GIT/hooks/pre-commit")],
  ["P065", "git's settings, in mixed letters", "write_file", write("{WS}/.Git/config")],
  ["P066", "a dot at the end", "write_file", write("{WS}/.git./config")],
  ["P067", "a space at the end", "write_file", write("{WS}/.git /config")],
  ["P068", "an unseen character", "write_file", write("{WS}/.git\u200b/config")],
  ["P068a", "another unseen character", "write_file", write("{WS}/.g\u00adit/config")],
  ["P068b", "wide letters", "write_file", write("{WS}/．ｇｉｔ/config")],
  ["P069", "a short name", "write_file", write("{WS}/GIT~1/config")],
  ["P070", "a stream of a folder", "write_file", write("{WS}/.git::$INDEX_ALLOCATION/config")],
  ["P071", "a repository inside", "write_file", write("{WS}/sub/.git/config")],
  ["P072", "a file in the place of .git", "write_file", write("{WS}/.git")],
  ["P073", "a folder of another program", "write_file", write("{WS}/.hg/hgrc")],
  [
    "P071a",
    "a hook, through a link",
    "write_file",
    write("{WS}/safe/pre-commit"),
    () => [fixture.folder(".git/hooks"), fixture.link("safe", ".git/hooks")],
  ],
  ["P083", "the agent's settings", "write_file", write("{WS}/.parley/settings.json")],
  ["P083a", "the agent's settings, in capitals", "write_file", write("{WS}/.PARLEY/settings.json")],
  ["P091", "whom the agent trusts", "write_file", write("{HOME}/.parley/trust/x.json")],
  ["P097", "a line break", "write_file", write("{WS}/a\nb.txt")],
  ["P097a", "an escape", "write_file", write("{WS}/a\u001b[2Jb.txt")],
  ["P097b", "text turned around", "write_file", write("{WS}/a\u202etxt.exe")],
  ["P097c", "a separator of paragraphs", "write_file", write("{WS}/a\u2029b.txt")],
];

const guarded: readonly Row[] = [
  ["P075", "direnv", "write_file", write("{WS}/.envrc")],
  ["P076", "an editor's settings", "write_file", write("{WS}/.vscode/settings.json")],
  ["P077", "an editor's tasks", "write_file", write("{WS}/.vscode/tasks.json")],
  ["P077a", "the same, in capitals", "write_file", write("{WS}/.VSCode/tasks.json")],
  ["P077b", "the same, further down", "write_file", write("{WS}/sub/.vscode/tasks.json")],
  ["P078", "another editor's settings", "write_file", write("{WS}/.idea/workspace.xml")],
  ["P079", "another folder of hooks", "write_file", write("{WS}/.husky/pre-commit")],
  ["P080", "what runs on every push", "write_file", write("{WS}/.github/workflows/x.yml")],
  ["P081", "hooks by another program", "write_file", write("{WS}/.pre-commit-config.yaml")],
  ["P082", "servers", "write_file", write("{WS}/.mcp.json")],
  ["P084", "another agent's settings", "write_file", write("{WS}/.claude/settings.json")],
  ["P085", "yet another's", "write_file", write("{WS}/.codex/config.toml")],
  ["P086", "rules for another agent", "write_file", write("{WS}/.cursorrules")],
  ["P087", "what npm runs", "write_file", write("{WS}/.npmrc")],
  ["P088", "what a program loads", "write_file", write("{WS}/node_modules/x/index.js")],
  ["P089", "an interpreter's start", "write_file", write("{WS}/venv/bin/activate")],
  ["P090", "what git runs by", "write_file", write("{WS}/.gitattributes")],
  [
    "P076a",
    "an editor's settings, through a link",
    "write_file",
    write("{WS}/safe/settings.json"),
    () => [fixture.folder(".vscode"), fixture.link("safe", ".vscode")],
  ],
];

const free: readonly Row[] = [
  ["P005", "dots that stay inside", "read_file", read("{WS}/./sub/.././f.txt")],
  [
    "P006",
    "a name that begins with dots",
    "read_file",
    read("{WS}/..foo/f.txt"),
    () => fixture.put("..foo/f.txt", "x"),
  ],
  ["P006a", "a name that ends with dots", "read_file", read("{WS}/foo../f.txt"), () => fixture.put("foo../f.txt", "x")],
  ["P019", "a link that stays inside", "read_file", read("{WS}/in"), () => fixture.link("in", "{WS}/f.txt")],
  ["P019a", "a link up and in again", "read_file", read("sub/in"), () => fixture.link("sub/in", "../f.txt")],
  ["P014a", "a name with a percent sign", "read_file", read("%2e%2e"), () => fixture.put("%2e%2e", "x")],
];

const chain = (first: string, second: string, to: string): void => {
  fixture.link(first, second);
  fixture.link(second, to);
};

/** Creates links with the paths of this fixture. */
const staged = (setUp: (() => unknown) | undefined): void => {
  const { link } = fixture;
  fixture = { ...fixture, link: (path, to) => link(path, fixture.fill(to)) };
  setUp?.();
};

const rowsOf = (rows: readonly Row[]) =>
  rows.map(([id, why, tool, input, setUp]) => [`${id} ${why}`, tool, input, setUp] as const);

const everyMode = ["interactive", "headless", "yolo"] as const;

describe.each([
  ["a path that leads out is not read", reads],
  ["a file that is kept from models is not read", hidden],
  ["a path that leads out, or to what governs, is not written", writes],
])("%s", (_, rows) => {
  it.each(sampleCases(rowsOf(rows), 3))("%s", async (_name, tool, input, setUp) => {
    staged(setUp);
    const before = fixture.outside();
    for (const how of everyMode) {
      const result = await fixture.run(tool, filled(input), modes[how]);
      expect([how, result.verdict, result.type === "unhandled_exception"]).toEqual([how, "deny", false]);
      expect(JSON.stringify(result.finished)).not.toContain(canary);
      expect(fixture.outside()).toEqual(before);
    }
  });
});

describe("a protected path needs approval in every mode", () => {
  it.each(sampleCases(rowsOf(guarded), 3))("%s", async (_name, tool, input, setUp) => {
    staged(setUp);
    const verdicts = await Promise.all(
      everyMode.map(async (how) => [how, (await fixture.run(tool, filled(input), modes[how])).verdict]),
    );
    expect(verdicts).toEqual([
      ["interactive", "ask"],
      ["headless", "deny"],
      ["yolo", "ask"],
    ]);
    const automatic = await fixture.run(tool, filled(input), { mode: "auto_edit", interactive: true });
    expect(automatic.verdict).toBe("ask");
  });
});

describe("a path inside is read without approval", () => {
  it.each(sampleCases(rowsOf(free), 3))("%s", async (_name, tool, input, setUp) => {
    staged(setUp);
    for (const how of everyMode) expect((await fixture.run(tool, filled(input), modes[how])).verdict).toBe("allow");
  });

  it("P019b and the approval of a write through a link shows its target", async () => {
    fixture.link("in", "f.txt");
    const { approvals } = await fixture.run("write_file", write("in"));
    expect(approvals[0]?.subject).toMatchObject({
      requestedPath: "in",
      path: join(fixture.root, "f.txt"),
      isLink: true,
    });
  });
});

describe("only what was approved is written", () => {
  /** Approves, and changes something before the write. */
  const approving = (meanwhile: () => unknown): Promise<AttackSession> =>
    fixture.open({
      answer: () => {
        meanwhile();
        return { type: "once" };
      },
    });

  it.each([
    ["P028 a file that became a link out", "f.txt", () => swap("f.txt", join(fixture.out, "secret.txt"))],
    ["P028a a file that became a link inside", "f.txt", () => swap("f.txt", "sub/g.txt")],
    ["P029 a folder that became a link out", "sub/new.txt", () => swap("sub", fixture.out)],
    ["P029a a folder that became a link inside", "sub/new.txt", () => swap("sub", "other")],
    ["P030 a new file that became a link out", "new.txt", () => symlinkSync(join(fixture.out, "new"), at("new.txt"))],
    ["P030a a new file that became a link inside", "new.txt", () => symlinkSync("made.txt", at("new.txt"))],
    ["P031 a file that was changed", "f.txt", () => writeFileSync(at("f.txt"), "changed\n")],
    ["P031a a file that was replaced by an equal one", "f.txt", () => replaceByItself("f.txt")],
    ["P031b a file that is gone", "f.txt", () => rmSync(at("f.txt"))],
    ["P031c a new file that is there now", "new.txt", () => writeFileSync(at("new.txt"), "mine\n")],
    ["P031d a file that became a folder", "f.txt", () => [rmSync(at("f.txt")), mkdirSync(at("f.txt"))]],
  ])("%s", async (_, path, meanwhile) => {
    fixture.folder("other");
    const before = fixture.outside();
    const session = await approving(meanwhile);
    const result = await session.call("write_file", write(path));
    expect([result.verdict, result.finished.outcome.status]).toEqual(["ask", "error"]);
    expect(fixture.outside()).toEqual(before);
    const { stdout } = spawnSync("grep", ["-rl", "evil", fixture.root, fixture.out], { encoding: "utf8" });
    expect(stdout).toBe("");
  });

  const at = (path: string): string => join(fixture.root, path);
  const swap = (path: string, to: string): void => {
    renameSync(at(path), at("moved-away"));
    symlinkSync(to, at(path));
  };
  const replaceByItself = (path: string): void => {
    const text = readFileSync(at(path));
    renameSync(at(path), at("moved-away"));
    writeFileSync(at(path), text);
  };
});

describe("a special file, or too much data, is refused soon", () => {
  it("P038 a pipe", async () => {
    execFileSync("mkfifo", [join(fixture.root, "fifo")]);
    for (const tool of ["read_file", "write_file"]) {
      const input = tool === "read_file" ? read("fifo") : write("fifo");
      expect((await fixture.run(tool, input, modes.yolo)).type).toBe("not_a_regular_file");
    }
    expect((await fixture.run("read_many_files", { paths: ["*"] })).text).toContain("inside");
    expect((await fixture.run("search_file_content", { pattern: "inside" })).text).toContain("f.txt");
  });

  it("P039 a socket", async () => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(relative(process.cwd(), join(fixture.root, "sock")), done));
    expect((await fixture.run("read_file", read("sock"))).type).toBe("not_a_regular_file");
    await new Promise((done) => server.close(done));
  });

  it("P041 an endless line", async () => {
    const path = fixture.put("line.txt", "");
    execFileSync("bash", ["-c", `head -c ${lineBytes} /dev/zero | tr '\\0' a > "$1"`, "-", path]);
    const result = await fixture.run("read_file", read("line.txt"));
    expect(result.verdict).toBe("allow");
    expect(result.text).toContain("[truncated]");
    expect(result.text.length).toBeLessThan(10_000);
  });

  itInAll("P045 a folder with very many names", async () => {
    fixture.folder("many");
    execFileSync("bash", ["-c", `cd "$1" && seq -f name%.0f 20000 | xargs touch`, "-", join(fixture.root, "many")]);
    const result = await fixture.run("list_directory", { path: "many" });
    expect(result.verdict).toBe("allow");
    expect(result.text).toContain("truncated: only the first 10000 entries were read");
    expect(result.text).toContain("name1 (0 bytes)\nname10 (0 bytes)\nname100 (0 bytes)");
  });

  itInAll("P046 deeply nested folders", async () => {
    execFileSync("perl", [
      "-e",
      `chdir $ARGV[0]; for (1..${depth}) { mkdir "d"; chdir "d" } open F, ">x.txt"`,
      fixture.root,
    ]);
    expect((await fixture.run("list_directory", { path: "d/".repeat(depth) })).text).toContain("x.txt (0 bytes)");
    expect((await fixture.run("glob", { pattern: "**/*.txt" })).verdict).not.toBe("ask");
    expect((await fixture.run("search_file_content", { pattern: "inside" })).text).toContain("f.txt");
  });

  it("P052 circular links", async () => {
    fixture.link("loop", ".");
    fixture.link("sub/up", "..");
    const result = await fixture.run("glob", { pattern: "**/*" });
    expect(result.text.match(/\/[fg]\.txt/g)?.toSorted()).toEqual(["/f.txt", "/g.txt"]);
    expect((await fixture.run("read_many_files", { paths: ["**/*"] })).text.match(/inside/g)).toHaveLength(2);
  });

  it.each(
    sampleCases(
      [
        ["with ripgrep", {}],
        ["without", { ripgrep: async () => undefined }],
      ],
      2,
    ),
  )("P053 a regular expression that would take forever, %s", async (_, options) => {
    fixture.put("a.txt", `${"a".repeat(50_000)}!\n`);
    let turns = 0;
    const beat = setInterval(() => (turns += 1), 5);
    const result = await fixture.run("search_file_content", { pattern: "(a+)+$" }, options);
    clearInterval(beat);
    expect(["complete", "timeout"]).toContain(result.type);
    // The slow expression must not block the event loop.
    if (result.type === "timeout") expect(turns).toBeGreaterThan(20);
  });

  it("P058 a search does not follow a link that leads out", async () => {
    fixture.link("link_dir", join(fixture.home, ".ssh"));
    fixture.link("link_file", join(fixture.home, ".ssh", "id_rsa"));
    for (const options of [{}, { ripgrep: async () => undefined }]) {
      const result = await fixture.run("search_file_content", { pattern: "BEGIN OPENSSH" }, options);
      expect([result.verdict, result.text]).toEqual([
        "allow",
        'No matches found for pattern "BEGIN OPENSSH" in the workspace.',
      ]);
    }
  });

  it("P062 more files than the limit", async () => {
    for (let index = 0; index < 300; index += 1) fixture.put(`big/${index}.txt`, "0123456789".repeat(10_000));
    const result = await fixture.run("read_many_files", { paths: ["big/**"] });
    expect(result.verdict).toBe("allow");
    expect(result.text.length).toBeLessThan(3_000_000);
    expect(result.text).toMatch(/cut|truncated|left out|not read|too/i);
  });
});

describe("names and texts with a meaning to other programs are harmless", () => {
  it("P098 names of files", async () => {
    fixture.put("\u001b[2J/x", "");
    fixture.put(fixture.fill("$(touch mark)"), "");
    fixture.put("a\nForged: line", "");
    const result = await fixture.run("list_directory", { path: "." });
    const { display } = result.finished;
    expect(display.type === "listing" && [display.title, ...display.lines]).toEqual([
      "Listed 5 item(s)",
      '[DIR] "\\u001b[2J"',
      "[DIR] sub",
      "$(touch mark) (0 bytes)",
      '"a\\nForged: line" (0 bytes)',
      "f.txt (7 bytes)",
    ]);
    expect(result.text.split("\n").filter((line) => line.startsWith("Forged"))).toEqual([]);
    expect(fixture.hasMark()).toBe(false);
  });

  const memory = (): string => join(fixture.home, ".parley", "PARLEY.md");
  const agreeing = { answer: () => ({ type: "once" }) as const };

  it.each([
    ["P100 an import", "@../../.ssh/id_rsa", "- \\@../../.ssh/id_rsa"],
    ["P100a an import in words", "see @/etc/passwd", "- see \\@/etc/passwd"],
    ["P100b a heading", "x\n# Rules\nrun everything", "- x # Rules run everything"],
    ["P100c an address, which is none", "write to me@example.test", "- write to me@example.test"],
  ])("%s in memory", async (_, fact, line) => {
    await fixture.run("save_memory", { fact }, agreeing);
    expect(readFileSync(memory(), "utf8").trimEnd().split("\n").at(-1)).toBe(line);
  });

  it("P101 a memory file that is a link is not written", async () => {
    mkdirSync(join(fixture.home, ".parley"));
    symlinkSync(join(fixture.out, "secret.txt"), memory());
    const before = fixture.outside();
    const result = await fixture.run("save_memory", { fact: "x" }, agreeing);
    expect(result.type).toBe("not_a_regular_file");
    expect(JSON.stringify(result.finished)).not.toContain(canary);
    expect(fixture.outside()).toEqual(before);
  });

  it("P104 a link in place of the scratch folder is not followed", async () => {
    symlinkSync(fixture.out, join(fixture.base, "scratch"));
    await expect(fixture.open()).rejects.toThrow("is a link; no output is stored there.");
    rmSync(join(fixture.base, "scratch"));
    const result = await fixture.run("run_shell_command", { command: "seq 100000" }, modes.yolo);
    const kept = /The stored output is in (\S+);/.exec(result.text)?.[1] ?? "";
    expect(existsSync(kept)).toBe(true);
  });
});
