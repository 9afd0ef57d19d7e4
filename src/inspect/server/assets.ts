import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** The files of the page, by path. They hold nothing of a session, so they need no token. */
const assets: { readonly [path: string]: { readonly file: string; readonly type: string } } = {
  "/": { file: "index.html", type: "text/html; charset=utf-8" },
  "/app.js": { file: "app.js", type: "text/javascript; charset=utf-8" },
  "/lint.js": { file: "lint.js", type: "text/javascript; charset=utf-8" },
  "/app.css": { file: "app.css", type: "text/css; charset=utf-8" },
  "/icon.svg": { file: "icon.svg", type: "image/svg+xml" },
};

/** Reads a file of the page; undefined for any other path. */
export const readAsset = async (
  path: string,
): Promise<{ readonly status: 200; readonly type: string; readonly body: Buffer } | undefined> => {
  const asset = Object.hasOwn(assets, path) ? assets[path] : undefined;
  if (asset === undefined) return undefined;
  return { status: 200, type: asset.type, body: await readFile(assetPath(asset.file)) };
};

/** Returns the style sheet, which an exported file contains. */
export const readStyles = async (): Promise<string> => readFile(assetPath("app.css"), "utf8");

/** The built program is in dist/parts; from the sources, dist is two folders up. */
const assetPath = (file: string): string => {
  const folder = import.meta.url.endsWith(".cjs") ? "../inspector/" : "../../../dist/inspector/";
  return fileURLToPath(new URL(`${folder}${file}`, import.meta.url));
};
