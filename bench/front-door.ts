/*
 * What the front door adds to an event. `npx tsx bench/front-door.ts [turns]`
 *
 * The server is a process of its own, as it is for users; this process is the client. The server follows its session itself and notes when it
 * has each event; the client notes when the event has come over HTTP. Both clocks count from the same moment (`performance.timeOrigin`).
 * The number of each event also goes through a bare socket: what that takes is the machine's, not the front door's.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { request } from "node:http";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openLocalService } from "../src/fleet/local-service.ts";
import { createToken, hashToken } from "../src/http/request-guard.ts";
import { acceptTokens } from "../src/server/authenticate.ts";
import { openFrontDoor } from "../src/server/front-door.ts";
import { realWorld } from "../src/world/real/world.ts";

type Started = { readonly url: string; readonly port: number; readonly token: string; readonly id: string };
type Times = readonly (readonly [id: string, at: number])[];

const now = (): number => performance.timeOrigin + performance.now();

/** The server: follows its own session, and sends the times once the client is done. */
const runServer = async (base: string): Promise<void> => {
  const [home, work] = [join(base, "home"), join(base, "work")];
  for (const folder of [home, work]) mkdirSync(folder);
  const service = await openLocalService({
    world: realWorld({}),
    home,
    folders: [work],
    flags: { model: ["offline"] },
  });
  const token = createToken();
  const authenticate = acceptTokens([{ sha256: hashToken(token), tenant: "a" }]);
  const door = await openFrontDoor({ service, operator: "a", authenticate });
  const { id } = await service.create("a", {});
  const sockets: Socket[] = [];
  const bare = createServer({ noDelay: true }, (socket) => sockets.push(socket)).listen(0, "127.0.0.1");
  await once(bare, "listening");
  const { port } = bare.address() as AddressInfo;
  const stop = new AbortController();
  const times: [string, number][] = [];
  const following = (async () => {
    for await (const event of service.follow("a", id, { after: 0, signal: stop.signal, isLive: true })) {
      times.push([event.id, now()]);
      for (const socket of sockets) socket.write(`id: ${event.id}\n`);
    }
  })();
  process.send!({ url: door.url, port, token, id } satisfies Started);
  await once(process, "message");
  stop.abort();
  await following;
  for (const socket of sockets) socket.destroy();
  bare.close();
  await door.close();
  await service.close();
  process.send!(times satisfies Times);
  process.disconnect();
};

const runClient = async (turns: number): Promise<void> => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-bench-")));
  const server = fork(fileURLToPath(import.meta.url), ["--server", base], { execArgv: process.execArgv });
  const [{ url, port, token, id }] = (await once(server, "message")) as [Started];
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const [outside, bare] = [new Map<string, number>(), new Map<string, number>()];
  const note = (times: Map<string, number>, chunk: string): void => {
    const at = now();
    for (const [, number = ""] of chunk.matchAll(/^id: (.*)$/gm)) times.set(number, at);
  };
  const socket = connect(port, "127.0.0.1").setEncoding("utf8");
  socket.on("data", (chunk) => note(bare, String(chunk))).on("error", () => undefined);
  await once(socket, "connect");
  let ended = 0;
  let wake = (): void => undefined;
  const stream = request(`${url}/v1/sessions/${id}/events?live=1`, { headers }, (response) => {
    response.setEncoding("utf8").on("data", (chunk: string) => {
      note(outside, chunk);
      ended += [...chunk.matchAll(/^event: turn$/gm)].length;
      wake();
    });
    response.on("error", () => undefined);
  });
  stream.end();
  const begun = now();
  for (let turn = 1; turn <= turns; turn++) {
    const body = JSON.stringify({ text: `hello ${turn}` });
    await (await fetch(`${url}/v1/sessions/${id}/messages`, { method: "POST", headers, body })).arrayBuffer();
    while (ended < turn) await new Promise<void>((resolve) => (wake = resolve));
  }
  const whole = (now() - begun) / turns;
  server.send("stop");
  const [times] = (await once(server, "message")) as [Times];
  stream.destroy();
  rmSync(base, { recursive: true });
  const inside = new Map(times);
  console.log(`${outside.size} events of ${turns} turns of ${whole.toFixed(1)} ms, load ${loadavg()[0]?.toFixed(1)}`);
  console.log(`through the front door: ${describeDelays(outside, inside)}`);
  console.log(`through a bare socket:  ${describeDelays(bare, inside)}`);
  console.log(`front door over bare:   ${describeDelays(outside, bare)}`);
};

/** How much later events came there than here. */
const describeDelays = (there: ReadonlyMap<string, number>, here: ReadonlyMap<string, number>): string => {
  const delays = [...there]
    .flatMap(([number, at]) => (here.has(number) ? [at - here.get(number)!] : []))
    .toSorted((one, other) => one - other);
  const at = (share: number): string => (delays[Math.floor(share * (delays.length - 1))] ?? Number.NaN).toFixed(2);
  return `${at(0)} ms (least), ${at(0.5)} ms (median), ${at(0.9)} ms (90 %), ${at(0.99)} ms (99 %)`;
};

if (process.argv[2] === "--server") await runServer(process.argv[3]!);
else await runClient(Number(process.argv[2] ?? 50));
