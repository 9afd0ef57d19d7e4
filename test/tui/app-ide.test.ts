import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { bin, ensureBuilt } from "../built.ts";
import { serveCompanion, type CompanionServer, type CompanionServerOptions } from "../ide/companion-server.ts";
import { serveLockFile, writeLockFile, type LockFileServer } from "../ide/lock-file-server.ts";
import { serveRecorder, type RecorderModel, type RecorderReply } from "../ide/recorder-model.ts";
import { runInTerminal } from "./terminal.ts";
import { appFixtures, type AppFixture, type AppOptions, type RunningApp } from "./app-fixture.ts";

/*
 * The packaged program with an editor: real sockets, a real pseudo-terminal.
 */

ensureBuilt();
const { on } = appFixtures();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

type Stage = AppFixture & { readonly app: RunningApp; readonly model: RecorderModel };
type StageOptions = Pick<AppOptions, "files" | "isTrusted"> & {
  readonly replies: readonly RecorderReply[];
  readonly prepare?: (fixture: AppFixture) => Readonly<Record<string, string>> | undefined;
};

const stage = async ({ replies, prepare = () => undefined, ...options }: StageOptions): Promise<Stage> => {
  const model = await serveRecorder(replies);
  closers.push(model.close);
  const fixture = await on({ size: { columns: 120, rows: 30 }, ...options, args: model.args });
  const app = fixture.start({ env: { ...model.env, ...prepare(fixture) } });
  return { ...fixture, app, model };
};

/** The program beside an editor with a lock file. */
const withLockFile = async (
  options: StageOptions,
  answer: (tool: string, project: string) => readonly string[] | undefined = (tool) =>
    tool === "openDiff" ? undefined : [],
): Promise<Stage & { readonly editor: LockFileServer }> => {
  let folder = "";
  const server = await serveLockFile({ answer: (tool) => answer(tool, folder) });
  closers.push(server.close);
  const staged = await stage({
    ...options,
    prepare: ({ home, project }) => {
      folder = project;
      writeLockFile(home, server, { workspaceFolders: [project] });
      return undefined;
    },
  });
  await staged.app.waitForText("Connected to Testpad.");
  return { ...staged, editor: server };
};

const write = (path: string, content: string): RecorderReply => ({
  tool: "write_file",
  input: { file_path: path, content },
});

const range = (start: number, end: number) => ({
  start: { line: start, character: 0 },
  end: { line: end, character: 1 },
  isEmpty: false,
});

