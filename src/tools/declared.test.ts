import { expect, it } from "vitest";
import { builtins } from "./all.ts";
import { declared } from "./declared.data.ts";
import { declarationOf } from "./declare.ts";

it("offers models what the tools' own schemas say (npx tsx scripts/declarations.ts writes it)", async () => {
  expect(declared).toEqual(await Promise.all(builtins.map(declarationOf)));
});
