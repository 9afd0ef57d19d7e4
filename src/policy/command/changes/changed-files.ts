import { createHash } from "node:crypto";
import { posix } from "node:path";
import type { Workspace } from "../../workspace/open.ts";

/** Tracks the files the agent changed since the user last approved a command that executes them. */
export type ChangedFiles = {
  /** Runs the work, and records which of these files it changed. */
  readonly track: <Result>(paths: readonly string[], work: () => Promise<Result>) => Promise<Result>;
  /** Finds the changed files whose paths match. A file with its original content again does not count. */
  readonly find: (isPicked: (path: string) => boolean) => Promise<readonly string[]>;
  /** Clears the changes of these files: the user approved running them as they are. */
  readonly accept: (paths: readonly string[]) => void;
};

/** Creates the tracker with no changed files. */
export const createChangedFiles = (files: Pick<Workspace, "bytes" | "resolve">): ChangedFiles => {
  /** The fingerprint each file had before the agent changed it. */
  const before = new Map<string, string>();
  const fingerprintsOf = (paths: readonly string[]): Promise<readonly string[]> =>
    Promise.all(paths.map((path) => fingerprintFile(files, path)));
  /** Fingerprints before work, taken in this turn of the event loop: the commands of a batch start at the same time. */
  const recent = new Map<string, Promise<string>>();
  const fingerprintsBefore = (paths: readonly string[]): Promise<readonly string[]> => {
    if (recent.size === 0) setImmediate(() => recent.clear());
    return Promise.all(
      paths.map((path) => {
        const fingerprint = recent.get(path) ?? fingerprintFile(files, path);
        recent.set(path, fingerprint);
        return fingerprint;
      }),
    );
  };
  return {
    track: async (paths, work) => {
      const unnoted = [...new Set(paths)].filter((path) => !before.has(path));
      const old = await fingerprintsBefore(unnoted);
      try {
        return await work();
      } finally {
        const now = await fingerprintsOf(unnoted);
        for (const [at, path] of unnoted.entries())
          if (old[at] !== now[at] && !before.has(path)) before.set(path, old[at] ?? "absent");
      }
    },
    find: async (isPicked) => {
      const picked = [...before.keys()].filter(isPicked);
      const now = await fingerprintsOf(picked);
      return picked.filter((path, at) => before.get(path) !== now[at]);
    },
    accept: (paths) => {
      for (const path of paths) before.delete(path);
    },
  };
};

/** Wraps a workspace so that its writes are recorded. */
export const trackWrites = (changed: Pick<ChangedFiles, "track">, workspace: Workspace): Workspace => ({
  ...workspace,
  write: async (path, bytes, expectedIdentity) => {
    const place = await workspace.resolve(path).catch(() => undefined);
    return changed.track(place === undefined ? [] : [place.path], () => workspace.write(path, bytes, expectedIdentity));
  },
});

/** Larger files are compared by their identity. */
const maxBytes = 8 * 2 ** 20;

/** Most paths are names of task files that a project does not have: those are looked up once and not opened. */
const fingerprintFile = async (files: Pick<Workspace, "bytes" | "resolve">, path: string): Promise<string> => {
  try {
    if ((await files.resolve(path)).kind === "absent") return "absent";
    const bytes = await files.bytes(path, maxBytes);
    return createHash("sha256")
      .update(posix.basename(path) === "package.json" ? stripInertFields(Buffer.from(bytes).toString()) : bytes)
      .digest("hex");
  } catch {
    return files.resolve(path).then(
      ({ identity }) => identity,
      () => "absent",
    );
  }
};

/** Fields of a package.json that run nothing by themselves: adding a dependency does not change a script. */
const inertFields: ReadonlySet<string> = new Set([
  "name",
  "version",
  "description",
  "keywords",
  "author",
  "contributors",
  "license",
  "repository",
  "bugs",
  "homepage",
  "files",
  "dependencies",
  "devDependencies",
  "peerDependencies",
  "optionalDependencies",
]);

const stripInertFields = (text: string): string => {
  try {
    const fields = JSON.parse(text) as unknown;
    if (typeof fields !== "object" || fields === null) return text;
    return JSON.stringify(Object.entries(fields).filter(([name]) => !inertFields.has(name)));
  } catch {
    return text;
  }
};
