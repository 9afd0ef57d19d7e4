import { expect, it } from "vitest";
import { note, type Note } from "../conversation/notes.ts";
import { cacheDeclarations } from "./tool-declarations.ts";

it("the same tools are declared by the same objects, with their notes each time, and anew for another dialect", () => {
  const adapted = note("schema-adapted", "The parameters of read: references are inlined.");
  const declare = cacheDeclarations<{ readonly field: string }>(({ tools, dialect }, notes) => {
    notes.push(adapted);
    return tools.map(({ name }) => ({ [dialect.field]: name }));
  });
  const tools = [{ name: "read" }];
  const [one, other] = [{ field: "name" }, { field: "tool" }];
  const notes: Note[] = [];
  const first = declare({ tools, dialect: one }, notes);
  expect(declare({ tools, dialect: one }, notes)).toBe(first);
  expect([first, notes]).toEqual([[{ name: "read" }], [adapted, adapted]]);
  expect(declare({ tools, dialect: other }, [])).toEqual([{ tool: "read" }]);
  expect(declare({ tools: [{ name: "write" }], dialect: one }, [])).toEqual([{ name: "write" }]);
});
