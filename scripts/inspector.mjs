/* Builds dist/inspector: the page that `parley inspect` serves, in files of its own. It loads nothing from elsewhere. */
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** Builds the page and returns what esbuild put into it. The last build stays usable until the new files are complete. */
export const buildInspector = async (root, dist) => {
  const { build: bundle } = await import("esbuild");
  const fresh = join(dist, `inspector-${process.pid}`);
  const old = join(dist, `inspector-old-${process.pid}`);
  await mkdir(fresh, { recursive: true });
  try {
    const { metafile } = await bundle(options(root, fresh));
    await cp(join(root, "inspector", "index.html"), join(fresh, "index.html"));
    await cp(join(root, "inspector", "icon.svg"), join(fresh, "icon.svg"));
    await rename(join(dist, "inspector"), old).catch(() => undefined);
    await rename(fresh, join(dist, "inspector"));
    return metafile;
  } finally {
    for (const folder of [fresh, old]) await rm(folder, { recursive: true, force: true });
  }
};

const options = (root, outdir) => ({
  absWorkingDir: root,
  entryPoints: [
    { in: "inspector/main.tsx", out: "app" },
    { in: "inspector/lint-body.ts", out: "lint" },
    { in: "inspector/app.css", out: "app" },
  ],
  outdir,
  bundle: true,
  format: "esm",
  platform: "browser",
  target: "es2023",
  minify: true,
  legalComments: "none",
  charset: "utf8",
  logLevel: "warning",
  metafile: true,
  jsx: "automatic",
  jsxImportSource: "preact",
  // Rendering uses Node's hash and Buffer, which a browser does not have.
  alias: { "node:crypto": "./inspector/node-crypto.ts" },
  inject: ["inspector/node-crypto.ts"],
});
