import { isAbsolute, join } from "node:path";
import { isObject } from "../conversation/json.ts";
import { sanitizeForTerminal } from "../policy/terminal/sanitize.ts";
import type { World } from "../world/world.ts";
import { isInside, lockFolder } from "./places.ts";

/** An editor that offers a connection. */
export type IdeOffer = {
  /** `lock-file`: Claude Code's protocol, over a WebSocket. `companion`: Gemini CLI's, over HTTP. */
  readonly protocol: "lock-file" | "companion";
  readonly name: string;
  readonly port: number;
  readonly token: string;
  readonly folders: readonly string[];
  /** Whether it has the project's folder open, or the program was started in its terminal. */
  readonly isFor: "terminal" | "folder" | undefined;
};

/** Where to look: the folder of the project, by its canonical path. */
export type DiscoverOptions = {
  readonly world: Pick<World, "disk" | "env" | "host" | "processIdentity">;
  readonly folder: string;
  /** The folder for temporary files. */
  readonly temporary: string;
};

/**
 * Finds the editors that run on this machine for this user, the most likely first. A file that belongs to another user,
 * that others may write, or whose process is gone is ignored.
 */
export const findIdes = async (options: DiscoverOptions): Promise<readonly IdeOffer[]> => {
  const { world, temporary } = options;
  const found = await Promise.all([
    readFolder(world, lockFolder(world), /^(?<port>\d+)\.lock$/),
    readFolder(world, join(world.host.home, ".qwen", "ide"), /^(?<port>\d+)\.lock$/),
    readFolder(world, join(temporary, "gemini", "ide"), /^gemini-ide-server-(?<pid>\d+)(?:-(?<port>\d+))?\.json$/),
  ]);
  const [locks, qwen, gemini] = found;
  const offers = [
    ...locks.flatMap((file) => readLockFile(file, world)),
    ...[...qwen, ...gemini].flatMap((file) => readCompanionFile(file, world)),
    ...companionFromEnvironment(world),
  ];
  const isFirst = (offer: UnmatchedOffer, at: number): boolean =>
    offers.findIndex(({ port }) => port === offer.port) === at;
  const matched = await Promise.all(offers.filter(isFirst).map((offer) => matchFolder(offer, options)));
  return matched.toSorted((a, b) => rank(a) - rank(b));
};

type UnmatchedOffer = Omit<IdeOffer, "isFor"> & { readonly isTerminal: boolean };

/** Adds whether an editor has the project's folder open. Links are resolved, since editors and shells differ there. */
const matchFolder = async (
  { isTerminal, ...offer }: UnmatchedOffer,
  { world: { disk }, folder }: DiscoverOptions,
): Promise<IdeOffer> => {
  if (isTerminal) return { ...offer, isFor: "terminal" };
  for (const each of offer.folders.slice(0, maxFolders)) {
    if (!isAbsolute(each)) continue;
    const real = await disk.canonicalPath(each).catch(() => undefined);
    if (real !== undefined && isInside(folder, real)) return { ...offer, isFor: "folder" };
  }
  return { ...offer, isFor: undefined };
};

/** The editor to connect to without a question: the one whose terminal this is, or the only one with this folder open. */
export const chooseIde = (offers: readonly IdeOffer[]): IdeOffer | undefined => {
  const terminal = offers.find(({ isFor }) => isFor === "terminal");
  const open = offers.filter(({ isFor }) => isFor === "folder");
  return terminal ?? (open.length === 1 ? open[0] : undefined);
};

const rank = ({ isFor }: IdeOffer): number => ["terminal", "folder", undefined].indexOf(isFor);

type DiscoveryFile = {
  readonly content: Readonly<Record<string, unknown>>;
  readonly port: number | undefined;
  readonly pid: number | undefined;
};

/** The most files that are read of one folder, the longest one, and the most workspace folders of an editor. */
const maxFiles = 50;
const maxFolders = 50;
const maxFileBytes = 64 * 2 ** 10;

/** Reads the files of a folder that only this user can have written. A missing folder has none. */
const readFolder = async (
  world: DiscoverOptions["world"],
  path: string,
  pattern: RegExp,
): Promise<readonly DiscoveryFile[]> => {
  const { disk, host, processIdentity } = world;
  const real = await disk.canonicalPath(path).catch(() => undefined);
  if (real === undefined) return [];
  const folder = await disk.openFolder(real).catch(() => undefined);
  if (folder === undefined) return [];
  try {
    const names: RegExpExecArray[] = [];
    for await (const { name, kind } of folder.list()) {
      const match = kind === "file" ? pattern.exec(name) : null;
      if (match !== null && names.push(match) === maxFiles) break;
    }
    const files: DiscoveryFile[] = [];
    for (const [name, { groups = {} }] of names.map((match) => [match[0], match] as const)) {
      const pid = groups["pid"] === undefined ? undefined : Number(groups["pid"]);
      if (pid !== undefined && !processIdentity.isOwnProcess(pid)) continue;
      const content = await readOwnFile(folder, name, host.platform !== "win32").catch(() => undefined);
      const port = groups["port"] === undefined ? undefined : Number(groups["port"]);
      if (content !== undefined) files.push({ content, port, pid });
    }
    return files;
  } catch {
    return [];
  } finally {
    await folder.close();
  }
};

