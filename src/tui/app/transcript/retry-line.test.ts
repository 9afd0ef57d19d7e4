import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../../agent/events.ts";
import { lineText } from "../../text/line.ts";
import { TranscriptView } from "./transcript-view.ts";

const retry = (delay: number, change: { kind?: string; discarded?: boolean } = {}): AgentEvent =>
  ({
    type: "retrying",
    failure: { kind: change.kind ?? "overloaded", provider: "anthropic", label: "Anthropic" },
    delay,
    discarded: change.discarded ?? false,
  }) as unknown as AgentEvent;

const view = (announcesCalls = false) => {
  let now = 0;
  const printed: string[] = [];
  const transcript = new TranscriptView({
    clock: { elapsed: () => now, after: () => () => undefined },
    markdown: { lexer: (text) => [{ type: "text", raw: text, text }], highlighter: {} as never },
    frontEnd: {
      print: (lines) => void printed.push(...lines.map(lineText).filter((text) => text !== "")),
      width: () => 60,
      keyLabel: (_, standard) => standard,
    },
    showMedia: () => undefined,
    announcesCalls,
  });
  return {
    printed,
    wait: (ms: number) => (now += ms),
    live: () => transcript.live().map(lineText),
    handle: (...events: readonly AgentEvent[]) => events.forEach((event) => transcript.handleEvent(event)),
  };
};

const thought = { type: "thought", text: "**Look**" } as AgentEvent;
const cancelled: AgentEvent = { type: "cancelled" };

describe("the retries of a request", () => {
  it("are one line that counts down, and stays as one line", () => {
    const { printed, wait, live, handle } = view();
    handle(retry(500));
    expect(live()).toEqual(["Anthropic: overloaded. Retrying."]);
    handle(retry(2000), retry(8000));
    expect(live()).toEqual(["Anthropic: overloaded. Retrying in 8s (attempt 4)."]);
    wait(5000);
    expect(live()).toEqual(["Anthropic: overloaded. Retrying in 3s (attempt 4)."]);
    wait(5000);
    expect(live()).toEqual(["Anthropic: overloaded. Retrying (attempt 4)."]);
    expect(printed).toEqual([]);
    handle(thought);
    expect(printed).toEqual(["Anthropic: overloaded. Retried 3 times."]);
    expect(live()).toEqual(["✻ Look"]);
  });

  it("stay also if the turn is cancelled", () => {
    const { printed, live, handle } = view();
    handle(retry(500), cancelled);
    expect([printed, live()]).toEqual([["Anthropic: overloaded. Retried once.", "Cancelled."], []]);
  });

  it("are counted by cause", () => {
    const { printed, live, handle } = view();
    handle(retry(500), retry(500), retry(500, { kind: "rate-limited" }));
    expect(printed).toEqual(["Anthropic: overloaded. Retried twice."]);
    expect(live()).toEqual(["Anthropic: rate-limited. Retrying."]);
  });

  it("are read out one by one to a screen reader", () => {
    const { printed, handle } = view(true);
    handle(retry(500), retry(4000), retry(0, { discarded: true }), thought);
    expect(printed).toEqual([
      "Anthropic: overloaded. Retrying.",
      "Anthropic: overloaded. Retrying in 4s.",
      "The response was interrupted. Retrying.",
    ]);
  });
});
