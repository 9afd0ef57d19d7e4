import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createGenerator } from "ts-json-schema-generator";

const scratch = new URL("../.cache/", import.meta.url);

/** The schema of one exported TypeScript type, closed: a property the type does not name is an error. */
export function fromTypes({ module, type }) {
  mkdirSync(scratch, { recursive: true });
  const source = new URL("request.ts", scratch);
  const tsconfig = new URL("tsconfig.json", scratch);
  // The generator looks for the type in a file of ours: this also works for types behind `export *`.
  writeFileSync(source, `import type { ${type} } from "${module}";\nexport type Request = ${type};\n`);
  writeFileSync(
    tsconfig,
    JSON.stringify({
      compilerOptions: { module: "esnext", moduleResolution: "bundler", strict: true, skipLibCheck: true, types: [] },
    }),
  );
  return createGenerator({
    path: fileURLToPath(source),
    tsconfig: fileURLToPath(tsconfig),
    type: "Request",
    skipTypeCheck: true,
    additionalProperties: false,
    jsDoc: "none",
    expose: "all",
    functions: "hide",
    encodeRefs: false,
  }).createSchema("Request");
}
