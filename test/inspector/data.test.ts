import { describe, expect, it } from "vitest";
import { call, done, text } from "../../src/conversation/builders.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import { storeBytes } from "../../src/conversation/media.ts";
import { createPng } from "../../src/cli/tour/png.ts";
import { inspectBody, inspectConversation } from "../../src/inspect/data/inspected.ts";
import { listReadingRows, readEntryTimes } from "../../src/inspect/data/reading-rows.ts";
import { renderFor, traceRequest } from "../../src/inspect/data/aligned-request.ts";
import { composeComposition } from "../../src/inspect/data/composition.ts";
import { compareRequest, listRequestRows, sumRequests } from "../../src/inspect/data/requests.ts";
import { searchRows } from "../../src/inspect/data/search.ts";
import { providers } from "../../src/providers/all.ts";
import { composeSessionRequest } from "../../src/cli/sessions/compose-request.ts";
import { buildHistory, makeHistory } from "../support/histories.ts";
import { createRichSession } from "./rich-session.ts";

const read = async () => (await (await createRichSession()).source.load()).session;

describe("the reading view", () => {
  it("shows every call with its result, its state and its time", async () => {
    const session = await read();
    const rows = listReadingRows(session, await readEntryTimes(session));

    expect(rows.map(({ entry, type }) => `${entry} ${type}`)).toEqual([
      "0 notice",
      "1 user",
      "2 model",
      "5 model",
      "9 user",
      "10 model",
      "12 model",
      "13 user",
      "14 model",
    ]);
    const calls = rows.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "call" ? [part] : [])));
    expect(calls.map(({ tool, subject, result }) => [tool, subject, result?.status, result?.took])).toEqual([
      ["read_file", "src/queue.test.ts", "complete", 1800],
      ["run_shell_command", "for i in 1 2 3 4 5 6 7 8 9 10; do npx vitest run src/queue.test.ts; done", "error", 1800],
      ["replace", "src/queue.test.ts", "complete", 1800],
      ["screenshot", "http://127.0.0.1:5173/trace", "complete", 1800],
      ["run_shell_command", "npm test", "cancelled", 1800],
      ["run_shell_command", "npm test", "complete", 1800],
      ["run_shell_command", "grep -rn setTimeout src --include=*.test.ts", undefined, undefined],
    ]);
    expect(calls[2]?.patch).toBe(
      "--- src/queue.test.ts\n+++ src/queue.test.ts\n@@ -1,2 +1,2 @@\n   queue.push(1);\n-  await new Promise((resolve) => setTimeout(resolve, 5));\n+  await queue.drain();\n",
    );
  });

  it("removes terminal sequences from everything that was written", () => {
    const ledger = new Ledger();
    ledger.user([text("a\u001b]0;title\u0007b\u001b[31mc\u202Ed")]);
    ledger.model({ provider: "p\u001b[1m", model: "m" }, [call("t\u001b[2J", { path: "x\u001b[3J" })]);
    const { session } = inspectConversation({ version: 1, entries: ledger.entries, blobs: {} }, "x");
    const rows = listReadingRows(session);
    const { head, rows: sent } = renderFor(session, "anthropic");

    expect(rows.map(({ author, parts: [part] }) => [author, part])).toEqual([
      [undefined, { type: "text", text: "abc<U+202E>d" }],
      [
        "p␛[1m/m",
        {
          type: "call",
          id: "hist_tool_1",
          tool: "t␛[2J",
          input: '{\n  "path": "x\\u001b[3J"\n}',
          isMalformed: false,
          subject: "x␛[3J",
        },
      ],
    ]);
    // JSON is shown with its own escapes, which are plain characters.
    expect([head, ...sent.flatMap(({ pieces }) => pieces.map(({ json }) => json))].join("")).toMatch(/^[\n -~]*$/);
  });

  it("finds words in texts, arguments and results", async () => {
    const rows = listReadingRows(await read());

    expect(searchRows(rows, "DRAIN()").map(({ entry, match }) => [entry, match])).toEqual([[5, "drain()"]]);
    expect(searchRows(rows, "expected [ 1 ]").map(({ entry }) => entry)).toEqual([2]);
    expect(searchRows(rows, "absent")).toEqual([]);
    expect(searchRows(rows, "by then")[0]).toEqual({
      entry: 5,
      before: "… queue is empty ",
      match: "by then",
      after: ". `Queue.drain()` returns a promise, so the test can wait …",
    });
  });
});

