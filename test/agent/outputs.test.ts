import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/agent/events.ts";
import { skippedCallResult } from "../../src/agent/turn/skipped-call.ts";
import { createStreamOutput, createTextOutput } from "../../src/cli/headless/output.ts";
import { callId } from "../../src/conversation/call-ids.ts";
import { storeBytes } from "../../src/conversation/media.ts";
import type { Call } from "../../src/conversation/parts.ts";

const path = new URL("../../schemas/headless-stream-json.schema.json", import.meta.url);
const check = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(
  JSON.parse(readFileSync(path, "utf8")) as object,
);

const call: Call = { type: "call", id: callId(1), tool: "add", input: { type: "parsed", value: { a: 1 } } };
const failure = { provider: "openai", label: "OpenAI", kind: "overloaded" } as const;
const usage = { input: 10, cachedRead: 4, cachedWrite: 2, output: 5, reasoning: 1 };
const spent = { requests: 1, input: 10, cachedRead: 4, output: 5, cost: 0, unpriced: 1 };
const { media } = storeBytes(new Uint8Array([1]), { mimeType: "image/png" });

/** One event of every type, so that a new type cannot be forgotten here. */
const examples: { readonly [type in AgentEvent["type"]]: Extract<AgentEvent, { type: type }> } = {
  user: { type: "user", parts: [{ type: "text", text: "Look:" }, media] },
  thought: { type: "thought", text: "Hm." },
  text: { type: "text", text: "Well." },
  message: { type: "message", text: "Well.", thought: "Hm.", media: [] },
  "call-requested": { type: "call-requested", call, isClientInitiated: false, promptId: "s#2" },
  "call-updated": {
    type: "call-updated",
    call: call.id,
    status: {
      state: "awaiting_approval",
      approval: {
        title: "1 + 2",
        reason: "It asks.",
        isRoutine: false,
        always: [],
        subject: { type: "info", text: "1 + 2" },
      },
    },
  },
  "call-output": { type: "call-output", call: call.id, text: "1\n" },
  "permission-added": { type: "permission-added", rules: ["edits"], scope: "session" },
  "call-completed": { type: "call-completed", finished: skippedCallResult(call, "It was not run.") },
  usage: { type: "usage", model: "openai/gpt-5", usage, spent },
  "model-changed": {
    type: "model-changed",
    from: "openai/gpt-5",
    to: "google/gemini-3-pro",
    reason: { type: "failover", failure },
  },
  request: {
    type: "request",
    request: { number: 1, model: "openai/gpt-5", url: "https://api.openai.com/v1/responses", bytes: 2, attempt: 1 },
    report: { target: "openai/gpt-5", idFormat: "any", calls: [], notes: [] } as unknown as Extract<
      AgentEvent,
      { type: "request" }
    >["report"],
  },
  compacted: { type: "compacted", compaction: { by: "summary", before: 1000.5, after: 100 } },
  retrying: { type: "retrying", failure, delay: 12.34, discarded: true },
  notice: { type: "notice", text: "It wants it otherwise." },
  hook: {
    type: "hook",
    activity: {
      event: "PreToolUse",
      source: "user",
      hook: "check.sh",
      tool: "Bash",
      status: "blocked",
      durationMs: 12,
      decision: "deny",
      message: "No.",
      changedInput: true,
      contextLength: 3,
    },
  },
  todos: { type: "todos", todos: [{ description: "Read it.", status: "in_progress" }] },
  task: {
    type: "task",
    task: { id: "bg-1", kind: "command", title: "make", status: "failed", detail: "exit code 2", elapsedMs: 12.3 },
  },
  agent: { type: "agent", agent: "task-1", event: { type: "call-requested", call, isClientInitiated: false } },
  finished: { type: "finished", reason: "stop", text: "Well." },
  failed: { type: "failed", failure: { kind: "storage", message: "The disk is full." } },
  cancelled: { type: "cancelled" },
  parked: { type: "parked" },
};

