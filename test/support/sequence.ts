import { call, done, text } from "../../src/conversation/builders.ts";
import type { Conversation } from "../../src/conversation/entry.ts";
import { Ledger } from "../../src/conversation/ledger.ts";

/** Thinking, one call, thinking, a fan-out of five of which the second one came back, thinking, words. */
export const sequence = (): Conversation => {
  const origin = { provider: "anthropic", model: "claude-sonnet-5" };
  const thought = (words: string, signature: string) =>
    ({ type: "thinking", text: words, seal: { signature } }) as const;
  const ledger = new Ledger();
  ledger.user([text("Tidy the project.")]);
  const [first] = ledger.model(origin, [
    thought("What is there?", "c2VhbCBvbmU="),
    call("list_directory", { path: "." }, "toolu_01A"),
  ]);
  ledger.complete(first!.id, "list_directory", done("src\nREADME.md"));
  const batch = ledger.model(origin, [
    thought("Read five files.", "c2VhbCB0d28="),
    ...["a", "b", "c", "d", "e"].map((name) => call("read_file", { path: `src/${name}.ts` }, `toolu_02${name}`)),
  ]);
  ledger.complete(batch[1]!.id, "read_file", done("export const b = 1;"));
  ledger.model(origin, [thought("Enough.", "c2VhbCB0aHJlZQ=="), text("File b is tidy already.")]);
  ledger.user([text("And the rest?")]);
  return {
    version: 1,
    system: "Be brief.",
    tools: [
      {
        name: "list_directory",
        description: "Lists a folder.",
        parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      },
      {
        name: "read_file",
        description: "Reads a file.",
        parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      },
    ],
    entries: ledger.entries,
    blobs: {},
  };
};
