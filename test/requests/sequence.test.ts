import { describe, expect, it } from "vitest";
import { providers } from "../../src/providers/all.ts";
import { lint } from "../../src/rules/lint.ts";
import { composeRequest } from "../../src/wire/compose.ts";
import { sequence } from "../support/sequence.ts";

describe.each(providers.map((provider) => ({ id: provider.id, provider })))("the sequence on $id", ({ provider }) => {
  const destination = provider.destination(provider.defaultModel);
  const { body, report } = composeRequest(sequence(), destination);
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
      const { body: shown } = composeRequest(sequence(), destination, { policy: { thinking } });
      expect(
        lint(shown, { wire: provider.wire, provider: provider.id, model: provider.defaultModel }).filter(
          ({ level }) => level === "error",
        ),
      ).toEqual([]);
    }
  });
});