describe("the context of the editor", () => {
  it("goes into the next message, once and only where it changed, and never into the head of a request", async () => {
    const { app, model, project, editor } = await withLockFile(
      { files: { "a.ts": "one\ntwo\n", "b.ts": "b\n" }, replies: ["First.", "Second.", "Third."] },
      (tool, folder) =>
        tool === "getOpenEditors"
          ? [JSON.stringify({ tabs: ["a.ts", "b.ts"].map((name) => ({ fileName: join(folder, name) })) })]
          : [],
    );
    // Through a link outside the project, as in editors that do not resolve links.
    symlinkSync(project, `${project}-link`);
    editor.notify("selection_changed", { filePath: `${project}-link/a.ts`, text: "two\n", selection: range(1, 1) });
    await app.waitForText("Testpad: a.ts, line 2");
    app.submit("look");
    await app.waitForText("First.");
    await app.waitUntilIdle();
    app.submit("again");
    await app.waitForText("Second.");
    await app.waitUntilIdle();
    editor.notify("selection_changed", { filePath: join(project, "b.ts"), text: "", selection: range(0, 0) });
    await app.waitForText(/Testpad: b\.ts\s/);
    app.submit("more");
    await app.waitForText("Third.");
    expect([0, 1, 2].map(model.lastTexts)).toEqual([
      ["look", "My editor shows a.ts. Also open: b.ts.\nSelected in my editor, a.ts, line 2:\n```\ntwo\n```"],
      ["again"],
      ["more", "My editor now shows b.ts.\nNothing is selected in my editor now."],
    ]);
    const heads = model.requests.map((messages) => JSON.stringify(messages[0]));
    expect([new Set(heads).size, heads[0]?.includes("my editor")]).toEqual([1, false]);
    await app.quit();
  });

  it("names no ignored file and none outside the project, nor what is selected there", async () => {
    const { app, model, home, project, editor } = await withLockFile(
      { files: { "a.ts": "a\n", "secret.txt": "canary\n", ".parleyignore": "secret.txt\n" }, replies: ["Done."] },
      (tool, folder) =>
        tool === "getOpenEditors"
          ? [JSON.stringify({ tabs: ["a.ts", "secret.txt"].map((name) => ({ fileName: join(folder, name) })) })]
          : [],
    );
    for (const filePath of [join(home, ".claude/ide/x.lock"), join(project, "secret.txt")])
      editor.notify("selection_changed", { filePath, text: "canary", selection: range(0, 0) });
    editor.notify("at_mentioned", { filePath: join(project, "secret.txt"), lineStart: 0, lineEnd: 0 });
    await app.waitForText("Not sent: secret.txt is ignored, or not a file of this project.");
    app.submit("look");
    await app.waitForText("Done.");
    expect(model.lastTexts(0)).toEqual(["look", "My editor shows a.ts."]);
    expect(JSON.stringify(model.requests)).not.toContain("canary");
    await app.quit();
  });

  it("holds the places the user sends, with their lines", async () => {
    const { app, model, project, editor } = await withLockFile({
      files: { "a.ts": "one\ntwo\nthree\n", "b.ts": "all of b\n" },
      replies: ["Done."],
    });
    editor.notify("at_mentioned", { filePath: join(project, "a.ts"), lineStart: 1, lineEnd: 2 });
    await app.waitForText("Added to your next message: a.ts, lines 2-3");
    editor.notify("at_mentioned", { filePath: join(project, "b.ts") });
    await app.waitForText("Added to your next message: b.ts");
    app.submit("look");
    await app.waitForText("Done.");
    expect(model.lastTexts(0)).toEqual([
      "look",
      "Sent from my editor: a.ts, lines 2-3\n```\ntwo\nthree\n```",
      "Sent from my editor: b.ts",
      "--- b.ts ---\nall of b\n",
    ]);
    await app.quit();
  });

  it("is not read where the user does not want it", async () => {
    const server = await serveLockFile();
    closers.push(server.close);
    const { app } = await stage({
      replies: [],
      files: { "a.ts": "" },
      prepare: ({ home, project }) => {
        writeLockFile(home, server, { workspaceFolders: [project] });
        mkdirSync(join(home, ".parley"), { recursive: true });
        writeFileSync(join(home, ".parley", "settings.json"), JSON.stringify({ ide: { connect: "off" } }));
        return undefined;
      },
    });
    await app.waitUntilIdle();
    expect(server.handshakes).toEqual([]);
    app.submit("/ide");
    await app.waitForText("Testpad");
    app.type("\r");
    await app.waitForText("Connected to Testpad.");
    app.submit("/ide off");
    await app.waitForText("Disconnected from Testpad.");
    await server.log.count("(closed)", 1);
    await app.quit();
  });
});

describe("without an editor", () => {
  it("nothing of all this is loaded, in the terminal UI too", async () => {
    const { home, project } = await on({});
    const loaded = join(home, "loaded.txt");
    const app = runInTerminal(bin, {
      node: ["--import", fileURLToPath(new URL("../support/loaded.mjs", import.meta.url))],
      args: ["--cwd", project],
      env: { HOME: home, LOADED: loaded },
    });
    await app.waitFor((rows) => rows.some((row) => / · \d+% of \d/.test(row)));
    app.type("/quit\r");
    await app.ended;
    const urls = [...new Set(readFileSync(loaded, "utf8").trim().split("\n"))];
    const parts = urls.filter((url) => url.endsWith(".cjs")).map((url) => readFileSync(fileURLToPath(url), "utf8"));
    const texts = [
      "Several editors have this folder open",
      "selection_changed",
      "sec-websocket-key",
      "Connect to which",
    ];
    expect([parts.length > 2, texts.filter((text) => parts.some((part) => part.includes(text)))]).toEqual([true, []]);
  });
});

