import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../../agent/events.ts";
import type { AgentSession } from "../../../agent/open-agent.ts";
import type { UserPart } from "../../../conversation/parts.ts";
import { ChatSession } from "./chat-session.ts";

/** A chat session with an agent that ends its turn when the test says so, and attachments that are read when it says so. */
const stage = () => {
  const sent: (readonly UserPart[])[] = [];
  const shown: string[] = [];
  const drafts: string[] = [];
  const attaching: (() => void)[] = [];
  const turns: ((event: AgentEvent) => void)[] = [];
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
    world: { clock: { elapsed: () => 0 }, files: { read: async () => undefined } } as never,
    home: "/home",
    transcript: { handleEvent: () => undefined },
    frontEnd: {
      print: () => undefined,
      width: () => 80,
      update: () => undefined,
      waitForDrain: async () => undefined,
      restoreDraft: (text) => void drafts.push(text),
    },
    ide: () => undefined,
    prepare: async () => undefined,
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
  const finish = async (): Promise<void> => {
    turns.shift()?.({ type: "finished" } as AgentEvent);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const state = () => ({ sent: sent.flat().map((part) => (part as { text: string }).text), shown, drafts });
  return { chat, submit, attached, finish, state };
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
