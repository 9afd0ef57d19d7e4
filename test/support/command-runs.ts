import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failingStub, realPrograms, stubs } from "./command-scripts.ts";

/** The observed behaviour of a script: every stub call with its words, and the files that were created. */
export type ScriptRun = { readonly called: readonly (readonly string[])[]; readonly created: readonly string[] };

/** Whether everything needed to run scripts is installed. */
export const canRunScripts = (shell: string): boolean =>
  process.platform === "linux" && [shell, "dash", "xargs", "timeout"].every((name) => programPath(name) !== undefined);

/**
 * Runs scripts in a real shell, two at a time, each in its own empty folder. The search path has only stubs and a few
 * real programs that run others.
 */
export const runScripts = async (texts: readonly string[], shell: string): Promise<readonly ScriptRun[]> => {
  const base = mkdtempSync(join(tmpdir(), "commands-"));
  try {
    prepareFolder(base, shell);
    for (const at of texts.keys()) {
      mkdirSync(join(base, "work", String(at)));
      chmodSync(join(base, "work", String(at)), 0o777);
    }
    await runAllScripts(base, texts);
    return texts.map((_, at) => ({
      called: readCalls(join(base, "log", String(at))),
      created: readdirSync(join(base, "work", String(at))),
    }));
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
};

const programPath = (name: string): string | undefined =>
  ["/bin", "/usr/bin"].map((folder) => join(folder, name)).find((path) => existsSync(path));

const prepareFolder = (base: string, shell: string): void => {
  chmodSync(base, 0o777);
  for (const folder of ["bin", "work", "log", "home"]) {
    mkdirSync(join(base, folder));
    chmodSync(join(base, folder), 0o777);
  }
  for (const name of stubs) {
    const line = `printf '%s\\0' $(($# + 1)) ${name} "$@" >> "$LOG"; exit ${name === failingStub ? 1 : 0}`;
    writeFileSync(join(base, "bin", name), `#!${programPath("dash")}\n${line}\n`, { mode: 0o755 });
  }
  for (const name of realPrograms) symlinkSync(programPath(name) ?? "", join(base, "bin", name));
  const quiet = shell === "bash" ? "--norc --noprofile" : "";
  writeFileSync(
    join(base, "run"),
    [
      `#!${programPath("dash")}`,
      `cd "${base}/work/$1" || exit 0`,
      `LOG="${base}/log/$1"; export LOG`,
      `${programPath("timeout")} -s KILL 2 ${programPath(shell)} ${quiet} -c "$2" </dev/null >/dev/null 2>&1`,
      "exit 0\n",
    ].join("\n"),
    { mode: 0o755 },
  );
};

const runAllScripts = async (base: string, texts: readonly string[]): Promise<void> => {
  const limits = "ulimit -c 0; ulimit -t 3; ulimit -f 1000";
  const all = spawn(
    programPath("dash") ?? "",
    ["-c", `${limits}; exec ${programPath("xargs")} -0 -n 2 -P 2 "${base}/run"`],
    {
      cwd: join(base, "work"),
      env: { PATH: join(base, "bin"), HOME: join(base, "home") },
      stdio: ["pipe", "ignore", "inherit"],
      // A random script must have no more rights than an unprivileged user.
      ...(process.getuid?.() === 0 ? { uid: findUnprivilegedUser(), gid: findUnprivilegedUser() } : {}),
    },
  );
  all.stdin.end(texts.map((text, at) => `${at}\0${text}\0`).join(""));
  const code = await new Promise<number | null>((done) => all.on("close", done));
  if (code !== 0) throw new Error(`The scripts could not be run: xargs ended with ${code}.`);
};

const findUnprivilegedUser = (): number => Number(execFileSync("id", ["-u", "nobody"], { encoding: "utf8" }));

const readCalls = (path: string): readonly (readonly string[])[] => {
  const parts = existsSync(path) ? readFileSync(path, "utf8").split("\0").slice(0, -1) : [];
  const calls: string[][] = [];
  for (let at = 0; at < parts.length;) {
    const count = Number(parts[at]);
    calls.push(parts.slice(at + 1, at + 1 + count));
    at += 1 + count;
  }
  return calls;
};
