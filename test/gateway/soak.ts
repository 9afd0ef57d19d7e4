/*
 * Streams through a gateway, in a process of its own that is started with --expose-gc. Words: how many streams. Prints a
 * report with the heap after a collection, when half of them and when all of them are over.
 */
import { openGatewayStage } from "./stage.ts";

/** Bytes of the heap, how the streams ended, and how many of the last 32 at once were answered whole. */
export type SoakReport = {
  readonly half: number;
  readonly end: number;
  readonly counts: Readonly<Record<StreamEnd, number>>;
  readonly last: number;
};

type StreamEnd = "whole" | "left" | "busy" | "broken";

const atOnce = 32;
const streams = Number(process.argv[2]);
const { gc } = globalThis as { gc?: () => void };
if (gc === undefined) throw new Error("Start it with --expose-gc.");

const stage = await openGatewayStage({ sim: { logLimit: 10 }, gateway: { limits: { requests: atOnce } } });

/** Every tenth client leaves in the middle. */
const send = async (number: number): Promise<StreamEnd> => {
  const answer = await stage.post("/v1/messages", {
    model: "openai/gpt-5.6",
    max_tokens: 100,
    stream: true,
    // The simulator's prompt cache stores each new prompt for five minutes.
    messages: [{ role: "user", content: `Number ${number % 100}` }],
  });
  if (answer.status === 429) {
    await answer.text();
    return "busy";
  }
  if (number % 10 === 9) {
    await answer.body?.cancel();
    return "left";
  }
  return (await answer.text()).includes("event: message_stop") ? "whole" : "broken";
};

/** The heap without garbage. What ends with the connections of the last streams needs a turn of the event loop. */
const collectedHeap = async (): Promise<number> => {
  for (let turn = 0; turn < 5; turn++) {
    await new Promise(setImmediate);
    gc();
  }
  return process.memoryUsage().heapUsed;
};

const counts = { whole: 0, left: 0, busy: 0, broken: 0 };
const sendAll = async (from: number, to: number): Promise<void> => {
  for (let done = from; done < to; done += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, to - done) }, (_, index) => send(done + index));
    for (const end of await Promise.all(batch)) counts[end] += 1;
  }
};

await sendAll(0, streams / 2);
const half = await collectedHeap();
await sendAll(streams / 2, streams);
const end = await collectedHeap();
// All places are free again.
const last = await Promise.all(Array.from({ length: atOnce }, (_, index) => send(index * 10)));
await stage.close();
const report: SoakReport = { half, end, counts, last: last.filter((one) => one === "whole").length };
console.log(JSON.stringify(report));
