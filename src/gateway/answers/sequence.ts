import type { NewCall } from "../../conversation/ledger.ts";
import type { Code, Seal, Text, Thinking } from "../../conversation/parts.ts";
import type { ContentEvent } from "../../transport/events.ts";
import type { FinishReason, GeneratedFile, ResponsePart, TokenUsage } from "../../wire/decode/events.ts";

/*
 * Targets interleave parts: parallel calls grow together, reasoning details arrive after the calls they belong to. Clients
 * read one part after another. This file puts the events of a response in sequence, with at most one open part.
 */

/** An event of a response in sequence. */
export type SequenceEvent =
  /** A part starts. `seal` is set if it is already known. */
  | { readonly type: "open"; readonly kind: "text" | "thinking"; readonly seal?: Seal }
  | {
      readonly type: "open";
      readonly kind: "call";
      readonly tool: string;
      readonly id: string | undefined;
      readonly seal?: Seal;
    }
  /** A piece of the open part: text, or a call's arguments as JSON text. */
  | { readonly type: "delta"; readonly text: string }
  /** The open part is complete. */
  | { readonly type: "close"; readonly part: Text | Thinking | NewCall }
  /** The response was cut inside the open part. */
  | { readonly type: "cut" }
  /** A part without deltas. */
  | { readonly type: "whole"; readonly part: Code | GeneratedFile }
  /** The seal of the latest part of a kind, which was closed before its seal was known. */
  | { readonly type: "late-seal"; readonly of: "text" | "thinking"; readonly seal: Seal }
  /** The arguments that were streamed are not those the call ends with. The response cannot be used; no event follows. */
  | { readonly type: "mismatch"; readonly tool: string }
  | { readonly type: "usage"; readonly usage: TokenUsage }
  | { readonly type: "finish"; readonly reason: FinishReason; readonly raw: string | undefined };

/** Puts events in sequence. */
export type Sequencer = (event: ContentEvent) => readonly SequenceEvent[];

type PartEvent = Extract<ContentEvent, { readonly index: number }>;

type OpenPart = {
  readonly index: number;
  readonly kind: "text" | "thinking" | "call";
  readonly tool: string;
  readonly id: string | undefined;
  /** The text received so far, and whether the client has it. */
  readonly text: string;
  readonly isShown: boolean;
};