describe("an edit that waits for approval", () => {
  const question = /^╭─ (?:Write|Edit) a\.txt\? /;

  const ask = async (files: Readonly<Record<string, string>> = { "a.txt": "old\n" }) => {
    const staged = await withLockFile({ files, replies: [write("a.txt", "new\n"), "Good."] });
    staged.app.submit("do it");
    await staged.app.waitForText(question);
    await staged.editor.log.count("openDiff", 1);
    return staged;
  };

  const isAnswered = (app: RunningApp): Promise<unknown> =>
    app.waitFor((rows) => rows.some((row) => row.includes("Good.")) && !rows.some((row) => question.test(row)));

  it("is shown in the editor and in the terminal; accepted in the editor, it is written", async () => {
    const { app, editor, project, read, model } = await ask();
    expect(editor.log.calls("openDiff")[0]).toMatchObject({
      old_file_path: join(project, "a.txt"),
      new_file_contents: "new\n",
    });
    expect(read("a.txt")).toBe("old\n");
    editor.respond("openDiff", ["FILE_SAVED", "new\n"]);
    await isAnswered(app);
    await app.waitForText("Accepted in Testpad.");
    expect(read("a.txt")).toBe("new\n");
    expect(JSON.stringify(model.requests[1]?.at(-1))).not.toContain("The user changed");
    await app.quit();
  });

  it("changed in the editor, is written as changed, and the model gets to know", async () => {
    const { app, editor, read, model } = await ask();
    editor.respond("openDiff", ["FILE_SAVED", "mine\n"]);
    await isAnswered(app);
    await app.waitForText("Accepted in Testpad, with your changes.");
    expect(read("a.txt")).toBe("mine\n");
    expect(JSON.stringify(model.requests[1]?.at(-1))).toContain(
      "The user changed the edit before approving it; the file now contains the user's version:\\nmine\\n",
    );
    expect(editor.log.calls("openDiff")).toHaveLength(1);
    await app.quit();
  });

  it("refused in the editor, is not written", async () => {
    const { app, editor, read, model } = await ask();
    editor.respond("openDiff", ["DIFF_REJECTED", "tab"]);
    await isAnswered(app);
    await app.waitForText("Refused in Testpad.");
    expect(read("a.txt")).toBe("old\n");
    expect(JSON.stringify(model.requests[1]?.at(-1))).toContain("The user refused this call.");
    await app.quit();
  });

  it("answered in the terminal, disappears from the editor, and a later answer of it changes nothing", async () => {
    const { app, editor, read } = await ask();
    app.type("n\r");
    await isAnswered(app);
    await editor.log.count("close_tab", 1);
    expect(editor.log.calls("close_tab")).toEqual([{ tab_name: editor.log.calls("openDiff")[0]?.["tab_name"] }]);
    editor.respond("openDiff", ["FILE_SAVED", "late\n"]);
    await app.waitUntilIdle();
    expect(read("a.txt")).toBe("old\n");
    await app.quit();
  });

  it("is approved by no closed tab", async () => {
    const { app, editor, read } = await ask();
    editor.respond("openDiff", ["TAB_CLOSED"]);
    await app.waitForText("The diff in Testpad was closed without an answer. Answer here.");
    expect(read("a.txt")).toBe("old\n");
    app.type("y");
    await isAnswered(app);
    expect(read("a.txt")).toBe("new\n");
    await app.quit();
  });

  it("stays in the terminal when the editor dies", async () => {
    const { app, editor, read } = await ask();
    editor.drop();
    await app.waitForText("Lost the connection to Testpad. Reconnect with /ide.");
    expect([read("a.txt"), app.screen.rows().some((row) => question.test(row))]).toEqual(["old\n", true]);
    app.type("y");
    await isAnswered(app);
    expect(read("a.txt")).toBe("new\n");
    await app.quit();
  });

  it("is answered at once in the terminal while the editor hangs", async () => {
    const staged = await withLockFile(
      { files: { "a.txt": "old\n" }, replies: [write("a.txt", "new\n"), "Good."] },
      () => undefined,
    );
    staged.app.submit("do it");
    await staged.app.waitForText(question);
    staged.app.type("y");
    await isAnswered(staged.app);
    expect(staged.read("a.txt")).toBe("new\n");
    await staged.app.quit();
  });

  it("of two is shown one after the other", async () => {
    const { app, editor, read } = await withLockFile({
      files: { "a.txt": "a\n", "b.txt": "b\n" },
      replies: [write("a.txt", "A\n"), write("b.txt", "B\n"), "Good."],
    });
    app.submit("do it");
    for (const [at, text] of ["A\n", "B\n"].entries()) {
      await editor.log.count("openDiff", at + 1);
      editor.respond("openDiff", ["FILE_SAVED", text]);
    }
    await app.waitForText("Good.");
    expect([read("a.txt"), read("b.txt")]).toEqual(["A\n", "B\n"]);
    await app.quit();
  });
});

