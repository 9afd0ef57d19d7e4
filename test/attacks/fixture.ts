import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { callId } from "../../src/conversation/call-ids.ts";
import type { JsonObject } from "../../src/conversation/json.ts";
import { createRegistry } from "../../src/scheduler/registry.ts";
import { createScheduler, type Scheduler } from "../../src/scheduler/scheduler.ts";
import { openServices, type ServicesOptions } from "../../src/scheduler/services.ts";
import type { ApprovalRequest, ApprovalDecision, FinishedCall, SchedulerEvent } from "../../src/scheduler/events.ts";
import { builtinTools } from "../../src/tools/builtins.ts";
import type { AnyTool } from "../../src/tools/tool.ts";
import type { Environment } from "../../src/world/world.ts";
import { realWorld } from "../../src/world/real/world.ts";

/** A secret text that no result may contain and no attack may change. */
export const canary = "canary-5e7d21";

/** A workspace on the real disk, with a folder and a home beside it that tools must not access. */
export type AttackFixture = {
  readonly base: string;
  readonly root: string;
  readonly out: string;
  readonly home: string;
  /** A file that a successful attack creates. */
  readonly mark: string;
  /** Fills {WS}, {OUT}, {HOME} and {CANARY} in a text. */
  readonly fill: (text: string) => string;
  readonly put: (path: string, text: string | Uint8Array, mode?: number) => string;
  readonly folder: (path: string) => void;
  readonly link: (path: string, to: string) => void;
  /** Everything outside the workspace that an attack could have changed, by path. */
  readonly outside: () => { readonly [path: string]: string };
  /** Whether the file that a successful attack creates exists. */
  readonly hasMark: () => boolean;
  /** Opens a session in it: all tools, the real gate, real files, processes and connections. */
  readonly open: (options?: AttackOptions) => Promise<AttackSession>;
  /** Runs one call in a new session. */
  readonly run: (tool: string, input: JsonObject, options?: AttackOptions) => Promise<AttackCallResult>;
  readonly close: () => Promise<void>;
};

export type AttackOptions = Partial<Omit<ServicesOptions, "world">> & {
  readonly env?: Environment;
  /** Answers every approval. Default: refuse. */
  readonly answer?: (approval: ApprovalRequest) => ApprovalDecision;
  /** The time limit of a tool, in milliseconds. */
  readonly toolTime?: number;
  /** Tools beside the built-in ones. */
  readonly tools?: readonly AnyTool[];
};

export type AttackSession = {
  readonly scheduler: Scheduler;
  readonly events: readonly SchedulerEvent[];
  readonly call: (tool: string, input: JsonObject) => Promise<AttackCallResult>;
};

/** The result of a call, with its approvals. */
export type AttackCallResult = {
  /** allow: it ran without approval. ask: approval was requested. deny: it was denied, or failed, without a question. */
  readonly verdict: "allow" | "ask" | "deny";
  /** The type of the error, or the outcome. */
  readonly type: string;
  readonly text: string;
  readonly approvals: readonly ApprovalRequest[];
  readonly finished: FinishedCall;
};

/** Options of an interactive session, of one without a terminal, and of yolo mode. */
export const modes = {
  interactive: { mode: "default", interactive: true },
  headless: { mode: "default", interactive: false },
  yolo: { mode: "yolo", interactive: true },
} as const;

