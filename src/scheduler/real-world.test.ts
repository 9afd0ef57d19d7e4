import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parsePermissionRule } from "../policy/gate/permission-rules.ts";
import { builtinTools } from "../tools/builtins.ts";
import { googleWebSearch } from "../tools/google-web-search/google-web-search.ts";
import { webFetch } from "../tools/web-fetch/web-fetch.ts";
import { realWorld } from "../world/real/world.ts";
import type { FinishedCall } from "./events.ts";
import { createRegistry } from "./registry.ts";
import { createScheduler, type Scheduler } from "./scheduler.ts";
import { openServices, type OpenServices, type ServicesOptions } from "./services.ts";
import { call } from "./harness.cases.ts";
import { canListProcesses, processesIn, untilGone } from "../../test/support/processes.ts";

let base: string;
let root: string;
let services: OpenServices | undefined;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-scheduler-")));
  root = join(base, "work");
  for (const folder of ["work", "outside", "home"]) mkdirSync(join(base, folder));
  writeFileSync(join(base, "outside", "canary.txt"), "canary\n");
  writeFileSync(join(root, "a.txt"), "one\n");
});

afterEach(async () => {
  await services?.close();
  rmSync(base, { recursive: true, force: true });
});

/** A scheduler over real files and real processes, assembled as in a session. */
const open = async (options: Partial<ServicesOptions> = {}): Promise<Scheduler> => {
  const world = realWorld();
  services = await openServices({
    world: { ...world, env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: join(base, "home") } },
    roots: [root],
    home: join(base, "home", ".parley"),
    scratch: join(base, "scratch"),
    mode: "default",
    trusted: true,
    interactive: true,
    ripgrep: async () => undefined,
    ...options,
  });
  return createScheduler({
    tools: createRegistry([...builtinTools, webFetch, googleWebSearch]),
    ...services,
    clock: world.clock,
    limits: { processes: 8, toolTime: 60_000 },
  });
};

const run = (ordinal: number, command: string) => call(ordinal, "run_shell_command", { command });
const write = (ordinal: number, file_path: string, content = "x\n") =>
  call(ordinal, "write_file", { file_path, content });
const textOf = ({ outcome }: FinishedCall): string =>
  outcome.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
const typesOf = (finished: readonly FinishedCall[]) =>
  finished.map(({ outcome, error }) => error?.type ?? outcome.status);
const started = (scheduler: Scheduler, state: string): Promise<void> =>
  new Promise((resolve) => {
    const stop = scheduler.listen((event) => {
      const isIt = event.type === "call-changed" ? event.status.state === state : state === "output";
      if (!isIt) return;
      stop();
      resolve();
    });
  });

