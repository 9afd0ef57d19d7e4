/*
 * node oracles/api-docs.mjs   writes docs/api, the reference of the package's entry points, from the comments in src/.
 * TypeDoc needs the compiler's JavaScript interface, which TypeScript 7 does not have: so it lives here, with its own TypeScript.
 */
import { rmSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureOracles } from "./setup.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Writes the reference into a folder, which is emptied first. Throws when a comment or a type cannot be documented. */
export const writeApiDocs = async (folder) => {
  ensureOracles();
  const { Application } = await import("typedoc");
  const app = await Application.bootstrapWithPlugins({
    plugin: ["typedoc-plugin-markdown"],
    entryPoints: ["index", "agent", "tools", "mcp", "gateway", "postgres", "fleet", "rules", "sim"].map((name) =>
      join(root, "src/api", `${name}.ts`),
    ),
    tsconfig: join(root, "tsconfig.json"),
    name: "API reference",
    readme: "none",
    disableSources: true,
    excludeExternals: true,
    excludeInternal: true,
    skipErrorChecking: true,
    logLevel: "Error",
    validation: { notExported: false, invalidLink: true, notDocumented: false },
    outputFileStrategy: "modules",
    entryFileName: "README",
    hideBreadcrumbs: true,
    hidePageHeader: true,
    useCodeBlocks: true,
    expandObjects: true,
    parametersFormat: "table",
    propertiesFormat: "table",
    typeDeclarationFormat: "table",
    interfacePropertiesFormat: "table",
    classPropertiesFormat: "table",
    indexFormat: "table",
  });
  const project = await app.convert();
  if (project === undefined || app.logger.hasErrors()) throw new Error("TypeDoc could not read src/api.");
  rmSync(folder, { recursive: true, force: true });
  await app.outputs.writeOutput({ name: "markdown", path: folder }, project);
};

if (realpathSync(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) await writeApiDocs(join(root, "docs/api"));
