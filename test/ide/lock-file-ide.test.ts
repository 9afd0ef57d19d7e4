import { describe, expect, it } from "vitest";
import { connectLockFileIde } from "../../src/ide/lock-file-ide.ts";
import type { IdeMention } from "../../src/ide/ide.ts";
import { useIdes } from "./connected-ide.ts";
import { serveLockFile } from "./lock-file-server.ts";

/*
 * Contract of Claude Code's editor protocol, against a WebSocket server that behaves as its extensions do.
 */

const connect = useIdes({ protocol: "lock-file", connect: connectLockFileIde, serve: serveLockFile });

const range = (start: number, end: number) => ({
  start: { line: start, character: 0 },
  end: { line: end, character: 4 },
  isEmpty: false,
});

describe("an editor with a lock file", () => {
  it("is greeted as its own client greets it: token, subprotocol, initialize, ide_connected", async () => {
    const { server } = await connect();
    await server.log.count("ide_connected", 1);
    expect(server.handshakes.map((headers) => headers["sec-websocket-protocol"])).toEqual(["mcp"]);
    expect(server.log.all().map(({ method }) => method)).toEqual([
      "initialize",
      "notifications/initialized",
      "ide_connected",
      "tools/call",
    ]);
    expect(server.log.all("initialize")[0]?.params).toMatchObject({
      protocolVersion: "2024-11-05",
      clientInfo: { name: "parley" },
    });
    expect(server.log.all("ide_connected")[0]?.params).toEqual({ pid: process.pid });
  });

  it("reports the active file, the selection with lines from 1, and its open files", async () => {
    const tabs = [
      { fileName: "/p/b.ts", isActive: false },
      { uri: "file:///p/a%20b.ts", isActive: true },
      { fileName: "term://x", isActive: false },
    ];
    const { ide, server, until } = await connect({
      server: { answer: (tool) => (tool === "getOpenEditors" ? [JSON.stringify({ tabs })] : []) },
    });
    await until(() => ide.context().openFiles.length === 2);
    expect(ide.context()).toEqual({ openFiles: ["/p/a b.ts", "/p/b.ts"] });
    server.notify("selection_changed", { filePath: "/p/b.ts", text: "two\n", selection: range(1, 2) });
    await until(() => ide.context().selection !== undefined);
    expect(ide.context()).toEqual({
      openFiles: ["/p/b.ts", "/p/a b.ts"],
      selection: { path: "/p/b.ts", text: "two\n", firstLine: 2, lastLine: 3 },
    });
    server.notify("selection_changed", {
      filePath: "/p/b.ts",
      text: "",
      selection: { ...range(4, 4), isEmpty: true },
    });
    await until(() => ide.context().selection === undefined);
    expect(ide.context()).toEqual({ openFiles: ["/p/b.ts", "/p/a b.ts"] });
  });

  it("hands over each mention once", async () => {
    const { ide, server, until } = await connect();
    server.notify("at_mentioned", { filePath: "/p/a.ts", lineStart: 2, lineEnd: 4 });
    server.notify("at_mentioned", { filePath: "/p/b.ts" });
    const mentions: IdeMention[] = [];
    await until(() => mentions.push(...ide.takeMentions()) === 2);
    expect(mentions).toEqual([{ path: "/p/a.ts", firstLine: 3, lastLine: 5 }, { path: "/p/b.ts" }]);
    expect(ide.takeMentions()).toEqual([]);
  });

  it.each([
    [["FILE_SAVED", "mine\n"], { type: "accepted", text: "mine\n" }],
    [["DIFF_REJECTED", "tab"], { type: "refused" }],
    // Claude Code takes a closed tab for a yes. A person said nothing.
    [["TAB_CLOSED"], { type: "closed" }],
    [["FILE_SAVED"], { type: "closed" }],
    [["file_saved", "x"], { type: "closed" }],
    [[], { type: "closed" }],
  ] as const)("that answers a diff with %o means %o", async (texts, outcome) => {
    const { ide, server } = await connect({ server: { answer: (tool) => (tool === "openDiff" ? undefined : []) } });
    const diff = ide.openDiff({ path: "/p/a.ts", after: "new\n" });
    await server.log.count("openDiff", 1);
    server.respond("openDiff", texts);
    expect(await diff.outcome).toEqual(outcome);
  });

  it("gets each diff under a name of its own, by which it is closed", async () => {
    const { ide, server } = await connect({ server: { answer: (tool) => (tool === "openDiff" ? undefined : []) } });
    const [one, two] = [ide.openDiff({ path: "/p/a.ts", after: "1" }), ide.openDiff({ path: "/p/a.ts", after: "2" })];
    await server.log.count("openDiff", 2);
    two.close();
    await server.log.count("close_tab", 1);
    const [first, second] = server.log.calls("openDiff");
    expect(first).toEqual({
      old_file_path: "/p/a.ts",
      new_file_path: "/p/a.ts",
      new_file_contents: "1",
      tab_name: expect.stringMatching(/^✻ \[Parley\] a\.ts \([a-z0-9]+\) ⧉$/) as string,
    });
    expect(second?.["tab_name"]).not.toBe(first?.["tab_name"]);
    expect(server.log.calls("close_tab")).toEqual([{ tab_name: second?.["tab_name"] }]);
    server.drop();
    expect(await one.outcome).toEqual({ type: "closed" });
  });

  it.each(["proposed", "NEW FILE - proposed"])(
    "that has the proposed text as a document (%s) hands over what the user left in it",
    async (kind) => {
      const { ide, server } = await connect({
        server: {
          answer: (tool, { filePath }) => {
            if (tool !== "saveDocument") return tool === "openDiff" ? undefined : [];
            const isKnown = String(filePath).endsWith(`⧉ (${kind})`);
            if (isKnown) server.respond("openDiff", ["FILE_SAVED", "mine\n"]);
            return [JSON.stringify({ success: isKnown })];
          },
        },
      });
      const diff = ide.openDiff({ path: "/p/a.ts", after: "new\n" });
      await server.log.count("openDiff", 1);
      expect(await diff.closeAccepted()).toBe("mine\n");
      await server.log.count("close_tab", 1);
    },
  );

  it.each([[[]], [["Document not open"]], [['{"success":false}']], [new Error("Unknown tool")]])(
    "that answers saveDocument with %o does not tell what the user left, and its diff closes",
    async (answer) => {
      const { ide, server } = await connect({
        server: { answer: (tool) => (tool === "openDiff" ? undefined : tool === "saveDocument" ? answer : []) },
      });
      const diff = ide.openDiff({ path: "/p/a.ts", after: "new\n" });
      await server.log.count("openDiff", 1);
      expect(await diff.closeAccepted()).toBeUndefined();
      await server.log.count("close_tab", 1);
    },
  );

  it("reports problems of a file, without hints and in one line each", async () => {
    const diagnostics = [
      { message: "Cannot find\nname \u001b[31m'x'.", severity: "Error", range: range(2, 2), source: "ts", code: 2304 },
      { message: "unused", severity: "Warning", range: range(0, 0) },
      { message: "style", severity: "Hint", range: range(0, 0) },
      { message: "no range", severity: "Error" },
    ];
    const { ide, server } = await connect({
      server: {
        answer: (tool) => (tool === "getDiagnostics" ? [JSON.stringify([{ uri: "file:///p/a.ts", diagnostics }])] : []),
      },
    });
    expect(await ide.diagnostics("/p/a.ts")).toEqual([
      {
        path: "/p/a.ts",
        diagnostics: [
          { severity: "error", message: "Cannot find name ␛[31m'x'.", line: 3, source: "ts", code: "2304" },
          { severity: "warning", message: "unused", line: 1 },
        ],
      },
    ]);
    expect(server.log.calls("getDiagnostics")).toEqual([{ uri: "file:///p/a.ts" }]);
  });

  it("that cannot tell problems has none to report", async () => {
    for (const answer of [["not JSON"], ["{}"], [], new Error("File not open")] as const) {
      const { ide } = await connect({ server: { answer: (tool) => (tool === "getDiagnostics" ? answer : []) } });
      expect(await ide.diagnostics()).toBeUndefined();
    }
  });
});

