import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createGenerator } from "ts-json-schema-generator";

const scratch = new URL("../.cache/", import.meta.url);

/** The schema of exported TypeScript types, closed: a property a type does not name is an error. Of several, any one fits. */
export function fromTypes({ module, types }) {
  mkdirSync(scratch, { recursive: true });
  const source = new URL("root.ts", scratch);
  const tsconfig = new URL("tsconfig.json", scratch);
  // The generator looks for a type in a file of ours: this also works for types behind `export *`.
  writeFileSync(
    source,
    `import type { ${types.join(", ")} } from "${module}";\nexport type Root = ${types.join(" | ")};\n`,
  );
  writeFileSync(
    tsconfig,
    JSON.stringify({
      compilerOptions: { module: "esnext", moduleResolution: "bundler", strict: true, skipLibCheck: true, types: [] },
    }),
  );
  return createGenerator({
    path: fileURLToPath(source),
    tsconfig: fileURLToPath(tsconfig),
    type: "Root",
    skipTypeCheck: true,
    additionalProperties: false,
    jsDoc: "none",
    expose: "all",
    functions: "hide",
    encodeRefs: false,
  }).createSchema("Root");
}