describe("a conversation as a model gets it", () => {
  it("is the body that render prints, with every message traced to its entries", () => {
    for (let seed = 1; seed <= 12; seed += 1) {
      const { session } = inspectConversation(buildHistory(makeHistory(seed)).conversation, "x");
      for (const { id } of providers) {
        const { messages, body } = traceRequest(session, id);
        const plain = composeSessionRequest(session, id, {
          policy: { unsupportedMedia: "stub" },
          settings: { cache: { marks: true, key: session.id } },
        });
        expect(body).toEqual(plain.body);
        const shown = messages.flatMap(({ pieces }) => pieces.flatMap(({ entries }) => entries));
        expect(shown.every((entry) => entry >= 0 && entry < session.entries.length)).toBe(true);
      }
    }
  });

  it("puts each note where it happened, and each id beside ours", async () => {
    const rendering = renderFor(await read(), "openai/gpt-5.6");

    expect(rendering.findings).toEqual([]);
    expect(rendering.rows.flatMap(({ entry, notes }) => notes.map(({ kind }) => `${entry} ${kind}`))).toEqual([
      "2 thinking-dropped",
      "9 media-stub",
      "14 synthetic-result",
    ]);
    expect(rendering.rows.map(({ entries, pieces }) => [entries, pieces.map(({ message }) => message)])).toEqual([
      [[0], [0]],
      [[1], [1]],
      [
        [2, 3, 4],
        [2, 3, 4, 5, 6],
      ],
      [
        [5, 6, 7, 8],
        [7, 8, 9, 10, 11, 12, 13],
      ],
      [[9], [14]],
      [
        [10, 11],
        [15, 16, 17],
      ],
      [[12], [18]],
      [[13], [19]],
      [[14], [20, 21]],
    ]);
    expect(rendering.calls.map(({ call: own, id }) => [own, id]).slice(0, 2)).toEqual([
      ["hist_tool_1", "call_1"],
      ["hist_tool_2", "call_2"],
    ]);
  });

  it("keeps places right after a compaction", () => {
    const ledger = new Ledger();
    ledger.user([text("one")]);
    ledger.model({ provider: "p", model: "m" }, [text("two")]);
    ledger.user([text("three")]);
    ledger.compact("So far.", 2);
    ledger.user([text("four")]);
    const { session } = inspectConversation({ version: 1, entries: ledger.entries, blobs: {} }, "x");

    expect(
      renderFor(session, "openai-chat").rows.map(({ entry, notes }) => [entry, notes.map(({ kind }) => kind)]),
    ).toEqual([
      [2, []],
      [3, ["compacted"]],
      [4, []],
    ]);
  });

  it("reads a broken body of any API, and says what was repaired", () => {
    const body = { messages: [{ role: "tool", tool_call_id: "x", content: "lost" }], model: "gpt-4o" };
    const { session, readNotes } = inspectBody(body, "openai-chat", "body.json");

    expect(session.entries.map(({ type }) => type)).toEqual(["completion"]);
    expect(renderFor(session, "anthropic").findings).toEqual([]);
    expect(readNotes).toEqual([]);
  });
});

describe("the composition of a request", () => {
  it("names what fills it, for every provider, and adds up to the whole body", async () => {
    const session = await read();
    for (const { id } of providers) {
      const { bytes, groups } = composeComposition(session, id);
      const sum = groups.reduce((total, group) => total + group.bytes, 0);
      expect([id, sum]).toEqual([id, bytes]);
      const found = groups.map(({ group }) => group);
      for (const group of ["system", "tools", "notices", "user", "answers", "calls", "results"] as const)
        expect([id, found.includes(group)]).toEqual([id, true]);
      const { items = [] } = groups.find(({ group }) => group === "results") ?? {};
      expect([id, items.map(({ name, count }) => `${name} ${count}`).toSorted()]).toEqual([
        id,
        ["read_file 1", "replace 1", "run_shell_command 4", "screenshot 1"],
      ]);
    }
  });

  it("counts context files, skills and MCP servers by name, and media apart from the results that hold it", () => {
    const ledger = new Ledger();
    const image = storeBytes(createPng(600, 400), { mimeType: "image/png", width: 600, height: 400, name: "plan.png" });
    ledger.user([text("Look.")]);
    const [made] = ledger.model({ provider: "anthropic", model: "claude-sonnet-5" }, [call("mcp__maps__draw")]);
    ledger.complete(made!.id, "mcp__maps__draw", done("Drawn.", image.media));
    const { session } = inspectConversation(
      {
        version: 1,
        system: "You are Parley.\n\n# Rules\nBe brief.\n\n--- AGENTS.md ---\nUse tabs.\n\n# Skills\n- a\n- b",
        tools: ["mcp__maps__draw", "mcp__maps__find", "read_file"].map((name) => ({ name, parameters: {} })),
        entries: ledger.entries,
        blobs: { [image.blob.hash]: image.blob.base64 },
      },
      "x",
    );
    const { groups } = composeComposition(session, "anthropic");
    const named = groups.map(({ group, items }) => [group, items.map(({ name, count }) => `${name} ${count}`)]);

    expect(Object.fromEntries(named)).toMatchObject({
      system: ["Rules 1", "Beginning 1"],
      context: ["AGENTS.md 1"],
      skills: ["Skills 1"],
      tools: ["MCP server maps 2", "read_file 1"],
      results: ["mcp__maps__draw 1"],
      media: ["plan.png 1"],
    });
    expect(groups.find(({ group }) => group === "media")?.tokens).toBe(320);
  });
});