/** Creates a sequencer for one response. */
export const createSequencer = (): Sequencer => {
  const waiting = new Map<number, PartEvent[]>();
  /** The text of thinking parts that were closed before they ended, by index. */
  const closedEarly = new Map<number, string>();
  let open: OpenPart | undefined;

  const accept = (event: PartEvent): readonly SequenceEvent[] => {
    const earlyText = closedEarly.get(event.index);
    if (earlyText !== undefined) return event.type === "part-end" ? endEarly(event, earlyText) : [];
    const mustWait = waiting.has(event.index) || (closedEarly.size > 0 && event.type === "call-start");
    if (!mustWait && (open === undefined || open.index === event.index)) return extend(event);
    // Text must not wait for thinking whose seal comes last; calls can, and then the seal is sent before them.
    if (open?.kind === "thinking" && event.type === "text-delta") {
      closedEarly.set(open.index, open.text);
      const closed: SequenceEvent = { type: "close", part: { type: "thinking", text: open.text } };
      open = undefined;
      return [closed, ...extend(event)];
    }
    waiting.set(event.index, [...(waiting.get(event.index) ?? []), event]);
    return [];
  };

  const extend = (event: PartEvent): readonly SequenceEvent[] => {
    switch (event.type) {
      case "text-delta":
        return append(event.index, "text", event.text);
      case "thinking-delta":
        return append(event.index, "thinking", event.text);
      case "call-start":
        open = { index: event.index, kind: "call", tool: event.tool, id: event.id, text: "", isShown: false };
        return [];
      case "call-delta":
        return appendArguments(event.text);
      case "part-end": {
        const events = endPart(open, event.part);
        open = undefined;
        return events;
      }
    }
  };

  const append = (index: number, kind: "text" | "thinking", text: string): readonly SequenceEvent[] => {
    const delta: SequenceEvent = { type: "delta", text };
    const events: readonly SequenceEvent[] = open === undefined ? [{ type: "open", kind }, delta] : [delta];
    open = { index, kind, tool: "", id: undefined, text: (open?.text ?? "") + text, isShown: true };
    return events;
  };

  /** Streams arguments that are a JSON object. Other pieces (Vertex streams bare values) wait for the end of the call. */
  const appendArguments = (piece: string): readonly SequenceEvent[] => {
    if (open === undefined) return [];
    const text = open.text + piece;
    const isShown = open.isShown || /^\s*\{/.test(text);
    const events: readonly SequenceEvent[] = open.isShown
      ? [{ type: "delta", text: piece }]
      : isShown
        ? [
            { type: "open", kind: "call", tool: open.tool, id: open.id },
            { type: "delta", text },
          ]
        : [];
    open = { ...open, text, isShown };
    return events;
  };

  /** Ends thinking that was closed early. Text of it that came since then is a part of its own, after the open one. */
  const endEarly = (event: PartEvent & { type: "part-end" }, shown: string): readonly SequenceEvent[] => {
    const { part, index } = event;
    closedEarly.delete(index);
    if (part.type !== "thinking") return [];
    const rest = part.text.startsWith(shown) ? part.text.slice(shown.length) : "";
    if (rest === "") return part.seal === undefined ? [] : [{ type: "late-seal", of: "thinking", seal: part.seal }];
    const more: ResponsePart = { ...part, text: rest };
    if (open === undefined) return endPart(undefined, more);
    waiting.set(index, [{ ...event, part: more }]);
    return [];
  };

  /** Accepts the events of waiting parts while none is open. */
  const drain = (): readonly SequenceEvent[] => {
    const events: SequenceEvent[] = [];
    while (open === undefined && waiting.size > 0 && closedEarly.size === 0) {
      const next = Math.min(...waiting.keys());
      const queue = waiting.get(next) ?? [];
      waiting.delete(next);
      for (const event of queue) events.push(...extend(event));
    }
    return events;
  };

  const finish = (): readonly SequenceEvent[] => {
    const events: SequenceEvent[] = [];
    closedEarly.clear();
    for (;;) {
      if (open?.isShown === true) events.push({ type: "cut" });
      open = undefined;
      if (waiting.size === 0) return events;
      events.push(...drain());
    }
  };

  const step: Sequencer = (event) => {
    switch (event.type) {
      case "response-start":
      case "skipped":
        return [];
      case "usage":
        return [event];
      case "finish":
        return [...finish(), { type: "finish", reason: event.reason, raw: event.raw }];
      case "text-delta":
      case "thinking-delta":
      case "call-start":
      case "call-delta":
      case "part-end": {
        const events = accept(event);
        return waiting.size === 0 ? events : [...events, ...drain()];
      }
    }
  };
  let isBroken = false;
  return (event) => {
    if (isBroken) return [];
    const events = step(event);
    const at = events.findIndex(({ type }) => type === "mismatch");
    isBroken = at !== -1;
    return isBroken ? events.slice(0, at + 1) : events;
  };
};

const endPart = (open: OpenPart | undefined, part: ResponsePart): readonly SequenceEvent[] => {
  switch (part.type) {
    case "code":
    case "file":
      return [{ type: "whole", part }];
    case "text":
    case "thinking":
      return endText(open, part);
    case "call":
      return endCall(open, part);
  }
};

const endText = (open: OpenPart | undefined, part: Text | Thinking): readonly SequenceEvent[] => {
  if (open === undefined && part.text === "" && part.seal === undefined) return [];
  // Gemini signs a text with an empty one after it.
  if (open === undefined && part.text === "" && part.seal !== undefined && part.type === "text")
    return [{ type: "late-seal", of: "text", seal: part.seal }];
  const shown = open?.text ?? "";
  const rest = part.text.startsWith(shown) ? part.text.slice(shown.length) : "";
  const opened: readonly SequenceEvent[] =
    open === undefined
      ? [{ type: "open", kind: part.type, ...(part.seal === undefined ? {} : { seal: part.seal }) }]
      : [];
  return [...opened, ...(rest === "" ? [] : [{ type: "delta", text: rest } as const]), { type: "close", part }];
};

const endCall = (open: OpenPart | undefined, part: NewCall): readonly SequenceEvent[] => {
  const text = argumentText(part);
  const shown = open?.isShown === true ? open.text : "";
  if (!text.startsWith(shown)) return [{ type: "mismatch", tool: part.tool }];
  const rest = text.slice(shown.length);
  const opened: readonly SequenceEvent[] =
    open?.isShown === true
      ? []
      : [
          {
            type: "open",
            kind: "call",
            tool: part.tool,
            id: part.seal?.id ?? open?.id,
            ...(part.seal === undefined ? {} : { seal: part.seal }),
          },
        ];
  return [...opened, ...(rest === "" ? [] : [{ type: "delta", text: rest } as const]), { type: "close", part }];
};

/** Returns a call's arguments as JSON text; "{}" where the model wrote none. */
export const argumentText = ({ input }: NewCall): string => {
  const text = "text" in input ? input.text : JSON.stringify(input.value ?? {});
  return text.trim() === "" ? "{}" : text;
};
