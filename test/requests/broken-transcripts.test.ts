import { describe, expect, it } from "vitest";
import { providers } from "../../src/providers/all.ts";
import { convertRequest } from "../../src/providers/request.ts";
import { lint } from "../../src/rules/lint.ts";
import type { JsonObject } from "../../src/conversation/json.ts";
import { brokenTranscripts } from "../support/broken-transcripts.ts";

const options = { policy: { unsupportedMedia: "stub" } } as const;
const convert = (row: string, to: string) => {
  const found = brokenTranscripts.find((transcript) => transcript.row === row)!;
  return convertRequest(found.body, found.from, to, options);
};

describe.each(brokenTranscripts)("row $row: $name", ({ from, body, words }) => {
  it.each(providers.map(({ id, wire, defaultModel }) => ({ id, wire, model: defaultModel })))(
    "is one $id accepts, with every word kept",
    ({ id, wire, model }) => {
      const { body: sent } = convertRequest(body, from, `${id}/${model}`, options);
      const bytes = JSON.stringify(sent);

      expect(lint(sent, { wire, provider: id, model }).filter(({ level }) => level === "error")).toEqual([]);
      for (const word of words) expect(bytes.split(JSON.stringify(word).slice(1, -1)).length - 1).toBeGreaterThan(0);
    },
  );
});

describe("what makes these transcripts hard", () => {
  it("row 1: says what is known about the cancelled call, not that the user stopped it", () => {
    expect(JSON.stringify(convert("1", "anthropic/claude-sonnet-5").body)).toContain(
      "No result was recorded: the run was interrupted",
    );
  });

  it("row 3: keeps the first result on the call and shows the late one as words", () => {
    const { body } = convert("3", "anthropic/claude-sonnet-5");
    const [, , results, late] = body["messages"] as readonly JsonObject[];
    expect(JSON.stringify(results)).toContain("aborted");
    expect(JSON.stringify(late)).toContain("the real one");
  });

  it("row 12 and 15: every call keeps an id of its own on Mistral", () => {
    for (const row of ["12", "15"]) {
      const { report } = convert(row, "mistral/mistral-large-latest");
      const ids = report.calls.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9]{9}$/);
    }
  });

  it("row 16: Kimi sees its own spelling, with an index that never restarts", () => {
    expect(convert("16", "kimi/kimi-k3").report.calls.map(({ id }) => id)).toEqual(["functions.read_file:1"]);
    expect(convert("15", "kimi/kimi-k3").report.calls.map(({ id }) => id)).toEqual([
      "functions.read_file:1",
      "functions.read_file:2",
    ]);
  });

  it("row 20: drops thinking another model signed, and keeps it for the one that did", () => {
    expect(JSON.stringify(convert("20", "anthropic/claude-opus-4-6").body)).not.toContain("signature");
    expect(JSON.stringify(convert("20", "anthropic/claude-sonnet-5").body)).toContain("c2lnbmF0dXJlIG9mIGFub3RoZXI=");
  });

  it("row 22: thinking stays off while the open loop has none", () => {
    const { body, report } = convert("22", "anthropic/claude-haiku-4-5");
    expect(body).not.toHaveProperty("thinking");
    expect(report.notes.map(({ kind }) => kind)).toContain("setting-adapted");
  });

  it("row 24: the first call of a foreign step carries the documented filler", () => {
    expect(JSON.stringify(convert("24", "google/gemini-3.8-flash").body)).toContain(
      '"thoughtSignature":"skip_thought_signature_validator"',
    );
  });

  it("row 25: DeepSeek and Kimi get reasoning where they demand it", () => {
    for (const to of ["deepseek/deepseek-v4-flash", "kimi/kimi-k3"]) {
      const messages = convert("25", to).body["messages"] as readonly JsonObject[];
      expect(messages.find((message) => "tool_calls" in message)).toHaveProperty("reasoning_content", " ");
    }
  });

  it("row 27: the image is named to a text model and comes back for one that sees", () => {
    expect(JSON.stringify(convert("27", "deepseek/deepseek-v4-flash").body)).toContain("not shown (image/png");
    expect(JSON.stringify(convert("27", "google/gemini-3.8-flash").body)).toContain('"mimeType":"image/png"');
  });

  it("row 30: the tools of the past are declared where an API wants them", () => {
    expect(convert("30 tools", "bedrock").body).toHaveProperty("toolConfig");
  });
});
