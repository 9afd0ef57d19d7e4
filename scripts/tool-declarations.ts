import { writeFileSync } from "node:fs";
import { builtinTools } from "../src/tools/builtins.ts";
import { declareTool } from "../src/tools/declare.ts";

/*
 * npx tsx scripts/tool-declarations.ts && npx oxfmt src/tools/declarations.data.ts
 * Generates the declarations of the built-in tools, so that a run need not load their schemas before the first call.
 */
const declarations = await Promise.all(builtinTools.map(declareTool));
writeFileSync(
  new URL("../src/tools/declarations.data.ts", import.meta.url),
  `import type { ToolDeclaration } from "../conversation/entry.ts";

/** The built-in tools as sent to models. Generated from their schemas by scripts/tool-declarations.ts. */
export const builtinDeclarations: readonly ToolDeclaration[] = JSON.parse(
  ${JSON.stringify(JSON.stringify(declarations))},
) as readonly ToolDeclaration[];
`,
);
