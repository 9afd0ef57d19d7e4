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
 * Node 20 has no code cache of its own. V8's code holds the functions that ran, so runs add theirs until some in a row had
 * nothing to add: the last byte of a file counts those. Files are replaced as a whole, so two processes can write at once.
 */
const loadWithOwnCache = (folder) => {
  const { Script } = require("node:vm");
  const own = `${folder}/${BUILD_ID}-${engineName()}`;
  const compiled = [];
  process.on("exit", () => {
    for (const [path, script, idleRuns, old] of compiled) {
      const data = script.createCachedData();
      // The same functions make a few bytes more or less.
      const isLarger = !(old?.length + 500 > data.length);
      store(own, path, Buffer.concat([isLarger ? data : old, Buffer.of(isLarger ? 0 : idleRuns + 1)]));
    }
  });
  return (path, name) => {
    if (!CACHED_PARTS.includes(name)) return require(path);
    const cached = `${own}/${name}`;
    const file = readIfThere(cached);
    const cachedData = file?.subarray(0, -1);
    const script = new Script(fs.readFileSync(path, "latin1"), { filename: path, cachedData });
    const isUsable = file !== undefined && !script.cachedDataRejected;
    const idleRuns = isUsable ? file.at(-1) : 0;
    if (idleRuns < maxIdleRuns || isOlderThan(cached, day))
      compiled.push([cached, script, Math.min(idleRuns, maxIdleRuns), isUsable ? cachedData : undefined]);
    return script.runInThisContext();
  };
};

/**
 * Names what V8's code depends on: its version and its flags. V8 refuses code of another engine, so two under one name
 * cost time only. It has a tag for this; loading it takes two milliseconds.
 */
const engineName = () => {
  const text = [process.version, process.arch, process.env.NODE_OPTIONS, ...process.execArgv].join(" ");
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) >>> 0;
  return hash.toString(36);
};

/**
 * Creating V8's code takes milliseconds at the exit, so runs stop doing it once this many had nothing to add. Later ones
 * may use other functions, so one a day still does.
 */
const maxIdleRuns = 4;

const day = 24 * 3_600_000;

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
    if (isOlderThan(`${parent}/${name}`, 30 * day)) fs.rmSync(`${parent}/${name}`, { recursive: true, force: true });
};

const isOlderThan = (path, age) => fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs < Date.now() - age;

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
