import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { ensureBuilt, root } from "./built.ts";

/*
 * The TypeScript programs in the documents, type-checked against the package's declarations.
 */

/** Names that programs use without declaring them, with their declarations. */
const given = `
declare const broken: import("parley-agent").JsonObject;
declare const conversation: import("parley-agent").Conversation;
declare const folder: string;
declare const confirmSampling: (server: string, messages: unknown, signal: AbortSignal) => Promise<boolean>;
`;

const documents = ["README.md", ...readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"))].map((name) =>
  name === "README.md" ? name : join("docs", name),
);

const programsIn = (path: string): readonly string[] =>
  [...readFileSync(join(root, path), "utf8").matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, program]) => program!);

beforeAll(ensureBuilt, 240_000);

it("type-checks every program in the documents", () => {
  mkdirSync(join(root, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(root, ".cache", "docs-programs-"));
  try {
    const programs = documents.flatMap((path) =>
      programsIn(path).map((program, index) => ({ name: `${path.replaceAll(/\W/g, "-")}-${index + 1}.ts`, program })),
    );
    expect(programs.length).toBeGreaterThan(3);
    for (const { name, program } of programs) writeFileSync(join(folder, name), `${program}\nexport {};\n`);
    writeFileSync(join(folder, "given.d.ts"), given);
    const compilerOptions = { noImplicitAny: false, isolatedDeclarations: false, declaration: false };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ extends: "../../tsconfig.json", compilerOptions, include: ["./*.ts"] }),
    );
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, "node_modules/typescript/bin/tsc"), "-p", folder],
      {
        cwd: folder,
        encoding: "utf8",
      },
    );
    expect(stdout + stderr).toBe("");
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 120_000);
