import { expect } from "vitest";
import type { LogEntry } from "../../src/sim/log.ts";
import type { SimulatorOptions } from "../../src/sim/simulator.ts";
import type { Environment } from "../../src/world/world.ts";
import type { Open, Turn } from "./client.ts";
import { differences } from "./differences.ts";
import { parleyLoop } from "./parley.ts";
import { picture, said, script } from "./scene.ts";
import { served, type Server } from "./server.ts";

/** Who plays the scene: a client, at a provider, with one of its models. */
export type Cast = Pick<SimulatorOptions, "provider" | "awsSecret"> & { readonly model: string; readonly open: Open };

/** What the client told, and what the server saw. */
export type Played = { readonly turns: readonly Turn[]; readonly log: readonly LogEntry[] };

/** Plays the scene once, on a server of its own whose clock stands still. */
export const play = ({ model, open, ...options }: Cast): Promise<Played> =>
  served({ ...options, script, now }, async (server) => ({
    turns: await open(server, model).loop(),
    log: server.log,
  }));

const now = (): number => Date.UTC(2026, 10, 15);

/** Checks a scene whole: every word, call and count the client gathered, and that the server took every request and saw the picture. */
export const expectScene = (
  { turns, log }: Played,
  told: { readonly finish: readonly [unknown, unknown]; readonly thought?: string; readonly picture?: boolean },
): void => {
  const { finish, thought = said.thought, picture: isSeen = true } = told;
  const [first, second] = log.map(usageOf);
  expect(turns).toEqual([
    { thought, text: said.words, calls: said.calls, finish: finish[0], usage: first },
    { thought: "", text: said.end, calls: [], finish: finish[1], usage: second },
  ]);
  expect(log.map(receivedIn)).toEqual([
    { verdict: "accepted", status: 200, image: 0 },
    { verdict: "accepted", status: 200, image: isSeen ? picture.tokens : 0 },
  ]);
};

const usageOf = (entry: LogEntry): Turn["usage"] | undefined => {
  if (entry.verdict !== "accepted" || entry.usage === undefined) return undefined;
  return { input: entry.usage.input, output: entry.usage.output };
};

const receivedIn = (entry: LogEntry): object => ({
  verdict: entry.verdict,
  status: entry.status,
  image: (entry.verdict === "accepted" ? entry.usage?.inputBy.image : undefined) ?? 0,
});

/** Where the client's last request is not ours, after both played the same scene on servers that answer alike. */
export const comparedWithParley = async (
  cast: Cast,
  environment: (server: Server) => Environment,
): Promise<readonly string[]> => {
  const { provider, model, open: _, ...options } = cast;
  const theirs = (await play(cast)).log.at(-1);
  const ours = await served({ ...options, provider, script, now }, async (server) => {
    await parleyLoop({ provider, model, env: environment(server) });
    return server.log.at(-1);
  });
  return differences(sentIn(ours), sentIn(theirs));
};

const sentIn = (entry: LogEntry | undefined): object => ({ path: entry?.path, body: entry?.body });
