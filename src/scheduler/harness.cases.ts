import { resolve } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { z } from "zod";
import { callId } from "../conversation/call-ids.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { Call, CallId } from "../conversation/parts.ts";
import type { JudgedCommand } from "../policy/gate/request.ts";
import { createPermissionGate, type PermissionGate, type PermissionGateOptions } from "../policy/gate/create.ts";
import type { Capabilities, ResolvedPath } from "../tools/capabilities.ts";
import { defineTool, ToolFailure, type Access, type AnyTool, type Tool, type ToolResult } from "../tools/tool.ts";
import { writeFile } from "../tools/files/write-file.ts";
import { simulatedWorld, type SimulatedWorld } from "../world/simulated/world.ts";
import { createCapabilities, type PolicyServices } from "./capabilities.ts";
import type { SchedulerEvent } from "./events.ts";
import type { ToolRegistry } from "./registry.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";

/** One run of a tool that a test controls. */
export type ToolRun = {
  readonly name: string;
  readonly can: Capabilities;
  readonly finish: (result?: Partial<ToolResult>) => void;
  readonly crash: (error: unknown) => void;
};

/** A scheduler with all dependencies in memory, and tools that wait for the test. */
export type SchedulerHarness = {
  readonly scheduler: Scheduler;
  readonly gate: PermissionGate;
  readonly world: SimulatedWorld;
  readonly events: readonly SchedulerEvent[];
  /** When live output was reported. */
  readonly outputs: readonly { readonly call: CallId; readonly time: number }[];
  /** The started runs, in order. */
  readonly runs: readonly ToolRun[];
  readonly files: Map<string, string>;
  readonly commands: readonly string[];
  readonly registry: Map<string, { readonly tool: AnyTool; readonly server?: string }>;
  /** Runs everything that can run now. */
  readonly settle: () => Promise<void>;
  /** Waits for this many more approval requests; for tools that load their dependencies only then. */
  readonly approvalsRequested: (questions?: number) => Promise<void>;
  /** Advances time. */
  readonly advance: (ms: number) => Promise<void>;
  readonly run: (name: string) => ToolRun;
  /** The states a call has been in. */
  readonly states: (call: Pick<Call, "id">) => readonly string[];
};

export type SchedulerHarnessOptions = Partial<PermissionGateOptions> & {
  readonly processes?: number;
  readonly toolTime?: number;
  readonly services?: Partial<PolicyServices>;
};

/** Creates a harness in which reading is allowed and everything else needs approval, unless the options differ. */
export const createHarness = ({
  processes = 8,
  toolTime = 60_000,
  services = {},
  ...options
}: SchedulerHarnessOptions = {}): SchedulerHarness => {
  const world = simulatedWorld();
  const files = new Map<string, string>();
  const runs: ToolRun[] = [];
  const commands: string[] = [];
  const gate = createPermissionGate({
    mode: "default",
    rules: {},
    trusted: true,
    interactive: true,
    protection: () => ({ level: "free", reason: "" }),
    judgeCommand: async ({ text }, { allow, mode }) => {
      const isAllowed = mode === "yolo" || allow.some((words) => text.startsWith(words.join(" ")));
      return judgedCommand(text, isAllowed ? "allow" : "ask");
    },
    judgeUrl: (url) => ({ url, host: new URL(url).hostname, decision: "allow", reason: "" }),
    ...options,
  });
  const registry = new Map<string, { readonly tool: AnyTool; readonly server?: string }>();
  for (const tool of [...createWaitingTools(runs), editTool(runs), writeFile]) registry.set(tool.name, { tool });
  const tools: ToolRegistry = { find: (name) => registry.get(name), names: () => [...registry.keys()] };
  const scheduler = createScheduler({
    tools,
    gate,
    capabilities: createCapabilities({ ...servicesInMemory(files, commands), ...services }),
    clock: world.clock,
    limits: { processes, toolTime },
  });
  const events: SchedulerEvent[] = [];
  const outputs: { readonly call: CallId; readonly time: number }[] = [];
  const states = new Map<CallId, string[]>();
  scheduler.listen((event) => {
    events.push(event);
    if (event.type === "call-changed") states.set(event.call, [...(states.get(event.call) ?? []), event.status.state]);
    else if (event.type === "call-output") outputs.push({ call: event.call, time: world.clock.elapsed() });
  });
  return {
    scheduler,
    gate,
    world,
    events,
    outputs,
    runs,
    files,
    commands,
    registry,
    settle: async () => {
      for (let round = 0; round < 4; round++) await turn();
    },
    approvalsRequested: (questions = 1) => {
      let left = questions;
      return new Promise((resolve) => {
        const stop = scheduler.listen((event) => {
          if (event.type !== "call-changed" || event.status.state !== "awaiting_approval" || --left > 0) return;
          stop();
          resolve();
        });
      });
    },
    advance: async (ms) => {
      await world.run(world.clock.sleep(ms));
    },
    run: (name) => {
      const found = runs.findLast((each) => each.name === name);
      if (found === undefined) throw new Error(`${name} does not run.`);
      return found;
    },
    states: ({ id }) => states.get(id) ?? [],
  };
};

