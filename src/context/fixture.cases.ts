import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openWorkspace, type Workspace } from "../policy/workspace/open.ts";
import { realWorld } from "../world/real/world.ts";
import type { World } from "../world/world.ts";
import { scanWorkspace, type WorkspaceScan } from "./workspace/scan.ts";

/** A home folder with a project, on the real disk, and a folder outside both. */
export type ContextFixture = {
  /** The root of the fixture: `home`, `home/project` and `out`. */
  readonly base: string;
  readonly root: string;
  /** Parley's home folder. */
  readonly home: string;
  readonly world: World;
  readonly files: Workspace;
  /** Writes a file below the base, with its folders. */
  readonly put: (path: string, content?: string | Uint8Array) => void;
  readonly link: (path: string, to: string) => void;
  readonly scans: () => Promise<readonly WorkspaceScan[]>;
  /** Replaces the base in a text by `{BASE}`. */
  readonly maskBase: (text: string) => string;
  readonly close: () => Promise<void>;
};

/** Options of a fixture. Paths are below the base. */
export type ContextFixtureOptions = { readonly roots?: readonly string[]; readonly env?: World["env"] };

export const openContextFixture = async ({
  roots = ["home/project"],
  env = {},
}: ContextFixtureOptions = {}): Promise<ContextFixture> => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-context-")));
  for (const folder of ["home/.parley", "out", ...roots]) mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(base, "out", "canary.md"), "canary\n");
  const home = join(base, "home", ".parley");
  const real = realWorld(env);
  const world: World = { ...real, host: { platform: "linux", arch: "x64", home: join(base, "home") } };
  const files = await openWorkspace({
    disk: world.disk,
    roots: roots.map((root) => join(base, root)),
    home,
    scratch: join(base, "scratch"),
  });
  return {
    base,
    root: join(base, roots[0] ?? ""),
    home,
    world,
    files,
    put: (path, content = `${path}\n`) => {
      mkdirSync(dirname(join(base, path)), { recursive: true });
      writeFileSync(join(base, path), content);
    },
    link: (path, to) => symlinkSync(to, join(base, path)),
    scans: () => Promise.all(files.roots.map((folder) => scanWorkspace({ disk: world.disk, files, folder }))),
    maskBase: (text) => text.replaceAll(base, "{BASE}"),
    close: async () => {
      await files.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
};
