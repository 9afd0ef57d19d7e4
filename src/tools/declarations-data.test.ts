import { expect, it } from "vitest";
import { builtinTools } from "./builtins.ts";
import { builtinDeclarations } from "./declarations.data.ts";
import { declareTool } from "./declare.ts";

it("offers models what the tools' own schemas say (npx tsx scripts/declarations.ts writes it)", async () => {
  expect(builtinDeclarations).toEqual(await Promise.all(builtinTools.map(declareTool)));
});
