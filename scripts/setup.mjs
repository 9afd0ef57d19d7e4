/*
 * Makes a fresh clone ready to run: installs missing dependencies and builds if the sources changed. Prints nothing if
 * there is nothing to do. Needs only Node.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withProgress } from "./progress.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const inRoot = (...path) => join(root, ...path);
const installStamp = inRoot("node_modules", ".parley-stamp");
const buildStamp = inRoot("dist", ".parley-stamp");
const lock = inRoot(".cache", "setup.lock");

/** Installs and builds if necessary. Throws a `SetupError` with advice if that fails. */
export const setup = async () => {
  checkNodeVersion(process.versions.node);
  if (isInstalled() && isBuilt()) return;
  await withLock(async () => {
    if (!isInstalled()) await install();
    if (!isBuilt()) await build();
  });
};

/** An error the user can fix; the message says how. */
export class SetupError extends Error {}

const checkNodeVersion = (version) => {
  const [major, minor] = version.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new SetupError(`Parley needs Node 20.19 or later, but this is ${version}. Install a newer version of Node.`);
};

/** Whether dependencies are installed: by our stamp file, or else by npm's own record of the installation. */
const isInstalled = () => {
  const wanted = hashOf(["package.json", "package-lock.json"]);
  if (read(installStamp) === wanted) return true;
  if (!matchesLock()) return false;
  writeFileSync(installStamp, wanted);
  return true;
};

const matchesLock = () => {
  const [manifest, locked, installed] = [
    "package.json",
    "package-lock.json",
    join("node_modules", ".package-lock.json"),
  ].map((path) => JSON.parse(read(inRoot(path)) ?? "null"));
  if (manifest === null || locked === null || installed === null) return false;
  const { "": self, ...packages } = locked.packages;
  const agrees = ["devDependencies", "optionalDependencies"].every(
    (field) => JSON.stringify(manifest[field] ?? {}) === JSON.stringify(self[field] ?? {}),
  );
  return (
    agrees &&
    Object.entries(packages).every(([path, { version, optional }]) => {
      const here = installed.packages[path];
      return here === undefined ? optional === true : here.version === version;
    })
  );
};

const install = async () => {
  const lockFile = read(inRoot("package-lock.json"));
  const locked = lockFile !== undefined;
  say(`installing dependencies (npm ${locked ? "ci" : "install"})`);
  const packages = locked ? Object.keys(JSON.parse(lockFile).packages).filter((path) => path !== "") : [];
  const ran = await withProgress(
    "installing",
    () => countInstalled(packages),
    async () => {
      const first = await npm(locked ? "ci" : "install");
      // A lock file made on one platform may lack optional dependencies of another; npm ci fails then, npm install does not.
      return first.status !== 0 && locked && /\bin sync\b/.test(first.stderr) ? npm("install", "--no-save") : first;
    },
  );
  if (ran.status !== 0)
    throw new SetupError(
      `Installing failed.\n${ran.error?.message ?? errorLines(ran.stderr)}\n` +
        `Check the network and npm's registry setting, then run "npm install" here for the full output.`,
    );
  writeFileSync(installStamp, hashOf(["package.json", "package-lock.json"]));
};

/** How many of the locked packages are in place. */
const countInstalled = (packages) => ({
  done: packages.filter((path) => existsSync(inRoot(path, "package.json"))).length,
  total: packages.length,
});

/** Returns the first error lines of npm, without stack traces. */
const errorLines = (text) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("npm error") && !/^npm error\s+at /.test(line))
    .slice(0, 8)
    .join("\n");

const npm = (...command) => {
  const script = process.env["npm_execpath"] ?? "";
  const words = [...command, "--ignore-scripts", "--include=dev", "--no-audit", "--no-fund"];
  const options = { cwd: root, stdio: ["ignore", "ignore", "pipe"] };
  const child = /^npm-cli\.c?js$/.test(basename(script))
    ? spawn(process.execPath, [script, ...words], options)
    : spawn("npm", words, { ...options, shell: process.platform === "win32" });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ status: null, stderr, error }));
    child.on("close", (status) => resolve({ status, stderr }));
  });
};

const isBuilt = () => read(buildStamp) === sourceHash();

const build = async () => {
  say("building");
  const hash = sourceHash();
  const builder = await import("./build.mjs");
  await withProgress("building", undefined, builder.build).catch((error) => {
    throw new SetupError(`The build failed. ${error.message}`);
  });
  writeFileSync(buildStamp, hash);
};

/** Returns a digest of all inputs of the build. */
const sourceHash = () =>
  hashOf([
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.build.json",
    ...filesBelow("scripts").filter((path) => /\.[cm]js$/.test(path)),
    ...filesBelow("inspector"),
    ...filesBelow("src").filter((path) => /\.tsx?$/.test(path) && !path.endsWith(".test.ts")),
  ]);

const filesBelow = (folder) =>
  readdirSync(inRoot(folder), { withFileTypes: true })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((item) => (item.isDirectory() ? filesBelow(join(folder, item.name)) : [join(folder, item.name)]));

const hashOf = (paths) => {
  const hash = createHash("sha256").update(process.versions.node);
  for (const path of paths) hash.update(`\0${path}\0`).update(read(inRoot(path)) ?? "");
  return hash.digest("hex");
};

const read = (path) => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
};

/** Runs `work` under a lock file, so that only one setup runs in this folder. A dead owner's lock is removed. */
const withLock = async (work) => {
  mkdirSync(inRoot(".cache"), { recursive: true });
  while (!acquireLock()) {
    const owner = Number(read(lock));
    if (owner > 0 && !isAlive(owner)) rmSync(lock, { force: true });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  try {
    await work();
  } finally {
    rmSync(lock, { force: true });
  }
};

const acquireLock = () => {
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

const say = (what) => process.stderr.write(`parley: ${what} ...\n`);

if (realpathSync(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) {
  try {
    await setup();
  } catch (error) {
    process.stderr.write(`parley: ${error instanceof SetupError ? error.message : error.stack}\n`);
    process.exitCode = 1;
  }
}
