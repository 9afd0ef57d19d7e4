import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../built.ts";
import { appFixtures } from "./app-fixture.ts";

beforeAll(ensureBuilt);
const { on, started } = appFixtures();

const git = (cwd: string, ...args: readonly string[]): void =>
  void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd, stdio: "pipe" });

const commitAll = (project: string): void => {
  git(project, "init", "-q", "-b", "trunk");
  git(project, "add", "-A");
  git(project, "commit", "-qm", "first");
};

describe("the start screen", () => {
  it("shows branch, context files and a hint, and quitting prints how to resume", async () => {
    const { start, project } = await on({ files: { "AGENTS.md": "Be brief.", "a.txt": "one\n" } });
    commitAll(project);
    const app = start({ args: ["-m", "offline"] });
    await app.waitForText("Branch: trunk");
    await app.waitForText("Context: AGENTS.md");
    await app.waitForText("Tip: @ attaches a file");
    app.submit("which model are you?");
    await app.waitForText(/^I am /);
    await app.waitUntilIdle();
    app.submit("/exit");
    expect((await app.ended).code).toBe(0);
    expect(app.screen.rows().join("\n")).toMatch(/Resume this session with: parley -r \w+/);
  });
});

describe("commands", () => {
  it("show changes, settings and costs, also by their usual names", async () => {
    const { start, project, home } = await on({ files: { "a.txt": "one\n" } });
    commitAll(project);
    git(project, "config", "diff.external", "touch ran");
    const app = start({ args: ["-m", "offline"], size: { columns: 80, rows: 60 } });
    await app.waitUntilIdle();
    app.submit("/diff");
    await app.waitForText("No changes since the last commit.");
    writeFileSync(join(project, "a.txt"), "two\n");
    writeFileSync(join(project, "b.txt"), "new\n");
    app.submit("/diff");
    await app.waitForText("+two");
    await app.waitForText("New files: b.txt");
    app.submit("/diff --stat");
    await app.waitForText("No changes in --stat since the last commit. /diff takes one file or folder.");
    app.submit("/config ui.theme");
    await app.waitForText("auto");
    app.submit("/config limits.spend 3");
    await app.waitForText("Set limits.spend. Used from the next session (/new).");
    app.submit("/config");
    await app.waitForText(/^limits\.spend +3 {2}.*settings\.json$/);
    await app.waitForText("Change a setting with /config NAME VALUE");
    app.submit("/stats");
    await app.waitForText(/0 requests, 0 tokens in/);
    app.submit("/cost");
    await app.waitForText("No requests since the session was opened.");
    app.submit("/new");
    await app.waitFor((rows) => rows.filter((row) => row === "Branch: trunk").length === 2);
    const other = join(home, "..", "other");
    mkdirSync(other);
    app.submit("/add-dir ../other");
    await app.waitForText(/^Added .*other to the workspace of this run\./);
    await app.waitForText("/config context.includeDirectories");
    writeFileSync(join(other, "f.txt"), "text");
    app.submit("/add-dir ../other/f.txt");
    await app.waitForText(/^Not a folder: .*f\.txt$/);
    app.submit("/add-dir ../none");
    await app.waitForText(/^No such folder: .*none$/);
    await app.quit();
  });

  it("ask the model for a context file and for a review", async () => {
    const script = {
      rules: [
        { prompt: "write AGENTS.md", replies: [{ say: "Initialized." }] },
        { prompt: "Review this: src/a.ts", replies: [{ say: "Reviewed." }] },
      ],
    };
    const [app] = await started({ script });
    app.submit("/init");
    await app.waitForText("Initialized.");
    await app.waitUntilIdle();
    app.submit("/review src/a.ts");
    await app.waitForText("Reviewed.");
    await app.waitUntilIdle();
    // The session is opened again; its messages are on the screen.
    app.submit("/add-dir ..");
    const rows = await app.waitForText(/to the workspace of this run\./);
    expect(rows.filter((row) => row === "Reviewed.")).toHaveLength(1);
    await app.quit();
  });
});