describe("the requests of a session", () => {
  it("have usage, time and cost, and a sum", async () => {
    const session = await read();
    const rows = await listRequestRows(session, await readEntryTimes(session));

    expect(rows.map(({ number, model, entries, took }) => [number, model, entries, took])).toEqual([
      [1, "anthropic/claude-sonnet-5", 2, 1800],
      [2, "anthropic/claude-sonnet-5", 5, 1800],
      [3, "openai/gpt-5.6", 10, 1800],
      [4, "openai/gpt-5.6", 12, 1800],
      [5, "openai/gpt-5.6", 14, 1800],
    ]);
    const { cost, ...totals } = sumRequests(rows);
    expect(totals).toEqual({ requests: 5, input: 33_000, cachedRead: 18_924, output: 670, took: 9000, unpriced: 0 });
    expect(cost).toBeGreaterThan(0);
  });

  it("cost what the user's settings say, in requests that were sent and in those for another model", async () => {
    const session = await read();
    const name = "openai/gpt-5.6";
    const models = { [name]: { context: 5000, price: { input: 1_000_000, cachedRead: 0, output: 0 } } };
    const rows = await listRequestRows(session, await readEntryTimes(session), models);
    const cost = (number: number): number | undefined => rows.find((row) => row.number === number)?.cost;
    const { input = 0, cachedRead = 0 } = rows.find(({ number }) => number === 4)?.usage ?? {};
    expect(cost(4)).toBe(input - cachedRead);
    expect(cost(1)).toBeLessThan(1);
    const { tokens, ...rendering } = renderFor(session, name, models);
    expect([rendering.cost, rendering.context]).toEqual([tokens, 5000]);
    expect(composeComposition(session, name, models).context).toBe(5000);
  });

  it("are compared with the one before: what is shared, what is new, and why", async () => {
    const session = await read();
    const compared = await Promise.all([1, 2, 3, 4, 5].map((number) => compareRequest(session, number)));

    expect(compared.map((each) => [each?.cause, each?.sharedMessages, each?.messages])).toEqual([
      ["first", 0, 2],
      ["appended", 2, 4],
      ["other-model", 0, 15],
      ["appended", 15, 18],
      ["appended", 18, 20],
    ]);
    expect(compared[1]?.cachePoints).toEqual([compared[1]?.bytes]);
    expect(compared[3]?.added.flatMap(({ entries }) => entries)).toEqual([10, 11, 10, 11, 10, 11]);
    expect(await compareRequest(session, 6)).toBeUndefined();
  });

  it("lose their shared prefix where a compaction replaces the beginning", async () => {
    const ledger = new Ledger();
    const origin = { provider: "openai", model: "gpt-5.6" };
    ledger.user([text("one")]);
    const [made] = ledger.model(origin, [call("t")]);
    ledger.complete(made!.id, "t", done("x"));
    ledger.compact("So far.", 3);
    ledger.user([text("two")]);
    ledger.model(origin, [text("three")]);
    const { session } = inspectConversation({ version: 1, entries: ledger.entries, blobs: {} }, "x");
    const at = (index: number) => ({
      sequence: index,
      at: index,
      record: { kind: "entry", index, entry: ledger.entries[index]! } as const,
    });
    const sent = { sequence: 0, at: 0, record: { kind: "request", ...origin, turn: 1, notes: [] } as const };
    const records = async function* () {
      yield* [at(0), at(1), sent, at(2), at(3), at(4), at(5), sent];
    };

    const comparison = await compareRequest({ ...session, records }, 2);
    expect([comparison?.cause, comparison?.sharedMessages, comparison?.difference?.message]).toEqual([
      "compacted",
      0,
      0,
    ]);
  });
});
