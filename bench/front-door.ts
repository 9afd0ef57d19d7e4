/*
 * What the front door adds to an event: one session is followed twice at once, in this process and over HTTP, and the two
 * times at which each event arrives are compared. `npx tsx bench/front-door.ts [turns]`
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { openLocalService } from "../src/fleet/local-service.ts";
import { createToken, hashToken } from "../src/http/request-guard.ts";
import { acceptTokens } from "../src/server/authenticate.ts";
import { openFrontDoor } from "../src/server/front-door.ts";
import { realWorld } from "../src/world/real/world.ts";

const turns = Number(process.argv[2] ?? 50);
const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-bench-")));
const [home, work] = [join(base, "home"), join(base, "work")];
for (const folder of [home, work]) mkdirSync(folder);
const service = await openLocalService({ world: realWorld({}), home, folders: [work], flags: { model: ["offline"] } });
const token = createToken();
const door = await openFrontDoor({
  service,
  operator: "a",
  authenticate: acceptTokens([{ sha256: hashToken(token), tenant: "a" }]),
});

const { id } = await service.create("a", {});
const stop = new AbortController();
const [inside, outside] = [new Map<string, number>(), new Map<string, number>()];
let ended = 0;
let wake = (): void => undefined;

const followInside = async (): Promise<void> => {
  for await (const event of service.follow("a", id, { after: 0, signal: stop.signal, isLive: true }))
    inside.set(event.id, performance.now());
};
const followOutside = async (): Promise<void> => {
  const response = await fetch(`${door.url}/v1/sessions/${id}/events?live=1`, {
    headers: { authorization: `Bearer ${token}` },
    signal: stop.signal,
  });
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const at = performance.now();
    for (const [, number = ""] of chunk.matchAll(/^id: (.*)$/gm)) outside.set(number, at);
    ended += [...chunk.matchAll(/^event: turn$/gm)].length;
    wake();
  }
};
const followers = [followInside(), followOutside().catch(() => undefined)];
const begun = performance.now();
for (let turn = 1; turn <= turns; turn++) {
  await service.post("a", id, { command: { type: "user", parts: [{ type: "text", text: `hello ${turn}` }] } });
  while (ended < turn) await new Promise<void>((resolve) => (wake = resolve));
}
const whole = (performance.now() - begun) / turns;
stop.abort();
await Promise.all(followers);
await door.close();
await service.close();
rmSync(base, { recursive: true });

const added = [...outside]
  .flatMap(([number, at]) => (inside.has(number) ? [at - inside.get(number)!] : []))
  .toSorted((one, other) => one - other);
const at = (share: number): number => added[Math.floor(share * (added.length - 1))] ?? Number.NaN;
console.log(
  `${added.length} events of ${turns} turns, load ${loadavg()[0]?.toFixed(1)}: the front door adds ${at(0.5).toFixed(2)} ms (median), ` +
    `${at(0.9).toFixed(2)} ms (90 %), ${at(0.99).toFixed(2)} ms (99 %) to an event; ${(at(0.5) / whole).toFixed(4)} of a turn of ${whole.toFixed(1)} ms.`,
);
