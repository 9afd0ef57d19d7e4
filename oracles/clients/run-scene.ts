import { expect } from "vitest";
import type { LogEntry } from "../../src/sim/request-log.ts";
import type { SimulatorOptions } from "../../src/sim/simulator.ts";
import type { Environment } from "../../src/world/world.ts";
import type { OpenClient, ClientTurn } from "./client.ts";
import { differences } from "./differences.ts";
import { runParleyLoop } from "./parley.ts";
import { picture, modelOutput, script } from "./scene.ts";
import { withServer, type SceneServer } from "./server.ts";

/** The client, provider and model of a scene. */
export type SceneSetup = Pick<SimulatorOptions, "awsSecret"> & {
  readonly provider: string;
  readonly model: string;
  readonly open: OpenClient;
};

/** The client's turns and the server's log. */
export type SceneResult = { readonly turns: readonly ClientTurn[]; readonly log: readonly LogEntry[] };

/** Runs the scene once, on its own server with a fixed clock. */
export const runScene = ({ model, open, ...options }: SceneSetup): Promise<SceneResult> =>
  withServer({ ...options, script, now }, async (server) => ({
    turns: await open(server, model).loop(),
    log: server.log,
  }));

const now = (): number => Date.UTC(2026, 10, 15);

/**
 * Checks every text, call and count the client collected, and that the server accepted every request and received the
 * image.
 */
export const expectScene = (
  { turns, log }: SceneResult,
  told: { readonly finish: readonly [unknown, unknown]; readonly thought?: string; readonly picture?: boolean },
): void => {
  const { finish, thought = modelOutput.thought, picture: isSeen = true } = told;
  const [first, second] = log.map(usageOf);
  expect(turns).toEqual([
    { thought, text: modelOutput.words, calls: modelOutput.calls, finish: finish[0], usage: first },
    { thought: "", text: modelOutput.end, calls: [], finish: finish[1], usage: second },
  ]);
  expect(log.map(receivedIn)).toEqual([
    { verdict: "accepted", status: 200, image: 0 },
    { verdict: "accepted", status: 200, image: isSeen ? picture.tokens : 0 },
  ]);
};

const usageOf = (entry: LogEntry): ClientTurn["usage"] | undefined => {
  if (entry.verdict !== "accepted" || entry.usage === undefined) return undefined;
  return { input: entry.usage.input, output: entry.usage.output };
};

const receivedIn = (entry: LogEntry): object => ({
  verdict: entry.verdict,
  status: entry.status,
  image: (entry.verdict === "accepted" ? entry.usage?.inputBy.image : undefined) ?? 0,
});

/** Compares the client's last request with Parley's, after both ran the same scene. */
export const compareWithParley = async (
  cast: SceneSetup,
  environment: (server: SceneServer) => Environment,
): Promise<readonly string[]> => {
  const { provider, model, open: _, ...options } = cast;
  const theirs = (await runScene(cast)).log.at(-1);
  const ours = await withServer({ ...options, provider, script, now }, async (server) => {
    await runParleyLoop({ provider, model, env: environment(server) });
    return server.log.at(-1);
  });
  return differences(sentIn(ours), sentIn(theirs));
};

const sentIn = (entry: LogEntry | undefined): object => ({ path: entry?.path, body: entry?.body });