type OpenFolder = Awaited<ReturnType<World["disk"]["openFolder"]>>;

/** Reads a JSON object from a file that only this user can have written. */
const readOwnFile = async (
  folder: OpenFolder,
  name: string,
  hasModes: boolean,
): Promise<Readonly<Record<string, unknown>> | undefined> => {
  const file = await folder.openFile(name);
  try {
    const { isOwn, mode, size } = await file.stat();
    if (!isOwn || (hasModes && (mode & 0o022) !== 0) || size > maxFileBytes) return undefined;
    const parsed: unknown = JSON.parse(Buffer.from(await file.read(0, maxFileBytes)).toString("utf8"));
    return isObject(parsed) ? parsed : undefined;
  } finally {
    await file.close();
  }
};

type DiscoverWorld = DiscoverOptions["world"];

const readLockFile = ({ content, port: named }: DiscoveryFile, world: DiscoverWorld): readonly UnmatchedOffer[] => {
  const { pid, workspaceFolders, ideName, transport, authToken } = content;
  const port = readPort(named);
  if (port === undefined || !isToken(authToken) || (transport !== undefined && transport !== "ws")) return [];
  if (typeof pid !== "number" || !world.processIdentity.isOwnProcess(pid)) return [];
  const folders = (Array.isArray(workspaceFolders) ? workspaceFolders : []).filter((each) => typeof each === "string");
  const isTerminal = readPort(world.env["CLAUDE_CODE_SSE_PORT"]) === port;
  return [{ protocol: "lock-file", name: readName(ideName), port, token: authToken, folders, isTerminal }];
};

const readCompanionFile = (
  { content, port: named, pid }: DiscoveryFile,
  world: DiscoverWorld,
): readonly UnmatchedOffer[] => {
  const { workspacePath, authToken, ideInfo, ideName, ppid } = content;
  const port = readPort(content["port"]) ?? readPort(named);
  if (port === undefined || !isToken(authToken)) return [];
  if (pid === undefined && (typeof ppid !== "number" || !world.processIdentity.isOwnProcess(ppid))) return [];
  const given = isObject(ideInfo) ? (ideInfo["displayName"] ?? ideInfo["name"]) : ideName;
  const isTerminal =
    companionPorts(world.env).includes(port) || (pid !== undefined && world.env["GEMINI_CLI_IDE_PID"] === String(pid));
  const folders = splitFolders(workspacePath, world);
  return [{ protocol: "companion", name: readName(given), port, token: authToken, folders, isTerminal }];
};

/** The companion sets these variables in its terminals. Without the token there, its file is needed. */
const companionFromEnvironment = (world: DiscoverWorld): readonly UnmatchedOffer[] =>
  ["GEMINI_CLI", "QWEN_CODE"].flatMap((prefix) => {
    const port = readPort(world.env[`${prefix}_IDE_SERVER_PORT`]);
    const token = world.env[`${prefix}_IDE_AUTH_TOKEN`];
    if (port === undefined || !isToken(token)) return [];
    const folders = splitFolders(world.env[`${prefix}_IDE_WORKSPACE_PATH`], world);
    return [{ protocol: "companion", name: readName(undefined), port, token, folders, isTerminal: true } as const];
  });

const companionPorts = (env: World["env"]): readonly (number | undefined)[] =>
  ["GEMINI_CLI_IDE_SERVER_PORT", "QWEN_CODE_IDE_SERVER_PORT"].map((name) => readPort(env[name]));

const splitFolders = (text: unknown, { host }: Pick<World, "host">): readonly string[] =>
  typeof text === "string" ? text.split(host.platform === "win32" ? ";" : ":").filter((each) => each !== "") : [];

const readPort = (value: unknown): number | undefined => {
  const port = typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof port === "number" && Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
};

/** A token goes into a header: printable characters only. */
const isToken = (value: unknown): value is string => typeof value === "string" && /^[!-~]{8,500}$/.test(value);

const readName = (value: unknown): string => {
  const name = typeof value === "string" ? sanitizeForTerminal(value.slice(0, 60), "line").trim() : "";
  return name === "" ? "the editor" : name;
};
