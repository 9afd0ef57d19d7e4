import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realWorld } from "../world/index.ts";
import { findSandbox } from "./sandbox.ts";

const { processes } = realWorld();
const program = { file: "/bin/bash", args: ["-c", "ls"], folder: "/home/me/ws/sub", env: { PATH: "/bin" } };
const within = { writable: ["/home/me/ws", "/home/me/.parley/kept"], hidden: ["/home/me/.parley"], network: false };

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-sandbox-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const install = (name: string, script: string): void => {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
};

describe("a sandbox", () => {
  it("of Linux gives a command its workspace, and hides what is ours but for the inner folder", async () => {
    install("bwrap", "exit 0");
    const sandbox = await findSandbox(processes, { platform: "linux" }, folder);
    if ("missing" in sandbox) throw new Error(sandbox.missing);
    expect(sandbox.confine(program, within)).toEqual({
      ...program,
      file: join(folder, "bwrap"),
      args: [
        "--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp",
        "--bind /home/me/ws /home/me/ws --tmpfs /home/me/.parley",
        "--bind /home/me/.parley/kept /home/me/.parley/kept",
        "--unshare-pid --unshare-ipc --unshare-uts --die-with-parent --new-session --unshare-net",
        "--chdir /home/me/ws/sub -- /bin/bash -c ls",
      ].flatMap((line) => line.split(" ")),
    });
    expect(sandbox.confine(program, { ...within, network: true }).args).not.toContain("--unshare-net");
  });

  it("of Linux is not there where it is not installed", async () => {
    expect(await findSandbox(processes, { platform: "linux" }, folder)).toEqual({
      missing: "Commands run without a sandbox: bwrap is not installed (the package is called bubblewrap).",
    });
  });

  it("is not there where the system does not let it work, and says what it said", async () => {
    install("bwrap", "echo 'bwrap: No permissions to create a new namespace' >&2; echo more >&2; exit 1");
    expect(await findSandbox(processes, { platform: "linux" }, folder)).toEqual({
      missing:
        "Commands run without a sandbox: bwrap does not work here (bwrap: No permissions to create a new namespace).",
    });
  });

  it("is not there where it cannot even be started", async () => {
    writeFileSync(join(folder, "bwrap"), "\x7fELF broken", { mode: 0o755 });
    expect(await findSandbox(processes, { platform: "linux" }, folder)).toEqual({
      missing: expect.stringContaining("bwrap does not work here (") as string,
    });
  });

  it("of macOS says the same in its own words", async () => {
    const installed = {
      ...processes,
      find: async () => "/usr/bin/sandbox-exec",
      start: () => processes.start({ ...program, file: "/bin/sh", args: ["-c", "exit 0"], folder: "/" }),
    };
    const sandbox = await findSandbox(installed, { platform: "darwin" }, "");
    if ("missing" in sandbox) throw new Error(sandbox.missing);
    expect(sandbox.confine(program, within)).toEqual({
      ...program,
      file: "/usr/bin/sandbox-exec",
      args: [
        "-p",
        [
          "(version 1)",
          "(allow default)",
          "(deny file-write*)",
          '(allow file-write* (subpath "/dev"))',
          '(allow file-read* file-write* (subpath "/home/me/ws"))',
          '(deny file-read* file-write* (subpath "/home/me/.parley"))',
          '(allow file-read* file-write* (subpath "/home/me/.parley/kept"))',
          "(deny network*)",
        ].join("\n"),
        "/bin/bash",
        "-c",
        "ls",
      ],
    });
  });

  it("is not there on other systems", async () => {
    expect(await findSandbox(processes, { platform: "win32" }, folder)).toEqual({
      missing: "Commands run without a sandbox: there is none for win32.",
    });
  });
});
