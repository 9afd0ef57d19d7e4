import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../../agent/events.ts";
import type { AgentSession } from "../../../agent/open-agent.ts";
import type { UserPart } from "../../../conversation/parts.ts";
import { lineText } from "../../text/line.ts";
import { ChatSession } from "./chat-session.ts";

/** A chat session with an agent that ends its turn when the test says so, and attachments that are read when it says so. */
const stage = () => {
  const sent: (readonly UserPart[])[] = [];
  const shown: string[] = [];
  const drafts: string[] = [];
  const attaching: (() => void)[] = [];
  const turns: ((event: AgentEvent) => void)[] = [];
  const printed: string[] = [];
  let now = 0;
  const agent = {
    send: async function* (parts: readonly UserPart[]) {
      sent.push(parts);
      yield await new Promise<AgentEvent>((resolve) => turns.push(resolve));
    },
    cancel: async () => turns.shift()?.({ type: "cancelled" } as AgentEvent),
    queueMessage: () => true,
    withdrawQueuedMessages: () => [],
    contextUsage: async () => ({ used: 0, size: 1 }),
    entryCount: () => 0,
    usageTotals: () => ({ cost: 0 }),
    pendingApprovals: () => [],
  };
  const opened = {
    agent,
    session: { id: "s" },
    attach: async (text: string) => {
      await new Promise<void>((resolve) => attaching.push(resolve));
      return { parts: [{ type: "text", text }], messages: [] };
    },
  } as unknown as AgentSession;
  const chat = new ChatSession({
    opened,
    world: { clock: { elapsed: () => now }, files: { read: async () => undefined } } as never,
    home: "/home",
    transcript: { handleEvent: () => undefined },
    frontEnd: {
      print: (lines) => void printed.push(...lines.map(lineText)),
      width: () => 80,
      update: () => undefined,
      waitForDrain: async () => undefined,
      restoreDraft: (text) => void drafts.push(text),
    },
    ide: () => undefined,
    prepare: async () => undefined,
    sumsUpTurns: true,
    openCommandSnapshots: async () => ({
      capture: async () => [],
      read: async () => undefined,
      problem: () => undefined,
    }),
  });
  const submit = (marked: string): Promise<void> =>
    chat.submit({ marked, parts: [], show: () => void shown.push(marked) });
  const attached = async (): Promise<void> => {
    attaching.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const finish = async (duration = 0): Promise<void> => {
    now += duration;
    turns.shift()?.({ type: "finished" } as AgentEvent);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const state = () => ({ sent: sent.flat().map((part) => (part as { text: string }).text), shown, drafts });
  return { chat, submit, attached, finish, state, printed };
};

describe("a chat session that is cancelled", () => {
  it("never sends a prompt whose attachments are still being read, and gives it back", async () => {
    const { chat, submit, attached, state } = stage();
    void submit("go");
    const cancelled = chat.cancel();
    await attached();
    await cancelled;
    expect([state(), chat.busySince]).toEqual([{ sent: [], shown: ["go"], drafts: ["go"] }, undefined]);
  });

  it("begins no turn of a queued prompt after it", async () => {
    const { chat, submit, attached, finish, state } = stage();
    void submit("one");
    await attached();
    void submit("two");
    await finish();
    await chat.cancel();
    await attached();
    expect([state(), chat.queued()]).toEqual([{ sent: ["one"], shown: ["one"], drafts: ["two"] }, []]);
  });

  it("sends prompts again", async () => {
    const { chat, submit, attached, finish, state } = stage();
    void submit("one");
    await attached();
    await chat.cancel();
    void submit("two");
    await attached();
    await finish();
    expect(state()).toEqual({ sent: ["one", "two"], shown: ["one", "two"], drafts: [] });
  });
});

describe("a turn that took a while", () => {
  it("ends with its time and steps", async () => {
    const { submit, attached, finish, printed } = stage();
    void submit("quick");
    await attached();
    await finish(4000);
    expect(printed).toEqual([]);
    void submit("slow");
    await attached();
    await finish(65_000);
    expect(printed).toEqual(["1m 5s · 0 steps", ""]);
  });
});