describe("new problems after an edit", () => {
  it("reach the model with the next request, and only the new ones", async () => {
    const problem = (message: string, line: number) => ({ message, severity: "Error", range: range(line, line) });
    let problems = [problem("old problem", 0)];
    const { app, model, editor } = await withLockFile(
      { files: { "a.txt": "old\n" }, replies: [write("a.txt", "new\n"), "Good.", "Better."] },
      (tool, folder) => {
        if (tool === "openDiff") return undefined;
        if (tool !== "getDiagnostics") return [];
        return [JSON.stringify([{ uri: pathToFileURL(join(folder, "a.txt")).href, diagnostics: problems }])];
      },
    );
    app.submit("do it");
    await editor.log.count("openDiff", 1);
    problems = [problem("old problem", 1), problem("new problem", 4)];
    editor.respond("openDiff", ["FILE_SAVED", "new\n"]);
    await app.waitForText("Testpad: 1 new problem in a.txt. Sent with the next request.");
    await app.waitUntilIdle();
    app.submit("and now?");
    await app.waitForText("Better.");
    const said = JSON.stringify(model.requests[2]);
    expect(said).toContain("reports new problems after the edit of a.txt:\\n- line 5, error: new problem");
    expect(said).not.toContain("old problem");
    await app.quit();
  });
});

describe("an editor with the companion of Gemini CLI", () => {
  const withCompanion = async (
    options: StageOptions,
    server: CompanionServerOptions = {},
  ): Promise<Stage & { readonly editor: CompanionServer }> => {
    const editor = await serveCompanion(server);
    closers.push(editor.close);
    const staged = await stage({
      ...options,
      prepare: () => ({
        GEMINI_CLI_IDE_SERVER_PORT: String(editor.port),
        GEMINI_CLI_IDE_AUTH_TOKEN: editor.token,
      }),
    });
    await staged.app.waitForText("Connected to the editor.");
    return { ...staged, editor };
  };

  it("gives context, and accepts an edit with the user's changes", async () => {
    const { app, editor, project, read, model } = await withCompanion({
      files: { "a.txt": "old\n" },
      replies: [write("a.txt", "new\n"), "Good."],
    });
    const path = join(project, "a.txt");
    await editor.notify("ide/contextUpdate", {
      workspaceState: { openFiles: [{ path, timestamp: 1, isActive: true }] },
    });
    await app.waitForText("the editor: a.txt");
    app.submit("do it");
    await editor.log.count("openDiff", 1);
    await editor.notify("ide/diffAccepted", { filePath: path, content: "mine\n" });
    await app.waitForText("Good.");
    expect(read("a.txt")).toBe("mine\n");
    expect(model.lastTexts(0)).toEqual(["do it", "My editor shows a.txt."]);
    await app.quit();
  });

  it("asks again about a text the user changed there but approved in the terminal", async () => {
    const { app, editor, read } = await withCompanion(
      { files: { "a.txt": "old\n" }, replies: [write("a.txt", "new\n"), "Good."] },
      { answer: (tool) => (tool === "closeDiff" ? '{"content":"mine\\n"}' : undefined) },
    );
    app.submit("do it");
    await app.waitForText(/\+ new /);
    await editor.log.count("openDiff", 1);
    app.type("y");
    await app.waitForText("You changed the text in the editor.");
    await app.waitForText(/\+ mine /);
    expect(read("a.txt")).toBe("old\n");
    app.type("y");
    await app.waitForText("Good.");
    expect(read("a.txt")).toBe("mine\n");
    await app.quit();
  });
});
