import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openGateway } from "../../src/gateway/gateway.ts";
import { serveGateway } from "../../src/gateway/serve.ts";
import { hashToken } from "../../src/http/request-guard.ts";
import { lint } from "../../src/rules/lint.ts";
import type { FaultRule, SimFault } from "../../src/sim/faults/fault.ts";
import type { SimModelRequest } from "../../src/sim/model/types.ts";
import type { LogEntry } from "../../src/sim/request-log.ts";
import type { ExchangeRecord } from "../../src/wire/exchange.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { everyKey } from "../../test/support/exchange.ts";
import { environmentFor, serveSimulators } from "../../test/support/serve-simulators.ts";
import { replyTo } from "./model.ts";
import { pixelPng } from "./pixel.ts";

/** Where a client runs. */
export type ClientRunPlace = {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly home: string;
};

/** One run of a client, and what arrived at the gateway and at the targets meanwhile. */
export type ClientRun = {
  readonly code: number | null;
  readonly output: string;
  readonly log: readonly LogEntry[];
  readonly received: readonly SimModelRequest[];
  /** The paths the client asked the gateway for. */
  readonly paths: readonly string[];
  /** The requests of the client and those for the target. */
  readonly exchanges: readonly ExchangeRecord[];
};

/** The files of the project: as many as the longest scene reads. Clients stop a model that reads the same ones again. */
export const fileCount = 200;

/** Every line of a file names it. */
export const linesPerFile = 20;

/** All simulators, a gateway in front of them, and a project for clients to work in. */
export type ClientStage = {
  readonly root: string;
  readonly project: string;
  readonly url: string;
  readonly token: string;
  /** Where every request goes. */
  target: string;
  /** The folder the model names in its calls. */
  folder: string;
  /** Sets the fault of the next requests at the targets. */
  readonly fail: (fault: SimFault, requests: number) => void;
  /** Starts a client and waits for its end. `interrupt` is a promise after which it gets the signal of Ctrl-C. */
  readonly run: (
    program: string,
    args: readonly string[],
    place: ClientRunPlace,
    interrupt?: () => Promise<unknown>,
  ) => Promise<ClientRun>;
  /** How many responses were cancelled since the last run began. */
  readonly cancelled: () => number;
  /** Resolves when a target pauses in the middle of a response. */
  readonly untilPause: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Opens a stage. `node` is the folder of a newer Node for clients that need one, `minutes` the longest run of a client. */
export const openClientStage = async (node: string | undefined, minutes = 15): Promise<ClientStage> => {
  const root = mkdtempSync(join(tmpdir(), "parley-clients-"));
  const project = join(root, "project");
  mkdirSync(project);
  for (let n = 1; n <= fileCount; n++)
    writeFileSync(join(project, `file${n}.txt`), `content of file ${n}\n`.repeat(linesPerFile));
  writeFileSync(join(project, "pixel.png"), pixelPng());
  const token = "sk-ant-gateway-test-token";
  let received: SimModelRequest[] = [];
  let paths: string[] = [];
  let exchanges: ExchangeRecord[] = [];
  let cancelled = 0;
  let onPause = (): void => {};
  const faults: FaultRule[] = [];
  let left = 0;
  const simulators = await serveSimulators({
    faults,
    onRequest: () => {
      left -= 1;
      if (left <= 0) faults.splice(0);
    },
    script: (request) => {
      received.push(request);
      return replyTo(request, stage.folder);
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, ms);
        signal?.addEventListener("abort", () => {
          clearTimeout(timer);
          cancelled += 1;
          reject(signal.reason);
        });
        onPause();
      }),
  });
  const world = realWorld({ ...everyKey, ...environmentFor(simulators.bases) });
  const inner = openGateway({
    world,
    lint,
    onExchange: (record) => exchanges.push(record),
    config: () => ({ routes: [{ to: stage.target }], clients: { test: { tokenHash: hashToken(token) } } }),
  });
  const gateway = await serveGateway({
    ...inner,
    handle: (request) => {
      paths.push(request.path);
      return inner.handle(request);
    },
  });
  const logLengths = (): Readonly<Record<string, number>> =>
    Object.fromEntries(Object.entries(simulators.simulators).map(([id, { log }]) => [id, log.length]));
  const newEntries = (before: Readonly<Record<string, number>>): readonly LogEntry[] =>
    Object.entries(simulators.simulators).flatMap(([id, { log }]) => log.slice(before[id]));
  const stage: ClientStage = {
    root,
    project,
    url: gateway.url,
    token,
    target: "",
    folder: project,
    fail: (fault, requests) => {
      faults.splice(0, faults.length, { fault });
      left = requests;
    },
    cancelled: () => cancelled,
    untilPause: () => new Promise((resolve) => (onPause = resolve)),
    run: async (program, args, { env, cwd, home }, interrupt) => {
      [received, paths, exchanges, cancelled] = [[], [], [], 0];
      const before = logLengths();
      const path = [node, dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].filter(Boolean).join(":");
      const child = spawn(program, args, {
        cwd,
        env: { PATH: path, HOME: home, TERM: "dumb", ...env },
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
      let output = "";
      child.stdout.on("data", (bytes: Buffer) => (output += bytes.toString()));
      child.stderr.on("data", (bytes: Buffer) => (output += bytes.toString()));
      const signal = (name: NodeJS.Signals): void => {
        if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), name);
      };
      const limit = setTimeout(() => signal("SIGKILL"), minutes * 60_000);
      void interrupt?.().then(() => signal("SIGINT"));
      const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
      clearTimeout(limit);
      return { code, output, log: newEntries(before), received, paths, exchanges };
    },
    close: async () => {
      await gateway.close();
      await simulators.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
  return stage;
};
