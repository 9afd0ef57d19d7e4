/* Builds the package: dist/lib for programs, dist/parley.cjs with its parts for people, dist/inspector for browsers. */
import { realpathSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fillCodeCache } from "./code-cache.mjs";
import { buildInspector } from "./inspector.mjs";
import { buildLibrary, licencesOf } from "./library.mjs";
import { buildProgram } from "./program.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");

/** Builds both. The last build stays usable until the new files are complete. */
export const build = async () => {
  await mkdir(dist, { recursive: true });
  const metafiles = await Promise.all([
    // The runs that fill the cache need the program alone, and mostly wait.
    buildProgram(root, dist).then(async (metafile) => {
      await fillCodeCache(dist);
      return metafile;
    }),
    buildLibrary(root, dist),
    buildInspector(root, dist),
  ]);
  await writeFile(join(dist, "third-party-licences.txt"), licencesOf(root, metafiles));
};

if (realpathSync(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) {
  await build().catch((error) => {
    process.stderr.write(`parley: the build failed. ${error.message}\n`);
    process.exitCode = 1;
  });
}
