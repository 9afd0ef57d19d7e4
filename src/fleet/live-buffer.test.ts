import { expect, it } from "vitest";
import type { CallId } from "../conversation/parts.ts";
import { LiveBuffer, type NumberedLiveEvent } from "./live-buffer.ts";
import type { LiveEvent } from "./session-events.ts";

const at = (sequence: number, number: number, event: LiveEvent): NumberedLiveEvent => ({
  fence: 1,
  sequence,
  number,
  event,
});
const piece = (sequence: number, number: number, length = 50): NumberedLiveEvent =>
  at(sequence, number, { type: "text", text: "x".repeat(length) });
const drain = (buffer: LiveBuffer): readonly string[] => {
  const ids: string[] = [];
  for (let item = buffer.shift(); item !== undefined; item = buffer.shift())
    ids.push(`${item.sequence}.${item.number}`);
  return ids;
};

it("a slow reader gets the first 200 characters of a text, and no later piece of it", () => {
  const buffer = new LiveBuffer(200);
  for (let number = 1; number <= 4; number++) buffer.push(piece(7, number));
  buffer.push(piece(7, 5, 1));
  expect(drain(buffer)).toEqual(["7.1", "7.2", "7.3", "7.4"]);
  // There is room again, but the text would have a hole.
  buffer.push(piece(7, 6, 1));
  buffer.push(piece(8, 1));
  expect(drain(buffer)).toEqual(["8.1"]);
});

it("text that is sent again, or by another owner, is passed on after a drop; calls and questions are never behind text", () => {
  const buffer = new LiveBuffer(200);
  buffer.push(piece(7, 1, 201));
  buffer.push(at(7, 2, { type: "call", call: "c1" as CallId, state: "executing" }));
  buffer.push(piece(7, 3));
  buffer.push({ ...piece(7, 4), fence: 2 });
  buffer.push(piece(9, 1, 201));
  buffer.push(at(9, 2, { type: "retrying", delay: 0, discarded: true }));
  buffer.push(piece(9, 3));
  expect(drain(buffer)).toEqual(["7.2", "7.4", "9.2", "9.3"]);
});

it("never holds more than 2000 events", () => {
  const buffer = new LiveBuffer();
  for (let number = 1; number <= 1500; number++) buffer.push(piece(1, number, 1));
  for (let number = 1; number <= 3000; number++)
    buffer.push(at(2, number, { type: "retrying", delay: 1, discarded: false }));
  const ids = drain(buffer);
  expect([ids.length, ids[999], ids[1000]]).toEqual([2000, "1.1000", "2.1"]);
});
