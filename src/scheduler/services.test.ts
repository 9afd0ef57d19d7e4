import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTrustStore } from "../policy/trust/folders.ts";
import { builtinTools } from "../tools/builtins.ts";
import { realWorld } from "../world/real/world.ts";
import { createRegistry } from "./registry.ts";
import { createScheduler } from "./scheduler.ts";
import { openServices, type OpenServices, type ServicesOptions } from "./services.ts";
import { call } from "./harness.cases.ts";

let base: string;
let services: OpenServices | undefined;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-services-")));
  for (const folder of ["work", "more", "home"]) mkdirSync(join(base, folder));
  writeFileSync(join(base, "work", "a.txt"), "one\n");
});
afterEach(async () => {
  await services?.close();
  rmSync(base, { recursive: true, force: true });
});

const home = (): string => join(base, "home", ".parley");
const worldWith = (env: object = {}, platform = "linux") => {
  const world = realWorld();
  return {
    ...world,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", ...env },
    host: { ...world.host, platform, home: join(base, "home") },
  };
};
const open = async (options: Partial<ServicesOptions> = {}): Promise<OpenServices> => {
  services = await openServices({
    world: worldWith(),
    roots: [join(base, "work")],
    home: home(),
    mode: "yolo",
    interactive: false,
    ...options,
  });
  return services;
};
const schedulerOf = (given: OpenServices) =>
  createScheduler({
    ...given,
    tools: createRegistry(builtinTools),
    clock: realWorld().clock,
    limits: { processes: 2, toolTime: 60_000 },
  });

describe("the services of a session", () => {
  it("include files, commands, search and memory behind one gate", async () => {
    const scheduler = schedulerOf(await open());
    const finished = await scheduler.schedule([
      call(1, "write_file", { file_path: "b.txt", content: "two\n" }),
      call(2, "run_shell_command", { command: "cat a.txt b.txt" }),
      call(3, "search_file_content", { pattern: "two" }),
      call(4, "save_memory", { fact: "likes tea" }),
      call(5, "write_file", { file_path: ".git/config", content: "x" }),
    ]);
    expect(finished.map(({ outcome, error }) => error?.type ?? outcome.status)).toEqual([
      "complete",
      "complete",
      "complete",
      "complete",
      "policy_violation",
    ]);
    expect(readFileSync(join(home(), "PARLEY.md"), "utf8")).toContain("- likes tea");
  });

  it("let a watcher run commands that may change files, and no others", async () => {
    const watched: string[] = [];
    const scheduler = schedulerOf(
      await open({
        watchCommand: async (run) => {
          const before = readFileSync(join(base, "work", "a.txt"), "utf8");
          const result = await run();
          watched.push(`${before.trim()} -> ${readFileSync(join(base, "work", "a.txt"), "utf8").trim()}`);
          return result;
        },
      }),
    );
    for (const [at, command] of ["cat a.txt", "git status; ls", "cat a.txt > b.txt", "echo two > a.txt"].entries())
      await scheduler.schedule([call(at + 1, "run_shell_command", { command })]);
    expect(watched).toEqual(["one -> one", "one -> two"]);
  });

  it("know whether the user trusts all folders", async () => {
    const roots = [join(base, "work"), join(base, "more")];
    const trust = openTrustStore(realWorld().disk, home());
    const known: boolean[] = [];
    for (const next of [undefined, "work", "more"]) {
      if (next !== undefined) await trust.trustFolder(join(base, next));
      known.push((await open({ roots })).trusted);
      await services?.close();
    }
    expect(known).toEqual([false, false, true]);
    expect((await open({ trusted: true })).trusted).toBe(true);
  });

  it("store long texts in the agent's own folder, where they can be read", async () => {
    const scheduler = schedulerOf(await open());
    const [long] = await scheduler.schedule([call(1, "run_shell_command", { command: "seq 100000" })]);
    const path = /is in (\S+);/.exec(JSON.stringify(long?.outcome))?.[1] ?? "";
    expect(path.startsWith(join(home(), "scratch"))).toBe(true);
    const [read] = await scheduler.schedule([call(2, "read_file", { absolute_path: path })]);
    expect(read?.outcome.status).toBe("complete");
  });

  it("redact the secrets of this run in displays, records and approvals of URLs", async () => {
    const secret = "correct-horse-battery";
    const { gate, redactor } = await open({ world: worldWith({ DB_PASSWORD: secret }), secrets: ["another-one-here"] });
    expect(redactor.redact(`${secret} another-one-here`)).toBe("[secret] [secret]");
    const { details } = await gate.judge({
      tool: "web_fetch",
      access: "network",
      touches: { reads: [], writes: [], urls: [`https://public.test/?d=${secret}`] },
    });
    expect(details.urls.map(({ url, decision }) => [url, decision])).toEqual([
      ["https://public.test/?d=[secret]", "ask"],
    ]);
    const scheduler = schedulerOf(await open({ world: worldWith({ DB_PASSWORD: secret }) }));
    const shown: string[] = [];
    scheduler.listen((event) => void (event.type === "call-output" && shown.push(event.text)));
    const [end] = await scheduler.schedule([call(1, "run_shell_command", { command: `echo ${secret}` })]);
    expect([end?.display, end?.record.function_args]).toEqual([
      { type: "text", text: "[secret]" },
      { command: "echo [secret]" },
    ]);
    expect(JSON.stringify(end?.outcome)).toContain(`Output: ${secret}`);
    expect(shown.filter((text) => text.includes(secret))).toEqual([]);
  });

  it("report a missing sandbox, and do not open where one is required", async () => {
    const world = worldWith({ PATH: join(base, "home") }, "sunos");
    expect((await open({ world })).notes).toEqual([]);
    expect((await open({ world, sandbox: "wanted" })).notes).toEqual([
      "Commands run without a sandbox: there is none for sunos.",
    ]);
    await expect(open({ world, sandbox: "required" })).rejects.toThrow(
      "A sandbox is required. Commands run without a sandbox: there is none for sunos.",
    );
  });
});
