import { call, cancelled, done, failed, structured, text } from "../../src/conversation/builders.ts";
import type { Origin } from "../../src/conversation/entry.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import { storeBytes } from "../../src/conversation/media.ts";
import { createPng } from "../../src/cli/tour/png.ts";
import { inspectSession } from "../../src/inspect/data/inspected.ts";
import type { InspectionSource } from "../../src/inspect/server/inspection.ts";
import type { NewRecord } from "../../src/session/log/record.ts";
import { createSessionFixture, root } from "../../src/session/session.cases.ts";
import type { Session } from "../../src/session/session.ts";
import type { World } from "../../src/world/world.ts";

const anthropic: Origin = { provider: "anthropic", model: "claude-sonnet-5" };
const openai: Origin = { provider: "openai", model: "gpt-5.6" };

/** A session on a simulated disk, and the source that serves it. */
export type RichSession = {
  readonly session: Session;
  readonly source: InspectionSource;
  readonly world: World;
  /** Appends a message of the user. */
  readonly say: (words: string) => Promise<void>;
};

/** A session with all there is: Markdown, edits, images, thinking, failed and cancelled calls, two models, a call without result. */
export const createRichSession = async (): Promise<RichSession> => {
  const { sessions, world } = createSessionFixture();
  const session = await sessions.create({
    root,
    system: "You are Parley, a careful engineer.\nAnswer briefly.",
    tools: [
      {
        name: "read_file",
        description: "Reads a file.",
        parameters: { type: "object", properties: { file_path: { type: "string" } } },
      },
      {
        name: "replace",
        description: "Edits a file.",
        parameters: { type: "object", properties: { file_path: { type: "string" } } },
      },
      {
        name: "run_shell_command",
        description: "Runs a command.",
        parameters: { type: "object", properties: { command: { type: "string" } } },
      },
    ],
    model: anthropic,
  });
  const ledger = new Ledger();
  let written = 0;
  let revision = 0;
  const commit = async (...more: readonly NewRecord[]): Promise<void> => {
    const fresh = ledger.entries.slice(written);
    written = ledger.entries.length;
    await session.append([...fresh.map((entry): NewRecord => ({ kind: "entry", entry })), ...more]);
    revision += 1;
    world.shiftWallClock(1800);
  };
  const request = ({ provider, model }: Origin, usage: Record<string, number>, turn = 1): NewRecord => ({
    kind: "request",
    provider,
    model,
    turn,
    usage,
    notes: [],
  });
  const image = storeBytes(createPng(320, 160), { mimeType: "image/png", name: "trace.png", width: 320, height: 160 });
  const sound = storeBytes(new Uint8Array(2000), { mimeType: "audio/wav", name: "beep.wav" });
  await session.storeBlobs({ [image.blob.hash]: image.blob.base64, [sound.blob.hash]: sound.blob.base64 });

  await session.append([{ kind: "title", title: "Find the flaky test" }]);
  ledger.notice("The workspace is a TypeScript project with 214 files.");
  ledger.user([
    text(
      "One of our tests fails about **once in ten runs**. Here is what the CI shows:\n\n| test | failures |\n| --- | --- |\n| `queue.test.ts` | 3 of 30 |\n| `store.test.ts` | 0 of 30 |\n\nFind out why, and fix it. See [the build](https://ci.example.org/builds/1412).",
    ),
    image.media,
  ]);
  await commit();
  const [read, run] = ledger.model(anthropic, [
    {
      type: "thinking",
      text: "The queue test probably depends on timing. I should read it first, and run it a few times.",
      seal: { signature: "c2VhbGVk" },
    },
    text("I will read the test and run it ten times."),
    call("read_file", { file_path: "src/queue.test.ts" }),
    call("run_shell_command", { command: "for i in 1 2 3 4 5 6 7 8 9 10; do npx vitest run src/queue.test.ts; done" }),
  ]);
  await commit(request(anthropic, { input: 5200, cachedRead: 0, cachedWrite: 5100, output: 180, reasoning: 40 }));
  ledger.complete(
    read!.id,
    "read_file",
    done(
      'import { Queue } from "./queue.ts";\n\nit("drains in order", async () => {\n  const queue = new Queue();\n  queue.push(1);\n  await new Promise((resolve) => setTimeout(resolve, 5));\n  expect(queue.items).toEqual([]);\n});\n',
    ),
  );
  ledger.complete(
    run!.id,
    "run_shell_command",
    failed(
      "FAIL src/queue.test.ts > drains in order\nAssertionError: expected [ 1 ] to deeply equal []\n\nTests  1 failed | 9 passed (10)",
    ),
  );
  await commit();
  const [edit, shot, stop] = ledger.model(anthropic, [
    text(
      "The test waits **5 ms** and hopes that the queue is empty by then. `Queue.drain()` returns a promise, so the test can wait for that:\n\n```ts\nawait queue.drain();\n```\n\n1. Change the test.\n2. Look at the trace.",
    ),
    call("replace", {
      file_path: "src/queue.test.ts",
      old_string: "  queue.push(1);\n  await new Promise((resolve) => setTimeout(resolve, 5));\n",
      new_string: "  queue.push(1);\n  await queue.drain();\n",
    }),
    call("screenshot", { url: "http://127.0.0.1:5173/trace" }),
    call("run_shell_command", { command: "npm test" }),
  ]);
  await commit(request(anthropic, { input: 6100, cachedRead: 5100, cachedWrite: 900, output: 240, reasoning: 0 }));
  ledger.complete(edit!.id, "replace", done("Replaced 1 occurrence."));
  ledger.complete(shot!.id, "screenshot", done("The trace:", image.media));
  ledger.complete(stop!.id, "run_shell_command", cancelled());
  ledger.user([text("Stop, use the other model for the rest."), sound.media]);
  await commit({ kind: "model", ...openai, reason: "user" });
  const [again] = ledger.model(openai, [
    text("Understood. I will run the whole suite."),
    call("run_shell_command", { command: "npm test" }),
  ]);
  await commit(request(openai, { input: 6900, cachedRead: 0, cachedWrite: 0, output: 90, reasoning: 30 }, 2));
  ledger.complete(again!.id, "run_shell_command", done(structured({ tests: 214, failed: 0, seconds: 12.4 })));
  await commit();
  ledger.model(openai, [
    text(
      "All 214 tests pass. The flaky test now waits for the queue itself:\n\n> Wait for the event, not for the clock.\n\n- [x] fix the test\n- [ ] look for the same pattern elsewhere",
    ),
  ]);
  await commit(request(openai, { input: 7300, cachedRead: 6656, cachedWrite: 0, output: 120, reasoning: 0 }, 2));
  ledger.user([text("Good. Look for the same pattern elsewhere.")]);
  await commit();
  ledger.model(openai, [call("run_shell_command", { command: "grep -rn setTimeout src --include=*.test.ts" })]);
  await commit(request(openai, { input: 7500, cachedRead: 7168, cachedWrite: 0, output: 40, reasoning: 0 }, 3));
  return {
    session,
    world,
    source: { load: async () => inspectSession(await sessions.read(session.id)), revision: async () => `${revision}` },
    say: async (words) => {
      ledger.user([text(words)]);
      await commit();
    },
  };
};
