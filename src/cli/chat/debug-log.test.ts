import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../agent/events.ts";
import { done } from "../../conversation/builders.ts";
import { callId } from "../../conversation/call-ids.ts";
import { openDebugLog, type DebugLog } from "./debug-log.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-debug-"));
afterAll(() => rmSync(folder, { recursive: true }));

const open = (
  name: string,
): { readonly path: string; readonly log: DebugLog; readonly troubles: readonly string[] } => {
  const troubles: string[] = [];
  const path = join(folder, name);
  return { path, troubles, log: openDebugLog({ path, now: () => 0, onError: (words) => troubles.push(words) }) };
};
const linesIn = (path: string): readonly unknown[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
const time = "1970-01-01T00:00:00.000Z";
const notice = (text: string): AgentEvent => ({ type: "notice", text });

describe("a debug log", () => {
  it("appends every event with its time, one per line", async () => {
    const { path, log } = open("lines");
    log.record({ type: "text", text: "two\nlines" });
    log.record({ type: "finished", reason: "stop", text: "" });
    await log.close();
    const { log: later } = open("lines");
    later.record({ type: "cancelled" });
    await later.close();
    expect(linesIn(path)).toEqual([
      { time, type: "text", text: "two\nlines" },
      { time, type: "finished", reason: "stop", text: "" },
      { time, type: "cancelled" },
    ]);
  });

  it.skipIf(process.platform === "win32")("is readable by its owner only, even if it was readable by all", async () => {
    const { path, log } = open("fresh");
    await log.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, "");
    chmodSync(path, 0o644);
    await open("fresh").log.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("writes the size of files instead of their bytes, and truncates long texts", async () => {
    const { path, log } = open("bytes");
    const blobs = { abc: Buffer.alloc(1000).toString("base64") };
    const id = callId(1);
    const call = { type: "call", id, tool: "t", input: { type: "parsed", value: {} } } as const;
    const record = {
      function_name: "t",
      function_args: {},
      duration_ms: 1,
      success: true,
      tool_type: "native",
    } as const;
    const display = { type: "text", text: "" } as const;
    const bytes = { raw: Buffer.alloc(7), more: new Uint8Array(8), big: 9n, long: "x".repeat(100_001) };
    const finished = { call, outcome: done("ok"), blobs, display, duration: 1, record, ...bytes };
    log.record({ type: "call-completed", finished });
    await log.close();
    expect(linesIn(path)).toEqual([
      {
        time,
        type: "call-completed",
        finished: {
          call,
          outcome: done("ok"),
          blobs: { abc: "(1000 bytes)" },
          display,
          duration: 1,
          record,
          raw: "(7 bytes)",
          more: "(8 bytes)",
          big: "9",
          long: `${"x".repeat(100_000)}... (100001 characters)`,
        },
      },
    ]);
  });

  it("continues after an event that cannot be serialized", async () => {
    const { path, log, troubles } = open("cycle");
    const round: { self?: unknown } = {};
    round.self = round;
    log.record(Object.assign(notice("round"), { round }));
    log.record(notice("after"));
    await log.close();
    expect(linesIn(path)).toEqual([
      { time, type: "notice", unwritable: expect.stringContaining("circular") as unknown },
      { time, type: "notice", text: "after" },
    ]);
    expect(troubles).toEqual([]);
  });

  it("that cannot be written is reported once, and nothing fails", async () => {
    const { path, log, troubles } = open("missing/log");
    log.record(notice("one"));
    log.record(notice("two"));
    await log.close();
    expect(troubles).toEqual([expect.stringContaining("Cannot write the debug log. ENOENT")]);
    expect(existsSync(path)).toBe(false);
  });

  it.skipIf(process.platform !== "linux")("on a full disk reports the error once", async () => {
    const troubles: string[] = [];
    const log = openDebugLog({ path: "/dev/full", now: () => 0, onError: (words) => troubles.push(words) });
    for (const words of ["one", "two", "three"]) log.record(notice(words));
    await log.close();
    expect(troubles).toEqual([expect.stringContaining("ENOSPC")]);
  });
});
