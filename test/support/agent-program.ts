import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProvider } from "../../src/providers/find.ts";
import type { LogEntry } from "../../src/sim/request-log.ts";
import type { SimModelRequest } from "../../src/sim/model/types.ts";
import { serve } from "../../src/sim/serve.ts";
import { createSimulator, type SimulatorOptions } from "../../src/sim/simulator.ts";
import { bin } from "../built.ts";
import { everyKey } from "./exchange.ts";
import { runCommand } from "./run-command.ts";
import { environmentFor } from "./serve-simulators.ts";

/** A home folder and a project on the real disk, simulators on a real port, and the built program between them. */
export type ProgramStage = {
  readonly home: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  /** The requests of all simulators, in order. */
  readonly log: { readonly provider: string; readonly entry: LogEntry }[];
  /** The prompts models received, in order. */
  readonly modelRequests: SimModelRequest[];
  /** Runs the program inside this process. */
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<ProgramResult>;
  /** Runs the built program in a process of its own, which a signal can reach. */
  readonly runBuilt: (args: readonly string[], options?: BuiltRunOptions) => Promise<ProgramResult>;
  readonly close: () => Promise<void>;
};

/** Options of a run. */
type RunOptions = {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
};

type BuiltRunOptions = RunOptions & {
  /** Receives every complete line of stdout as it arrives. */
  readonly line?: (line: string, child: ChildProcess) => void;
  readonly preload?: string;
};

/** The result of a run. A program that was killed has a signal and no code. */
export type ProgramResult = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
  /** Stdout as one JSON value per line. */
  readonly lines: () => readonly OutputLine[];
};

/** A line of `stream-json`. */
export type OutputLine = { readonly type: string; readonly [name: string]: unknown };

/** An image of one pixel. */
const dot: Buffer = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Opens a stage for these providers. */
export const openProgramStage = async (
  providers: readonly string[],
  options: Omit<SimulatorOptions, "provider"> = {},
): Promise<ProgramStage> => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-program-")));
  const [home, project] = [join(base, "home"), join(base, "project")];
  for (const folder of [home, project]) mkdirSync(folder);
  writeFileSync(join(project, "dot.png"), dot);
  const log: { provider: string; entry: LogEntry }[] = [];
  const modelRequests: SimModelRequest[] = [];
  const { script } = options;
  const simulators = providers.map((provider) =>
    createSimulator({
      provider,
      ...options,
      ...(typeof script === "function" && {
        script: (request: SimModelRequest) => {
          modelRequests.push(request);
          return script(request);
        },
      }),
      onRequest: (entry) => log.push({ provider, entry }),
    }),
  );
  const serving = await serve(
    Object.fromEntries(simulators.map((simulator, index) => [`/${providers[index] ?? ""}`, simulator])),
  );
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    USERPROFILE: home,
    METADATA_SERVER_DETECTION: "none",
    AWS_EC2_METADATA_DISABLED: "true",
    ...everyKey,
    ...environmentFor(Object.fromEntries(providers.map((id) => [id, `${serving.url}/${id}${pathOf(id)}`]))),
  };
  return {
    home,
    project,
    env,
    log,
    modelRequests,
    run: async (args, run = {}) => {
      const ran = await runCommand(args, { cwd: project, ...run, env: { ...env, ...run.env } });
      return { ...ran, signal: null, lines: () => parseLines(ran.out) };
    },
    runBuilt: (args, run = {}) => runBuiltProgram(args, { cwd: project, ...run, env: { ...env, ...run.env } }),
    close: async () => {
      await serving.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
};

const pathOf = (id: string): string =>
  new URL(findProvider(id).endpoint.url.replaceAll(/\{[a-z-]+\}/g, "somewhere")).pathname;

/** Runs the built program to its end. */
const runBuiltProgram = async (
  args: readonly string[],
  { cwd, env, input, line, preload }: BuiltRunOptions & { readonly cwd: string },
): Promise<ProgramResult> => {
  const child = spawn(process.execPath, [...(preload === undefined ? [] : ["--import", preload]), bin, ...args], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  let seen = 0;
  child.stdin.on("error", () => undefined);
  child.stdin.end(input ?? "");
  child.stdout.on("data", (chunk: Buffer) => {
    out += String(chunk);
    for (let end = out.indexOf("\n", seen); end !== -1; end = out.indexOf("\n", seen)) {
      line?.(out.slice(seen, end), child);
      seen = end + 1;
    }
  });
  child.stderr.on("data", (chunk: Buffer) => (err += String(chunk)));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return { code, signal, out, err, lines: () => parseLines(out) };
};

/** The complete lines; one that was cut off by a kill is left out. */
const parseLines = (out: string): readonly OutputLine[] =>
  out
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as OutputLine);
