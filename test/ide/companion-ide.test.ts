import { describe, expect, it } from "vitest";
import { connectCompanionIde } from "../../src/ide/companion-ide.ts";
import { serveCompanion } from "./companion-server.ts";
import { useIdes } from "./connected-ide.ts";

/*
 * Contract of the companion of Gemini CLI and Qwen Code, against an HTTP server that behaves as the extension does.
 */

const connect = useIdes({ protocol: "companion", connect: connectCompanionIde, serve: serveCompanion });

/** Without patience: time limits are over at once. */
const hurried = (ms: number): number => ms / 100;

describe("an editor with the companion", () => {
  it("gets the token, no origin, and an answer to its ping", async () => {
    const { server } = await connect();
    await server.log.count("(answer)", 1);
    expect(server.log.all("(answer)")[0]?.params).toMatchObject({ id: "alive", result: {} });
    expect(server.log.all().map(({ method }) => method)).toEqual([
      "initialize",
      "notifications/initialized",
      "(stream)",
      "(answer)",
    ]);
    expect(server.statuses.every((status) => status === 200 || status === 202)).toBe(true);
  });

  it("reports its open files, the active one first, and the selection before the cursor", async () => {
    const { ide, server, until } = await connect();
    await server.notify("ide/contextUpdate", {
      workspaceState: {
        openFiles: [
          { path: "/p/old.ts", timestamp: 1 },
          {
            path: "/p/a.ts",
            timestamp: 3,
            isActive: true,
            cursor: { line: 5, character: 2 },
            selectedText: "one\ntwo",
          },
          { path: "/p/new.ts", timestamp: 2 },
          { path: "relative.ts", timestamp: 4 },
        ],
        isTrusted: true,
      },
    });
    await until(() => ide.context().openFiles.length > 0);
    expect(ide.context()).toEqual({
      openFiles: ["/p/a.ts", "/p/new.ts", "/p/old.ts"],
      selection: { path: "/p/a.ts", text: "one\ntwo", firstLine: 4, lastLine: 5 },
    });
    await server.notify("ide/contextUpdate", { workspaceState: { openFiles: "x" } });
    await until(() => ide.context().openFiles.length === 0);
    expect(ide.context()).toEqual({ openFiles: [] });
  });

  it.each([
    ["ide/diffAccepted", { content: "mine\n" }, { type: "accepted", text: "mine\n" }],
    ["ide/diffAccepted", {}, { type: "closed" }],
    ["ide/diffRejected", {}, { type: "refused" }],
    ["ide/diffClosed", { content: "mine\n" }, { type: "closed" }],
  ] as const)("that sends %s %o means %o", async (method, params, outcome) => {
    const { ide, server } = await connect();
    const diff = ide.openDiff({ path: "/p/a.ts", after: "new\n" });
    await server.log.count("openDiff", 1);
    expect(server.log.calls("openDiff")).toEqual([{ filePath: "/p/a.ts", newContent: "new\n" }]);
    await server.notify("ide/diffAccepted", { filePath: "/p/other.ts", content: "not asked" });
    await server.notify(method, { filePath: "/p/a.ts", ...params });
    expect(await diff.outcome).toEqual(outcome);
  });

  it.each([
    ['{"content":"left\\n"}', "left\n"],
    ["{}", undefined],
    ["left as text\n", "left as text\n"],
    ['{"name":"a JSON file"}', '{"name":"a JSON file"}'],
    [undefined, undefined],
  ] as const)("that answers closeDiff with %s left %s", async (answer, left) => {
    const { ide } = await connect({ server: { answer: (tool) => (tool === "closeDiff" ? answer : undefined) } });
    const diff = ide.openDiff({ path: "/p/a.ts", after: "new\n" });
    expect(await diff.closeAccepted()).toBe(left);
    expect(await diff.outcome).toEqual({ type: "closed" });
  });

  it("that refuses the token is not used", async () => {
    await expect(connect({ token: "another-token" })).rejects.toThrow("The editor did not accept initialize.");
  });

  it("that dies while a diff is open gave no answer", async () => {
    const { ide, server, lost } = await connect();
    const diff = ide.openDiff({ path: "/p/a.ts", after: "new\n" });
    await server.log.count("openDiff", 1);
    await server.log.count("(stream)", 1);
    await server.close();
    await lost;
    expect(await diff.outcome).toEqual({ type: "closed" });
  });

  it("that never answers is given up", async () => {
    let isHurried = false;
    const { ide } = await connect({ server: { answer: () => "hang" }, limit: (ms) => (isHurried ? hurried(ms) : ms) });
    isHurried = true;
    expect(await ide.openDiff({ path: "/p/a.ts", after: "" }).outcome).toEqual({ type: "closed" });
  });
});
