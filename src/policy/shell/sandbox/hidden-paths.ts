import { basename, dirname, join } from "node:path";
import type { Disk } from "../../../world/disk.ts";
import type { PrivateFiles, HostInfo } from "../../../world/world.ts";
import { isInside } from "../../workspace/paths.ts";
import type { SandboxAccess } from "./find.ts";
import { listSecretPaths } from "../../secrets/paths.ts";

type HiddenPathOptions = {
  readonly disk: Disk;
  readonly files: Pick<PrivateFiles, "read">;
  readonly host: Pick<HostInfo, "home" | "platform">;
  /** The agent's own folders. */
  readonly ownFolders: readonly string[];
  /** Canonical paths of writable folders. */
  readonly writable: readonly string[];
};

/** The paths a sandbox hides or replaces, as they exist on the disk now. All are canonical. */
export type HiddenPaths = Pick<SandboxAccess, "hiddenFolders" | "hiddenFiles" | "privateFolders" | "sharedPaths">;

/** Finds the secrets and sockets that a command must not reach. */
export const findHiddenPaths = async (options: HiddenPathOptions): Promise<HiddenPaths> => {
  const { disk, host, writable } = options;
  const isLinux = host.platform === "linux";
  const replacedFolders = isLinux ? await listExisting(disk, privateFolders) : [];
  const secrets = await listExisting(disk, [...options.ownFolders, ...listSecretPaths(host.home)]);
  const sockets = isLinux ? await listSockets(options) : [];
  const isCovered = (path: string): boolean =>
    replacedFolders.some((folder) => isInside(path, folder)) && !writable.some((folder) => isInside(path, folder));
  const hidden = [...new Set([...secrets, ...sockets])].filter((path) => !isCovered(path) && !writable.includes(path));
  const kinds = await Promise.all(hidden.map((path) => isFolder(disk, path)));
  const hiddenFolders = hidden.filter((_, index) => kinds[index] === true);
  return {
    hiddenFolders,
    hiddenFiles: hidden.filter(
      (path, index) => kinds[index] === false && !hiddenFolders.some((folder) => isInside(path, folder)),
    ),
    privateFolders: replacedFolders,
    sharedPaths: isLinux ? await listExisting(disk, sharedPaths) : [],
  };
};

/** Folders with temporary files of other users, and with the system's sockets. */
const privateFolders = ["/tmp", "/var/tmp", "/run", "/var/run"];

/** Name resolution is often configured in /run; NixOS stores all programs there. */
const sharedPaths = ["/etc/resolv.conf", "/run/current-system", "/run/opengl-driver"];

const listExisting = async (disk: Disk, paths: readonly string[]): Promise<readonly string[]> => {
  // A path we cannot access cannot be read by our commands either.
  const found = await Promise.all(paths.map((path) => disk.canonicalPath(path).catch(() => undefined)));
  return [...new Set(found.filter((path) => path !== undefined))];
};

const isFolder = async (disk: Disk, path: string): Promise<boolean | undefined> => {
  const parent = await disk.openFolder(dirname(path)).catch(() => undefined);
  try {
    const entry = await parent?.stat(basename(path));
    return entry === undefined ? undefined : entry.kind === "folder";
  } catch {
    return undefined;
  } finally {
    await parent?.close();
  }
};

/** Lists the unix sockets with a path. A read-only mount does not keep a program from connecting to one. */
const listSockets = async ({ disk, files }: HiddenPathOptions): Promise<readonly string[]> => {
  const table = (await files.read(join("/proc", "net", "unix")).catch(() => undefined)) ?? "";
  const paths = table
    .split("\n")
    .flatMap((line) => /^\S+: (?:\S+ +){6}(\/.*)$/.exec(line)?.[1] ?? [])
    .filter((path) => !/^\/(run|tmp|dev)\//.test(path));
  return listExisting(disk, [...new Set(paths)].slice(0, maxSockets));
};

/** A machine has some hundred; each needs a mount. */
const maxSockets = 2_000;
