import { describe, expect, it } from "vitest";
import { call, done, Ledger, text, type Conversation } from "../src/conversation/index.ts";
import { providers } from "../src/providers/index.ts";
import { lint } from "../src/rules/index.ts";
import { compose } from "../src/wire/compose.ts";

/** Thinking, one call, thinking, a fan-out of five of which the second one came back, thinking, words. */
const sequence = (): Conversation => {
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

describe.each(providers.map((provider) => ({ id: provider.id, provider })))("the sequence on $id", ({ provider }) => {
  const destination = provider.destination(provider.defaultModel);
  const { body, report } = compose(sequence(), destination);
  const findings = lint(body, { wire: provider.wire, provider: provider.id, model: provider.defaultModel });

  it("is the reviewed request", async () => {
    await expect(`${JSON.stringify(body, null, 2)}\n`).toMatchFileSnapshot(`golden/sequence/${provider.id}.json`);
  });

  it("pairs every call with one result (pairing)", () => {
    const { conversation } = destination.wire.read(body, { provider: provider.id, model: provider.defaultModel });
    const made = conversation.entries.flatMap((entry) =>
      entry.type === "model" ? entry.parts.filter((part) => part.type === "call") : [],
    );
    const completed = conversation.entries.filter((entry) => entry.type === "completion").map((entry) => entry.call);
    expect(completed.toSorted()).toEqual(made.map(({ id }) => id).toSorted());
  });

  it("places results where the API wants them (placement)", () => {
    expect(findings.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("gives every call one id in the provider's format, on call and result alike (ids)", () => {
    const ids = report.calls.map(({ id }) => id);
    expect(new Set(ids).size).toBe(6);
    for (const id of ids) expect(id).toMatch(destination.target.ids.legal);
    const calledOnce = ids.map((id) => JSON.stringify(body).split(`"${id}"`).length - 1);
    expect(calledOnce).toEqual([2, 2, 2, 2, 2, 2]);
  });

  it("shows one completion a call, real where there is one (dedupe and fan-out)", () => {
    expect(report.calls.map(({ call: id, status }) => `${id} ${status}`)).toEqual([
      "hist_tool_1 complete",
      "hist_tool_2 interrupted",
      "hist_tool_3 complete",
      "hist_tool_4 interrupted",
      "hist_tool_5 interrupted",
      "hist_tool_6 interrupted",
    ]);
  });

  it("stays valid under every reasoning policy (thinking)", () => {
    for (const thinking of ["own", "text", "none"] as const) {
      const { body: shown } = compose(sequence(), destination, { policy: { thinking } });
      expect(
        lint(shown, { wire: provider.wire, provider: provider.id, model: provider.defaultModel }).filter(
          ({ level }) => level === "error",
        ),
      ).toEqual([]);
    }
  });
});