describe("with real files and processes", () => {
  it("five commands that wait for each other all end: they run in parallel", async () => {
    const scheduler = await open({ mode: "yolo" });
    const meet = (n: number) => `touch go.${n}; while [ "$(ls go.* | wc -l)" -lt 5 ]; do sleep 0.01; done; echo met`;
    const finished = await scheduler.schedule([1, 2, 3, 4, 5].map((n) => run(n, meet(n))));
    expect(finished.map((end) => textOf(end).includes("Output: met"))).toEqual([true, true, true, true, true]);
  });

  it.runIf(canListProcesses)("a cancel leaves no process behind, however little it listens", async () => {
    const scheduler = await open({ mode: "yolo" });
    const command = `trap "" TERM; sleep 98765 & echo begun; sleep 98765`;
    const batch = scheduler.schedule([run(1, command), run(2, "sleep 98765"), write(3, "b.txt")]);
    await started(scheduler, "output");
    expect(processesIn(root).length).toBeGreaterThan(0);
    await scheduler.cancel();
    // A killed process takes a moment to go.
    await untilGone(...processesIn(root).map(Number));
    expect(processesIn(root)).toEqual([]);
    const finished = await batch;
    expect(finished.map(({ outcome }) => outcome.status).slice(0, 2)).toEqual(["cancelled", "cancelled"]);
    expect(textOf(finished[0] as FinishedCall)).toContain("begun");
  });

  it("an approved edit does not follow a link that was put there afterwards", async () => {
    const scheduler = await open();
    const batch = scheduler.schedule([write(1, "a.txt", "evil\n")]);
    await started(scheduler, "awaiting_approval");
    rmSync(join(root, "a.txt"));
    symlinkSync(join(base, "outside", "canary.txt"), join(root, "a.txt"));
    scheduler.decide("hist_tool_1", { type: "once" });
    const [end] = await batch;
    expect(end?.outcome.status).toBe("error");
    expect(readFileSync(join(base, "outside", "canary.txt"), "utf8")).toBe("canary\n");
  });

  it("nor one to another file of the workspace, nor a file that replaced it", async () => {
    writeFileSync(join(root, "b.txt"), "one\n");
    const scheduler = await open();
    for (const [ordinal, swap] of [
      () => symlinkSync("b.txt", join(root, "a.txt")),
      () => writeFileSync(join(root, "a.txt"), "one\n"),
    ].entries()) {
      const batch = scheduler.schedule([write(ordinal + 1, "a.txt", "evil\n")]);
      await started(scheduler, "awaiting_approval");
      renameSync(join(root, "a.txt"), join(root, "old.txt"));
      swap();
      scheduler.decide(`hist_tool_${ordinal + 1}`, { type: "once" });
      expect((await batch)[0]?.outcome.status).toBe("error");
      expect(["a.txt", "b.txt"].map((name) => readFileSync(join(root, name), "utf8"))).toEqual(["one\n", "one\n"]);
      rmSync(join(root, "a.txt"));
      renameSync(join(root, "old.txt"), join(root, "a.txt"));
    }
  });

  it("the approval of an edit through a link shows its target", async () => {
    symlinkSync("a.txt", join(root, "shown.txt"));
    const scheduler = await open();
    const batch = scheduler.schedule([write(1, "shown.txt", "two\n")]);
    await started(scheduler, "awaiting_approval");
    expect(scheduler.pendingApprovals()[0]?.approval.subject).toMatchObject({
      requestedPath: "shown.txt",
      path: join(root, "a.txt"),
      isLink: true,
    });
    scheduler.decide("hist_tool_1", { type: "once" });
    expect(typesOf(await batch)).toEqual(["complete"]);
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("two\n");
  });

  it("an edit, the edit after it and the command that reads it see each other in call order", async () => {
    const scheduler = await open({ mode: "yolo" });
    const finished = await scheduler.schedule([
      write(1, "new/c.txt", "one\n"),
      call(2, "replace", { file_path: "new/c.txt", old_string: "one", new_string: "two" }),
      run(3, "cat new/c.txt"),
      call(4, "read_file", { absolute_path: "new/c.txt" }),
    ]);
    expect(typesOf(finished)).toEqual(["complete", "complete", "complete", "complete"]);
    expect(textOf(finished[2] as FinishedCall)).toContain("Output: two");
    expect(textOf(finished[3] as FinishedCall)).toContain("two");
  });

  const refusals: readonly (readonly [what: string, ReturnType<typeof call>, type: string])[] = [
    ["a path that leads out", write(1, "../outside/x.txt"), "path_not_in_workspace"],
    ["a path with a like beginning", write(1, "../work-evil/x.txt"), "path_not_in_workspace"],
    ["a hook", write(1, ".git/hooks/pre-commit"), "policy_violation"],
    ["the agent's own settings", write(1, ".parley/settings.json"), "policy_violation"],
    ["a command that destroys the machine", run(1, "rm -rf /"), "policy_violation"],
    [
      "a command in another folder",
      call(1, "run_shell_command", { command: "ls", directory: "/" }),
      "path_not_in_workspace",
    ],
    ["a command that writes outside", run(1, "echo x > ../outside/canary.txt"), "policy_violation"],
    ["an address on this machine", call(1, "web_fetch", { prompt: "read http://127.0.0.1:1/" }), "policy_violation"],
    ["a folder outside", call(1, "list_directory", { path: "/" }), "path_not_in_workspace"],
    ["a search outside", call(1, "search_file_content", { pattern: "x", path: "/etc" }), "path_not_in_workspace"],
  ];
  it.each(refusals)("yolo mode does not run %s", async (_, what, type) => {
    const scheduler = await open({ mode: "yolo", interactive: false });
    expect(typesOf(await scheduler.schedule([what]))).toEqual([type]);
    expect(readFileSync(join(base, "outside", "canary.txt"), "utf8")).toBe("canary\n");
    expect(readdirSync(join(base, "outside"))).toEqual(["canary.txt"]);
  });

  it("without a user, only what needs no approval or is allowed by a rule runs", async () => {
    const commandLine = {
      allow: [parsePermissionRule("run_shell_command(touch)")].filter((rule) => rule !== undefined),
    };
    const scheduler = await open({ interactive: false, rules: { commandLine } });
    const finished = await scheduler.schedule([
      run(1, "cat a.txt"),
      run(2, "touch made.txt"),
      run(3, "make all"),
      run(4, "cat a.txt > b.txt"),
      write(5, "c.txt"),
      call(6, "read_file", { absolute_path: "a.txt" }),
    ]);
    expect(typesOf(finished)).toEqual([
      "complete",
      "complete",
      "policy_violation",
      "policy_violation",
      "policy_violation",
      "complete",
    ]);
    expect(textOf(finished[2] as FinishedCall)).toContain("--allowed-tools 'run_shell_command(make all)'");
    expect(readdirSync(root).toSorted()).toEqual(["a.txt", "made.txt"]);
  });

  it("every built-in tool with side effects needs approval, and none runs before", async () => {
    const scheduler = await open();
    const calls = [
      write(1, "b.txt"),
      call(2, "replace", { file_path: "a.txt", old_string: "one", new_string: "two" }),
      call(3, "smart_edit", { file_path: "c.txt", instruction: "make it", old_string: "", new_string: "x" }),
      run(4, "touch d.txt"),
      call(5, "save_memory", { fact: "x" }),
      call(6, "web_fetch", { prompt: "read https://example.com/" }),
      call(7, "google_web_search", { query: "x" }),
    ];
    const waiting: string[] = [];
    const all = new Promise<void>((resolve) => {
      scheduler.listen((event) => {
        if (event.type === "call-changed" && event.status.state === "awaiting_approval") waiting.push(event.call);
        if (waiting.length === calls.length) resolve();
      });
    });
    const batch = scheduler.schedule(calls);
    await all;
    expect(scheduler.pendingApprovals().map(({ approval }) => approval.subject.type)).toEqual([
      "edit",
      "edit",
      "edit",
      "execute",
      "info",
      "network",
      "info",
    ]);
    scheduler.decide("hist_tool_1", { type: "cancel" });
    expect(typesOf(await batch)).toEqual(calls.map(() => "cancelled"));
    expect([readdirSync(root), readdirSync(join(base, "home"))]).toEqual([["a.txt"], []]);
  });
});