/** Creates a call of a tool. */
export const call = (ordinal: number, tool: string, value: JsonObject = {}): Call => ({
  type: "call",
  id: callId(ordinal),
  tool,
  input: { type: "parsed", value },
});

const judgedCommand = (text: string, decision: "allow" | "ask"): JudgedCommand => ({
  decision,
  reason: decision === "ask" ? "It runs a program." : "",
  analysis: {
    programs: [{ name: text.split(" ")[0] ?? "", binary: { kind: "file", path: `/usr/bin/${text.split(" ")[0]}` } }],
    suggestedRules: [[text.split(" ")[0] ?? ""]],
    readsOutside: false,
    mayRunUnseen: false,
    writes: [],
  },
});

const input = z.object({
  name: z.string(),
  path: z.string().optional(),
  also: z.array(z.string()).optional(),
  /** Does not react to the abort signal. */
  stubborn: z.boolean().optional(),
});

/** `read`, `write`, `execute` and `network`: tools that touch the named resource and end when the test says so. */
const createWaitingTools = (runs: ToolRun[]): readonly AnyTool[] =>
  (["read", "write", "execute", "network"] as const).map((access) => waitingTool(access, runs));

/** A tool that ends when the test says so. */
export const waitingTool = (access: Access, runs: ToolRun[], name: string = access): AnyTool =>
  defineTool({
    name,
    description: "Waits for the test.",
    access,
    input,
    aliases: { path: ["file_path"] },
    touches: ({ name: text, path, also = [] }) => {
      const paths = path === undefined ? [] : [path, ...also];
      if (access === "execute") return { command: { text, folder: "" } };
      if (access === "network") return { urls: [`https://${text}.test/`] };
      return access === "write" ? { writes: paths } : { reads: paths };
    },
    title: ({ name: text }) => `Does ${text}`,
    run: ({ name: text, stubborn = false }, capabilities) =>
      new Promise<ToolResult>((resolve, reject) => {
        const finish = (result: Partial<ToolResult> = {}): void =>
          resolve({
            content: [{ type: "text", text: `${text} is done` }],
            display: { type: "text", text: `${text} is done` },
            ...result,
          });
        runs.push({ name: text, can: capabilities, finish, crash: reject });
        if (!stubborn)
          capabilities.signal.addEventListener(
            "abort",
            () => reject(new ToolFailure("execution_failed", "told to stop")),
            {
              once: true,
            },
          );
      }),
  });

/** A tool that proposes its text, and ends when the test says so. */
const editTool = (runs: ToolRun[]): AnyTool => {
  const { run, title, touches } = waitingTool("write", runs, "edit") as unknown as Tool<EditInput>;
  return defineTool<EditInput>({
    name: "edit",
    description: "Proposes an edit.",
    access: "write",
    input: z.object({ name: z.string(), path: z.string(), stubborn: z.boolean().optional(), text: z.string() }),
    touches,
    title,
    propose: async ({ path, text }) => ({ path: `/site/${path}`, before: undefined, after: text }),
    amend: (given, _, text) => ({ ...given, text }),
    run,
  }) as unknown as AnyTool;
};

type EditInput = {
  readonly name: string;
  readonly path: string;
  readonly stubborn?: boolean | undefined;
  readonly text: string;
};

/** A workspace at /site in memory, where every link.txt is a link to a.txt beside it. A file's identity is its text. */
const servicesInMemory = (files: Map<string, string>, commands: string[]): PolicyServices => {
  const place = (path: string): ResolvedPath => {
    const full = resolve("/site", path).replace(/\/link\.txt$/, "/a.txt");
    if (full !== "/site" && !full.startsWith("/site/"))
      throw new ToolFailure("path_not_in_workspace", `${path} lies outside the workspace.`);
    const text = files.get(full);
    const known = { path: full, shown: full.slice(6), size: text?.length ?? 0, modified: 0 };
    if (full === "/site") return { ...known, shown: ".", kind: "folder", identity: "root" };
    return text === undefined
      ? { ...known, kind: "absent", identity: "absent" }
      : { ...known, kind: "file", identity: `text:${text}` };
  };
  const unused = (): never => {
    throw new Error("Not used here.");
  };
  return {
    files: {
      roots: ["/site"],
      resolve: async (path) => place(path),
      open: unused,
      bytes: async (path) => new TextEncoder().encode(files.get(place(path).path)),
      list: unused,
      ignored: async () => undefined,
      ignoring: async () => () => undefined,
      write: async (path, bytes, was) => {
        if (place(path).identity !== was) throw new ToolFailure("file_modified_conflict", `${path} has changed.`);
        files.set(place(path).path, new TextDecoder().decode(bytes));
      },
      keep: async (text, name) => {
        files.set(`/site/kept/${name}`, text);
        return `/site/kept/${name}`;
      },
    },
    shell: {
      run: async ({ text }) => {
        commands.push(text);
        return unused();
      },
    },
    web: { fetch: unused },
    search: { files: unused, text: unused },
    memory: { path: "/home/memory", read: async () => undefined, write: async () => undefined },
  };
};
