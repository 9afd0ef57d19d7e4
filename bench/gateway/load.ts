import { readdirSync, readFileSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";

/** Where requests are sent, and the process that answers them. */
export type Way = {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
  readonly pid?: number | undefined;
};

/** A load: a number of events, one every `pace` milliseconds (0: as fast as they are read). */
export type Load = { readonly events: number; readonly pace: number; readonly history: readonly object[] };

/** Times in milliseconds. */
type Timed = { readonly first: number; readonly delays: readonly number[]; readonly isWhole: boolean };

let agent = new Agent({ keepAlive: true });

/** Closes idle connections. A server closes them after some seconds, which may be just when a request is sent. */
export const closeConnections = (): void => {
  agent.destroy();
  agent = new Agent({ keepAlive: true });
};

const now = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;

/** Sends one request; returns the time to the first byte, the delay of every event, and whether the stream was complete. */
export const send = ({ url, headers, model }: Way, { events, pace, history }: Load): Promise<Timed> => {
  const go = { role: "user", content: `events=${events} pace=${pace}` };
  const body = JSON.stringify({ model, stream: true, max_tokens: 4000, messages: [...history, go] });
  const last = `word ${events - 1} `;
  return new Promise((resolve, reject) => {
    const start = now();
    const sent = httpRequest(
      url,
      { method: "POST", agent, headers: { "content-type": "application/json", ...headers } },
      (response) => {
        let first = 0;
        let isWhole = false;
        const delays: number[] = [];
        response.on("data", (chunk: Buffer) => {
          const at = now();
          if (first === 0) first = at - start;
          const text = chunk.toString("latin1");
          if (pace > 0) for (const [, stamp] of text.matchAll(/@(\d+) /g)) delays.push(at - Number(stamp) / 1000);
          isWhole ||= text.includes(last);
        });
        response.on("end", () => resolve({ first, delays, isWhole }));
        response.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
};

/** The processor time of all threads of a process so far, in milliseconds. */
export const cpuOf = (pid: number | undefined): number => {
  if (pid === undefined) return 0;
  const folder = `/proc/${pid}/task`;
  return readdirSync(folder).reduce(
    (sum, task) => sum + Number(readFileSync(`${folder}/${task}/schedstat`, "utf8").split(" ")[0]) / 1e6,
    0,
  );
};

/** The resident memory of a process in megabytes. */
export const memoryOf = (pid: number | undefined): number =>
  pid === undefined
    ? 0
    : Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024);

export const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