describe("a hostile editor", () => {
  it("that wants another token is not used", async () => {
    await expect(connect({ token: "another-token-entirely" })).rejects.toThrow("No WebSocket connection");
  });

  it("that says nothing is given up", async () => {
    await expect(connect({ server: { isSilent: true }, limit: (ms) => ms / 10 })).rejects.toThrow(
      "No answer to initialize.",
    );
  });

  it("accepts no text for an edit that is too long", async () => {
    const { ide, server } = await connect({ server: { answer: (tool) => (tool === "openDiff" ? undefined : []) } });
    const { outcome } = ide.openDiff({ path: "/p/a.ts", after: "" });
    await server.log.count("openDiff", 1);
    server.respond("openDiff", ["FILE_SAVED", "x".repeat(4 * 2 ** 20 + 1)]);
    expect(await outcome).toEqual({ type: "closed" });
  });

  it("ends its connection with a message that is too long", async () => {
    const { ide, server, lost } = await connect({
      server: { answer: (tool) => (tool === "openDiff" ? undefined : []) },
    });
    const { outcome } = ide.openDiff({ path: "/p/a.ts", after: "" });
    await server.log.count("openDiff", 1);
    server.sendRaw("x".repeat(17 * 2 ** 20));
    await lost;
    expect(await outcome).toEqual({ type: "closed" });
  });

  it("changes nothing with messages that make no sense", async () => {
    const { ide, server, until } = await connect();
    await server.log.count("ide_connected", 1);
    const before = ide.context();
    for (const text of ["{", "[]", "null", '"x"', '{"id":{}}', '{"id":99,"result":{}}', '{"method":7}', '{"id":1}'])
      server.sendRaw(text);
    for (const params of [
      {},
      { filePath: "relative.ts", lineStart: 0, lineEnd: 1 },
      { filePath: 7 },
      { filePath: "/p/\0.ts" },
      { filePath: `/${"x".repeat(5000)}` },
      { filePath: "file://elsewhere/p" },
    ])
      server.notify("at_mentioned", params);
    server.notify("at_mentioned", { filePath: "/p/a.ts", lineStart: 5, lineEnd: 1 });
    const mentions: IdeMention[] = [];
    await until(() => mentions.push(...ide.takeMentions()) > 0);
    expect([ide.context(), mentions]).toEqual([before, [{ path: "/p/a.ts" }]]);
  });

  it("may ask whether the client lives, and nothing else", async () => {
    const { server } = await connect();
    server.sendRaw('{"jsonrpc":"2.0","id":"a","method":"ping"}');
    server.sendRaw('{"jsonrpc":"2.0","id":"b","method":"sampling/createMessage","params":{}}');
    await server.log.count("(answer)", 2);
    expect(server.log.all("(answer)").map(({ params }) => params)).toEqual([
      { jsonrpc: "2.0", id: "a", result: {} },
      { jsonrpc: "2.0", id: "b", error: { code: -32_601, message: "Method not found" } },
    ]);
  });

  it("is not asked for more than 20 files, nor 16,000 characters of a selection", async () => {
    const tabs = Array.from({ length: 200 }, (_, at) => ({ fileName: `/p/${at}.ts` }));
    const { ide, server, until } = await connect({
      server: { answer: (tool) => (tool === "getOpenEditors" ? [JSON.stringify({ tabs })] : []) },
    });
    await until(() => ide.context().openFiles.length > 0);
    server.notify("selection_changed", { filePath: "/p/0.ts", text: "x".repeat(50_000), selection: range(0, 1) });
    await until(() => ide.context().selection !== undefined);
    expect([ide.context().openFiles.length, ide.context().selection?.text.length]).toEqual([20, 16_000]);
  });
});
