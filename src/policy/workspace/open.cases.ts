import { execFileSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { createPathDisk, createRealDisk } from "../../world/real/disk/disk.ts";
import type { Disk } from "../../world/disk.ts";
import type { SeedEntry } from "../../world/simulated/disk-tree.ts";
import { simulatedDisk } from "../../world/simulated/disk.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "./open.ts";

const realDisk = createRealDisk();
const pathDisk = createPathDisk();

/** A workspace, with a folder beside it and a home that it must not access, and functions that change files behind its back. */
export type WorkspaceFixture = {
  readonly disk: Disk;
  readonly ws: string;
  readonly out: string;
  readonly home: string;
  readonly put: (path: string, what: SeedEntry) => void;
  readonly remove: (path: string) => void;
  /** Everything outside the workspace, by path. */
  readonly outside: () => { readonly [path: string]: string };
  /** Everything inside, by path. */
  readonly inside: () => { readonly [path: string]: string };
  readonly open: (options?: Partial<WorkspaceOptions>) => Promise<Workspace>;
  readonly close: () => Promise<void>;
};

/** A secret text that no result may contain. */
export const canary = "canary-7f3a";

/** The disks every test runs on. */
export const disks: readonly { readonly name: string; readonly createFixture: () => WorkspaceFixture }[] = [
  { name: "a real disk", createFixture: () => createRealFixture(realDisk) },
  { name: "a real disk by paths", createFixture: () => createRealFixture(pathDisk) },
  { name: "a simulated disk", createFixture: () => createSimulatedFixture() },
];

export const file = (text: string): SeedEntry => ({ kind: "file", text });
export const folder: SeedEntry = { kind: "folder" };
export const link = (to: string): SeedEntry => ({ kind: "link", to });
export const pipe: SeedEntry = { kind: "other" };

type DiskFixture = Pick<WorkspaceFixture, "disk" | "put" | "remove"> & {
  readonly base: string;
  readonly tree: () => { readonly [path: string]: string };
  readonly clean: () => void;
};

const createFixture = ({ disk, base, put, remove, tree, clean }: DiskFixture): WorkspaceFixture => {
  const at = { ws: `${base}/ws`, out: `${base}/out`, home: `${base}/home` };
  put(at.ws, folder);
  put(`${at.out}/secret.txt`, file(canary));
  put(`${base}/outside.txt`, file(canary));
  put(`${at.home}/.zshrc`, file(canary));
  put(`${at.home}/.ssh/id_rsa`, file(canary));
  const opened: Workspace[] = [];
  const part = (isInside: boolean): { readonly [path: string]: string } =>
    Object.fromEntries(
      Object.entries(tree()).filter(([path]) => (path === at.ws || path.startsWith(`${at.ws}/`)) === isInside),
    );
  return {
    disk,
    ...at,
    put,
    remove,
    outside: () => part(false),
    inside: () => part(true),
    open: async (options = {}) => {
      const own = { home: `${at.home}/.parley`, scratch: `${at.home}/.parley/scratch` };
      const workspace = await openWorkspace({ disk, roots: [at.ws], ...own, ...options });
      opened.push(workspace);
      return workspace;
    },
    close: async () => {
      await Promise.all(opened.map((workspace) => workspace.close()));
      clean();
    },
  };
};

const createSimulatedFixture = (): WorkspaceFixture => {
  const disk = simulatedDisk();
  return createFixture({
    ...disk,
    put: disk.seed,
    remove: disk.removeTree,
    tree: disk.snapshot,
    disk,
    base: "/base",
    clean: () => undefined,
  });
};

/** Grounds on this machine, in a folder of their own. */
export const createRealFixture = (disk: Disk = realDisk, parent: string = tmpdir()): WorkspaceFixture => {
  const base = realpathSync(mkdtempSync(join(parent, "workspace-")));
  const remove = (path: string): void => rmSync(path, { recursive: true, force: true });
  const put = (path: string, what: SeedEntry): void => {
    mkdirSync(dirname(path), { recursive: true });
    remove(path);
    switch (what.kind) {
      case "file":
        return writeFileSync(path, what.text, { mode: what.mode ?? 0o644 });
      case "folder":
        mkdirSync(path);
        return;
      case "link":
        return symlinkSync(what.to, path);
      case "other":
        execFileSync("/usr/bin/mkfifo", [path]);
        return;
    }
  };
  // Node removes no tree that is deeper than a path may be long.
  const clean = (): void => void execFileSync("rm", ["-rf", base]);
  return createFixture({ disk, base, put, remove, clean, tree: () => readTree(base) });
};

const readTree = (base: string): { readonly [path: string]: string } => {
  const branches = (path: string): readonly (readonly [string, string])[] => {
    const found = lstatSync(path);
    if (found.isSymbolicLink()) return [[path, `-> ${readlinkSync(path)}`]];
    if (found.isFile()) return [[path, readFileSync(path, "utf8")]];
    if (!found.isDirectory()) return [[path, "(other)"]];
    const names = readdirSync(path);
    return names.length === 0 ? [[`${path}/`, ""]] : names.flatMap((name) => branches(join(path, name)));
  };
  return Object.fromEntries(branches(base));
};

/** A socket at a path, until it is closed. */
export const listenOnSocket = async (path: string): Promise<() => Promise<void>> => {
  const server = createServer();
  // The path of a socket may be a hundred characters long at most.
  await new Promise<void>((resolve) => server.listen(relative(process.cwd(), path), resolve));
  return () => new Promise((resolve) => server.close(() => resolve()));
};
