import { basename, join } from "node:path";
import { buildSync } from "esbuild";

/**
 * Bundles a script of the tests and what it imports into one file in `folder`, and returns its path. It starts in a
 * fraction of the time that transforming each module takes.
 */
export const bundleScript = (script: string, folder: string): string => {
  const outfile = join(folder, basename(script).replace(/\.ts$/, ".mjs"));
  buildSync({
    entryPoints: [script],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  return outfile;
};
