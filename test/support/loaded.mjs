/*
 * Imported before a program: writes the address of every module it loads, one
 * a line, to the file that LOADED names.
 */
import { appendFileSync } from "node:fs";
import { createRequire, register } from "node:module";
import { pathToFileURL } from "node:url";

const hooks = `
  import { appendFileSync } from "node:fs";
  export const load = (url, context, next) => {
    appendFileSync(process.env.LOADED, url + "\\n");
    return next(url, context);
  };
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

// The program reads its parts by itself.
const files = process.getBuiltinModule("node:fs");
const { readFileSync } = files;
files.readFileSync = (path, ...rest) => {
  if (/[\\/]parts[\\/]\w+\.cjs$/.test(String(path)))
    appendFileSync(process.env.LOADED, `${pathToFileURL(path).href}\n`);
  return readFileSync(path, ...rest);
};

// What is required by what is required passes by those hooks, and so does what Node brings of its own.
process.on("exit", () => {
  const required = Object.keys(createRequire(import.meta.url).cache).map((path) => pathToFileURL(path).href);
  const own = process.moduleLoadList.filter((name) => name.includes("deps/undici")).map(() => "node:undici");
  for (const name of [...required, ...own]) appendFileSync(process.env.LOADED, `${name}\n`);
});
