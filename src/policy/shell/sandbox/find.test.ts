import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realWorld } from "../../../world/real/world.ts";
import { findSandbox } from "./find.ts";

const { processes } = realWorld();
const program = { file: "/bin/bash", args: ["-c", "ls"], cwd: "/home/me/ws/sub", env: { PATH: "/bin" } };
const within = {
  writable: ["/home/me/ws", "/home/me/.parley/kept"],
  readOnly: ["/home/me/ws/.envrc"],
  hiddenFolders: ["/home/me/.parley"],
  hiddenFiles: ["/home/me/.netrc"],
  privateFolders: ["/tmp", "/run"],
  sharedPaths: ["/run/resolv.conf"],
  emptyFile: "/home/me/.parley/empty",
  network: false,
};
const kernel = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr"];

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
  it("of Linux makes the workspace writable, and hides Parley's folder except for the inner one", async () => {
    install("bwrap", "exit 0");
    const sandbox = await findSandbox(processes, { platform: "linux" }, folder);
    if ("missing" in sandbox) throw new Error(sandbox.missing);
    expect(sandbox.notes).toEqual([]);
    expect(sandbox.confine(program, within)).toEqual({
      ...program,
      env: { PATH: "/bin", TMPDIR: "/tmp", XDG_CACHE_HOME: "/tmp/.cache", npm_config_cache: "/tmp/.npm" },
      file: join(folder, "bwrap"),
      args: [
        "--ro-bind / / --dev /dev --proc /proc",
        ...kernel.map((name) => `--ro-bind-try /proc/${name} /proc/${name}`),
        "--tmpfs /tmp --tmpfs /run --ro-bind-try /run/resolv.conf /run/resolv.conf",
        "--bind /home/me/ws /home/me/ws --ro-bind /home/me/.parley/empty /home/me/.netrc --tmpfs /home/me/.parley",
        "--ro-bind /home/me/ws/.envrc /home/me/ws/.envrc --bind /home/me/.parley/kept /home/me/.parley/kept",
        "--remount-ro /home/me/.parley --unshare-user --disable-userns --cap-drop ALL",
        "--unshare-pid --unshare-ipc --unshare-uts --die-with-parent --new-session --unshare-net",
        "--chdir /home/me/ws/sub -- /bin/bash -c ls",
      ].flatMap((line) => line.split(" ")),
    });
    expect(sandbox.confine(program, { ...within, network: true }).args).not.toContain("--unshare-net");
  });

  it.each([
    [
      "--disable-userns",
      "Sandboxed commands can create namespaces: this bubblewrap is older than 0.8, or may not forbid it.",
    ],
    ["--unshare-user", "Sandboxed commands have no user namespace of their own: this system does not allow one."],
  ])("of Linux works without %s if necessary, and says so", async (option, note) => {
    install(
      "bwrap",
      `for each; do case $each in ${option}) echo "bwrap: Unknown option $each" >&2; exit 1;; esac; done`,
    );
    const sandbox = await findSandbox(processes, { platform: "linux" }, folder);
    if ("missing" in sandbox) throw new Error(sandbox.missing);
    expect(sandbox.notes).toEqual([note]);
    expect(sandbox.confine(program, within).args).not.toContain(option);
    expect(sandbox.confine(program, within).args).toContain("--cap-drop");
  });

  it("of Linux is unavailable if it is not installed", async () => {
    expect(await findSandbox(processes, { platform: "linux" }, folder)).toEqual({
      missing: "Commands run without a sandbox: bwrap is not installed (the package is called bubblewrap).",
    });
  });

  it("is unavailable if the system does not permit it, and reports its error", async () => {
    install("bwrap", "echo 'bwrap: No permissions to create a new namespace' >&2; echo more >&2; exit 1");
    expect(await findSandbox(processes, { platform: "linux" }, folder)).toEqual({
      missing:
        "Commands run without a sandbox: bwrap does not work here (bwrap: No permissions to create a new namespace).",
    });
  });

  it("is unavailable if it cannot be started", async () => {
    writeFileSync(join(folder, "bwrap"), "\x7fELF broken", { mode: 0o755 });
    expect(await findSandbox(processes, { platform: "linux" }, folder)).toEqual({
      missing: expect.stringContaining("bwrap does not work here (") as string,
    });
  });

  it("of macOS has an equivalent profile", async () => {
    const installed = {
      ...processes,
      find: async () => "/usr/bin/sandbox-exec",
      start: () => processes.start({ ...program, file: "/bin/sh", args: ["-c", "exit 0"], cwd: "/" }),
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
          '(allow file-write* (subpath "/dev") (subpath "/private/tmp") (subpath "/private/var/folders"))',
          '(allow file-read* file-write* (subpath "/home/me/ws"))',
          '(deny file-read* file-write* network-outbound (subpath "/home/me/.netrc"))',
          '(deny file-read* file-write* network-outbound (subpath "/home/me/.parley"))',
          '(allow file-read* (subpath "/home/me/ws/.envrc")) (deny file-write* (subpath "/home/me/ws/.envrc"))',
          '(allow file-read* file-write* (subpath "/home/me/.parley/kept"))',
          "(deny network*)",
        ].join("\n"),
        "/bin/bash",
        "-c",
        "ls",
      ],
    });
  });

  it("is unavailable on other systems", async () => {
    expect(await findSandbox(processes, { platform: "win32" }, folder)).toEqual({
      missing: "Commands run without a sandbox: there is none for win32.",
    });
  });
});
