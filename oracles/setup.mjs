/*
 * Installs the vendors' SDKs for the tests here, as the lock file pins them. Prints nothing when they are installed.
 * Needs only Node and npm.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const home = fileURLToPath(new URL(".", import.meta.url));
const inHome = (...path) => join(home, ...path);
const stamp = inHome("node_modules", ".parley-stamp");
const lock = inHome(".cache", "setup.lock");

/** Installs the SDKs if needed, under a lock. Throws an error with advice when it fails. */
export const ensureOracles = () => {
  if (isInstalled()) return;
  alone(() => {
    if (!isInstalled()) install();
  });
};

/** A stamp file proves an installation; without one, npm's own record does. */
const isInstalled = () => {
  if (read(stamp) === wanted()) return true;
  if (!matchesLock()) return false;
  writeFileSync(stamp, wanted());
  return true;
};

const wanted = () => {
  const hash = createHash("sha256");
  for (const name of ["package.json", "package-lock.json"]) hash.update(`\0${read(inHome(name)) ?? ""}`);
  return hash.digest("hex");
};

const matchesLock = () => {
  const locked = JSON.parse(read(inHome("package-lock.json")) ?? "null");
  const installed = JSON.parse(read(inHome("node_modules", ".package-lock.json")) ?? "null");
  if (locked === null || installed === null) return false;
  const { "": _self, ...packages } = locked.packages;
  return Object.entries(packages).every(([path, { version, optional }]) => {
    const here = installed.packages[path];
    return here === undefined ? optional === true : here.version === version;
  });
};

const install = () => {
  process.stderr.write("parley: installing the vendors' SDKs for the tests in oracles/ (npm ci) ...\n");
  let ran = npm("ci");
  // A lock made on one platform may not name another's optional parts; npm ci stops there, npm install does not.
  if (ran.status !== 0 && /\bin sync\b/.test(ran.stderr ?? "")) ran = npm("install", "--no-save");
  if (ran.status !== 0)
    throw new Error(
      `The vendors' SDKs could not be installed.\n${ran.error?.message ?? errorLines(ran.stderr)}\n` +
        `Check the network and npm's registry setting, then run "npm ci" in oracles/ to see all of it.`,
    );
  writeFileSync(stamp, wanted());
};

const npm = (...command) => {
  const script = process.env["npm_execpath"] ?? "";
  // Two packages whose data alone is read ask for a newer Node than we do.
  const words = [...command, "--ignore-scripts", "--include=dev", "--no-audit", "--no-fund", "--engine-strict=false"];
  const options = { cwd: home, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 2 ** 26 };
  return /^npm-cli\.c?js$/.test(basename(script))
    ? spawnSync(process.execPath, [script, ...words], options)
    : spawnSync("npm", words, { ...options, shell: process.platform === "win32" });
};

/** The first error npm reports, without its stack. */
const errorLines = (text) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("npm error") && !/^npm error\s+at /.test(line))
    .slice(0, 8)
    .join("\n");

const read = (path) => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
};

/** A lock whose owner no longer runs is ignored. */
const alone = (work) => {
  mkdirSync(inHome(".cache"), { recursive: true });
  while (!tookLock()) {
    const owner = Number(read(lock));
    if (owner > 0 && !isAlive(owner)) rmSync(lock, { force: true });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
};

const tookLock = () => {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
};

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
};

if (realpathSync(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) {
  try {
    ensureOracles();
  } catch (error) {
    process.stderr.write(`parley: ${error.message}\n`);
    process.exitCode = 1;
  }
}
