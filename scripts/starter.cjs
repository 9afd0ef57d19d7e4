"use strict";
/*
 * The head of dist/parley.cjs: loads parts of the program from dist/parts and keeps the code V8 compiles from them, since
 * reading and compiling is most of what a start costs. The code cache is filled by the first runs and holds one version of
 * the program, of Node and of its flags. Without it everything works the same, only slower. The build fills in
 * BUILD_ID (a hash of all parts) and CACHED_PARTS (names of the parts that most runs load).
 */
const fs = require("node:fs");
const nodeModule = require("node:module");
const { pathToFileURL } = require("node:url");

/** The folder of the code cache: PARLEY_CODE_CACHE ("0" for none), beside a program built here, or the user's cache folder. */
const cacheFolder = () => {
  const { PARLEY_CODE_CACHE: given, HOME: home, XDG_CACHE_HOME: xdg, LOCALAPPDATA: local } = process.env;
  if (given !== undefined) return given === "" || given === "0" ? undefined : given;
  const built = `${__dirname}/code-cache`;
  if (fs.existsSync(built)) return built;
  if (process.platform === "win32") return local && `${local}\\parley\\code-cache`;
  if (process.platform === "darwin") return home && `${home}/Library/Caches/parley/code-cache`;
  if (xdg?.startsWith("/")) return `${xdg}/parley/code-cache`;
  return home && `${home}/.cache/parley/code-cache`;
};

/**
 * Node 20 has no code cache of its own. V8's code holds the functions that ran, so the first runs add theirs: the last byte
 * of a file counts them. Files are replaced as a whole, so two processes can write at once.
 */
const loadWithOwnCache = (folder) => {
  const { cachedDataVersionTag } = require("node:v8");
  const { Script } = require("node:vm");
  const own = `${folder}/${BUILD_ID}-${cachedDataVersionTag().toString(36)}`;
  const compiled = [];
  process.on("exit", () => {
    for (const [path, script, runs, old] of compiled) {
      const data = script.createCachedData();
      // Every run counts, or a part that never grows would be written at the exit of each.
      store(own, path, Buffer.concat([old?.length >= data.length ? old : data, Buffer.of(runs + 1)]));
    }
  });
  return (path, name) => {
    if (!CACHED_PARTS.includes(name)) return require(path);
    const cached = `${own}/${name}`;
    const file = readIfThere(cached);
    const cachedData = file?.subarray(0, -1);
    const script = new Script(`(module)=>{${fs.readFileSync(path, "latin1")}\n}`, { filename: path, cachedData });
    const part = {};
    script.runInThisContext()(part);
    const isUsable = file !== undefined && !script.cachedDataRejected;
    const runs = isUsable ? file.at(-1) : 0;
    if (runs < maxLearningRuns) compiled.push([cached, script, runs, isUsable ? cachedData : undefined]);
    return part.exports;
  };
};

/** Creating V8's code takes a few milliseconds at the exit, so only the first runs do. */
const maxLearningRuns = 8;

const readIfThere = (path) => {
  try {
    return fs.readFileSync(path);
  } catch {
    return undefined;
  }
};

/** A cache that cannot be written is no reason to fail. */
const store = (folder, path, data) => {
  try {
    if (!fs.existsSync(folder)) {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      removeOld(folder);
    }
    const fresh = `${path}.${process.pid}`;
    fs.writeFileSync(fresh, data, { mode: 0o600 });
    fs.renameSync(fresh, path);
  } catch {}
};

/** Removes the code of other versions that was not written for a month. */
const removeOld = (folder) => {
  const parent = `${folder}/..`;
  for (const name of fs.readdirSync(parent))
    if (fs.statSync(`${parent}/${name}`).mtimeMs < Date.now() - 30 * 24 * 3_600_000)
      fs.rmSync(`${parent}/${name}`, { recursive: true, force: true });
};

const openCache = () => {
  const folder = cacheFolder();
  if (folder === undefined) return require;
  if (nodeModule.enableCompileCache === undefined) return loadWithOwnCache(folder);
  nodeModule.enableCompileCache(folder);
  return require;
};

const loadPart = openCache();
const chunks = {};
/** Chunks of other parts are named `./part/chunk`; the part is loaded with the first of its chunks. */
const load = (path) => {
  if (!path.startsWith("./")) return require(path);
  const [, name, chunk] = path.split("/");
  if (!(chunk in chunks)) {
    const file = `${__dirname}/parts/${name}.cjs`;
    loadPart(file, name)(load, importLater, register, pathToFileURL(file).href);
  }
  return chunks[chunk];
};
const importLater = (path) => Promise.resolve(path).then(load);
const register = (more) => void Object.assign(chunks, more);
