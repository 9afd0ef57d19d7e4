import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleScript } from "../support/bundle-script.ts";
import { isRunning, untilGone } from "../support/processes.ts";
import { sampleCases } from "../support/tier.ts";
import { scriptedServer, withServers } from "./with-servers.ts";

let folder: string;
let parent: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-parent-"));
  parent = bundleScript(fileURLToPath(new URL("./parent.ts", import.meta.url)), folder);
});
afterAll(() => rm(folder, { recursive: true }));

/** Starts a program with servers, and returns the process ids of the servers and their children. */
const start = async (
  how: string,
): Promise<{ readonly child: ReturnType<typeof spawn>; readonly pids: readonly number[] }> => {
  const child = spawn(process.execPath, [parent, how, scriptedServer], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = (await once(child.stdout!, "data")) as [Buffer];
  return { child, pids: line.toString().trim().split(" ").map(Number) };
};

describe("the processes of servers", () => {
  it.each(sampleCases(["close", "exit", "crash", "SIGKILL", "SIGTERM"], 3))(
    "are gone when we end by %s",
    async (how) => {
      const { child, pids } = await start(how);
      expect(pids).toEqual([expect.any(Number), expect.any(Number)]);
      expect(pids.every((pid) => pid > 1)).toBe(true);
      if (how.startsWith("SIG")) child.kill(how as NodeJS.Signals);
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      await untilGone(...pids);
    },
  );

  it("are one at a time, also when a running server is restarted", async () => {
    const logs = await mkdtemp(join(tmpdir(), "parley-again-"));
    const log = join(logs, "log");
    try {
      await withServers({ scripted: { s: ["log", log] } }, async ({ servers, call, until }) => {
        await call("echo");
        servers.restart("s");
        await until(() => servers.status()[0]?.status.state === "ready");
        await call("echo");
        const [first = 0, second = 0] = (await readFile(log, "utf8")).trim().split("\n").map(Number);
        await untilGone(first);
        expect([first === second, isRunning(second)]).toEqual([false, true]);
      });
    } finally {
      await rm(logs, { recursive: true, force: true });
    }
  });
});