/** The lines printed for an event, without their time. */
const printed = (event: AgentEvent): readonly object[] => {
  let out = "";
  const writers = { out: (text: string) => void (out += text), now: () => 0 };
  const facts = { session: "1", model: "openai/gpt-5", folder: "/project" };
  const output = createStreamOutput(writers, facts);
  out = "";
  output.onEvent(event);
  return out
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      const value = JSON.parse(line) as { readonly timestamp: string };
      expect(check(value) ? [] : [value, check.errors]).toEqual([]);
      const { timestamp, ...rest } = value;
      expect(timestamp).toBe("1970-01-01T00:00:00.000Z");
      return rest;
    });
};

const expected: { readonly [type in AgentEvent["type"]]: readonly object[] } = {
  user: [{ type: "message", role: "user", content: `Look:\n[${media.id}]` }],
  thought: [{ type: "thought", content: "Hm.", delta: true }],
  text: [{ type: "message", role: "assistant", content: "Well.", delta: true }],
  message: [],
  "call-requested": [
    {
      type: "tool_use",
      tool_name: "add",
      tool_id: "hist_tool_1",
      parameters: { a: 1 },
      is_client_initiated: false,
      prompt_id: "s#2",
    },
  ],
  "call-updated": [{ type: "approval", tool_id: "hist_tool_1", title: "1 + 2", reason: "It asks." }],
  "call-output": [{ type: "tool_output", tool_id: "hist_tool_1", output: "1\n" }],
  "permission-added": [],
  "call-completed": [
    {
      type: "tool_result",
      tool_id: "hist_tool_1",
      status: "error",
      output: "It was not run.",
      duration_ms: 0,
      error: { type: "execution_failed", message: "It was not run." },
    },
  ],
  usage: [
    {
      type: "usage",
      model: "openai/gpt-5",
      input_tokens: 10,
      cached_tokens: 4,
      cache_write_tokens: 2,
      output_tokens: 5,
      reasoning_tokens: 1,
      cost_usd: null,
    },
  ],
  "model-changed": [{ type: "model_changed", from: "openai/gpt-5", to: "google/gemini-3-pro", reason: "failover" }],
  request: [{ type: "request", ...examples.request.request, notes: 0 }],
  compacted: [{ type: "compacted", by: "summary", before: 1000.5, after: 100 }],
  retrying: [{ type: "retrying", reason: "overloaded", delay_ms: 12, discarded: true }],
  notice: [{ type: "notice", message: "It wants it otherwise." }],
  hook: [
    {
      type: "hook",
      event: "PreToolUse",
      source: "user",
      hook: "check.sh",
      tool: "Bash",
      status: "blocked",
      decision: "deny",
      message: "No.",
      duration_ms: 12,
      changed_input: true,
      context_length: 3,
    },
  ],
  todos: [{ type: "todos", todos: [{ description: "Read it.", status: "in_progress" }] }],
  task: [
    {
      type: "task",
      id: "bg-1",
      kind: "command",
      title: "make",
      status: "failed",
      detail: "exit code 2",
      duration_ms: 12,
    },
  ],
  agent: [
    {
      type: "tool_use",
      tool_name: "add",
      tool_id: "hist_tool_1",
      parameters: { a: 1 },
      is_client_initiated: false,
      agent: "task-1",
    },
  ],
  finished: [],
  failed: [{ type: "error", severity: "error", message: "The disk is full." }],
  cancelled: [],
  parked: [],
};

describe("a line of stream-json", () => {
  it.each(Object.values(examples))("for $type fits the schema", (event) => {
    expect(printed(event)).toEqual(expected[event.type]);
  });

  it("with another field or type does not fit the schema", () => {
    const line = { type: "notice", message: "Well.", timestamp: "2026-01-01T00:00:00.000Z" };
    expect([check(line), check({ ...line, more: 1 }), check({ ...line, message: 1 })]).toEqual([true, false, false]);
  });
});

describe("text output", () => {
  it("is the last answer, with one newline", () => {
    let out = "";
    const output = createTextOutput({ out: (text) => void (out += text), now: () => 0 });
    for (const event of Object.values(examples)) output.onEvent(event);
    output.onEvent({ type: "finished", reason: "stop", text: "More.\n" });
    output.onEvent({ type: "finished", reason: "stop", text: "" });
    expect(out).toBe("Well.\nMore.\n");
  });
});