/** Creates the fixture. */
export const openAttackFixture = (): AttackFixture => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-attack-")));
  const at = { root: join(base, "ws"), out: join(base, "out"), home: join(base, "home"), mark: join(base, "mark") };
  const inside = (path: string): string => join(at.root, path);
  const plant = (path: string, text: string | Uint8Array, mode = 0o644): string => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode });
    return path;
  };
  mkdirSync(at.root);
  plant(join(at.out, "secret.txt"), canary);
  plant(join(base, "outside.txt"), canary);
  plant(`${at.root}-evil/f.txt`, canary);
  plant(join(at.home, ".zshrc"), canary);
  plant(join(at.home, ".bashrc"), canary);
  plant(join(at.home, ".ssh", "id_rsa"), `BEGIN OPENSSH ${canary}`);
  const closing: (() => Promise<void>)[] = [];
  return {
    base,
    ...at,
    fill: (text) =>
      text
        .replaceAll("{WS}", at.root)
        .replaceAll("{OUT}", at.out)
        .replaceAll("{HOME}", at.home)
        .replaceAll("{CANARY}", at.mark),
    put: (path, text, mode) => plant(inside(path), text, mode),
    folder: (path) => void mkdirSync(inside(path), { recursive: true }),
    link: (path, to) => symlinkSync(to, inside(path)),
    outside: () =>
      Object.fromEntries(
        [at.out, at.home, `${at.root}-evil`, join(base, "outside.txt"), at.mark].flatMap((path) => readTree(path)),
      ),
    hasMark: () => existsSync(at.mark),
    open: async (options = {}) => {
      const session = await openAttackSession({ ...at, base }, options);
      closing.push(session.close);
      return session;
    },
    run: async (tool, input, options = {}) => {
      const session = await openAttackSession({ ...at, base }, options);
      try {
        return await session.call(tool, input);
      } finally {
        await session.close();
      }
    },
    close: async () => {
      await Promise.all(closing.map((close) => close()));
      try {
        rmSync(base, { recursive: true, force: true });
      } catch {
        // Node cannot remove a tree that is deeper than the longest path.
        execFileSync("rm", ["-rf", base]);
      }
    },
  };
};

const openAttackSession = async (
  { base, root, home }: Pick<AttackFixture, "base" | "root" | "home">,
  { env, answer, toolTime = 60_000, tools = [], ...options }: AttackOptions,
): Promise<AttackSession & { readonly close: () => Promise<void> }> => {
  const world = realWorld();
  const services = await openServices({
    world: {
      ...world,
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, LANG: "C.UTF-8", ...env },
      host: { ...world.host, home },
    },
    roots: [root],
    home: join(home, ".parley"),
    scratch: join(base, "scratch"),
    trusted: true,
    ...modes.interactive,
    ...options,
  });
  const scheduler = createScheduler({
    ...services,
    tools: createRegistry([...builtinTools, ...tools]),
    clock: world.clock,
    limits: { processes: 8, toolTime },
  });
  const events: SchedulerEvent[] = [];
  const approvals: ApprovalRequest[] = [];
  scheduler.listen((event) => {
    events.push(event);
    if (event.type !== "call-changed" || event.status.state !== "awaiting_approval") return;
    approvals.push(event.status.approval);
    const decision = answer?.(event.status.approval) ?? { type: "refuse" };
    // Listeners are called just before the question can be answered.
    queueMicrotask(() => scheduler.decide(event.call, decision));
  });
  let ordinal = 0;
  return {
    scheduler,
    events,
    call: async (tool, value) => {
      const [finished] = await scheduler.schedule([
        { type: "call", id: callId((ordinal += 1)), tool, input: { type: "parsed", value } },
      ]);
      if (finished === undefined) throw new Error("The call did not end.");
      return reportCall(finished, approvals.splice(0));
    },
    close: async () => {
      await scheduler.cancel();
      await services.close();
    },
  };
};

const reportCall = (finished: FinishedCall, approvals: readonly ApprovalRequest[]): AttackCallResult => {
  const { outcome, error } = finished;
  return {
    verdict: approvals.length > 0 ? "ask" : outcome.status === "complete" ? "allow" : "deny",
    type: error?.type ?? outcome.status,
    text: outcome.content.map((part) => (part.type === "text" ? part.text : `<${part.type}>`)).join("\n"),
    approvals,
    finished,
  };
};

const readTree = (path: string): readonly (readonly [string, string])[] => {
  if (!existsSync(path) && !isLink(path)) return [];
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return [[path, `-> ${readlinkSync(path)}`]];
  if (found.isFile()) return [[path, readFileSync(path, "utf8")]];
  if (!found.isDirectory()) return [[path, "(other)"]];
  const names = readdirSync(path);
  return names.length === 0 ? [[`${path}/`, ""]] : names.flatMap((name) => readTree(join(path, name)));
};

const isLink = (path: string): boolean => {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
};
