import { rmSync } from "node:fs";
import { mkdir, mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createPng } from "./png.ts";

/** A temporary project with a bug in it, and an empty home folder. */
export type TourProject = {
  readonly folder: string;
  readonly home: string;
  /** Deletes both. Called automatically when the process exits. */
  readonly remove: () => void;
};

/** Creates the project of the tour. */
export const createTourProject = async (): Promise<TourProject> => {
  const base = await realpath(await mkdtemp(join(tmpdir(), "parley-tour-")));
  const folder = join(base, "shop");
  const remove = (): void => {
    process.off("exit", remove);
    rmSync(base, { recursive: true, force: true, maxRetries: 3 });
  };
  process.on("exit", remove);
  for (const [path, content] of Object.entries(projectFiles)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return { folder, home: join(base, "home"), remove };
};

const projectFiles: { readonly [path: string]: string | Uint8Array } = {
  "index.html": productPage(),
  "app.js": 'import { draw } from "./draw.js";\n\ndraw(document.querySelector("#root"));\n',
  "draw.js": 'export const draw = (place) => {\n  if (place) place.textContent = "Welcome";\n};\n',
  // Long enough to be cancelled, short enough not to stay if that fails.
  "test/slow.mjs": "setTimeout(() => console.log(`${process.argv[2]}: passed`), 15_000);\n",
  "page.png": createPng(64, 48),
};

/** A long page: some providers cache only prompts of several thousand tokens. */
function productPage(): string {
  const products = Array.from(
    { length: 120 },
    (_, at) => `    <li data-price="${4 + ((at * 7) % 40)}.50">Product ${at + 1}</li>`,
  );
  return [
    "<!doctype html>",
    "<title>Shop</title>",
    '<main id="app"></main>',
    "<template>",
    "  <ul>",
    ...products,
    "  </ul>",
    "</template>",
    '<script type="module" src="app.js"></script>',
    "",
  ].join("\n");
}
