import { describe, expect, it } from "vitest";
import { call, structured, text } from "../../conversation/builders.ts";
import { Ledger } from "../../conversation/ledger.ts";
import { mediaAt } from "../../conversation/media.ts";
import { newSessionFromConversation } from "../store/create.ts";
import { exportMarkdown } from "./markdown.ts";
import { conversation, createSessionFixture, picture, root } from "../session.cases.ts";

describe("exporting a session as Markdown", () => {
  it("shows messages, collapsed thinking, and tool calls with arguments and results", async () => {
    const { sessions } = createSessionFixture();
    const session = await sessions.create(newSessionFromConversation(conversation(), { root, title: "Cats" }));

    expect(exportMarkdown(await sessions.read(session.id))).toBe(`# Cats

Session ${session.id}, in \`${root}\`, started 2026-03-01T09:00:00.000Z, with anthropic/claude-sonnet-5, openai/gpt-5.6.

## You

What is on example.org?

## anthropic/claude-sonnet-5

<details><summary>Thinking</summary>

I need to see it.

</details>

**Tool call: screenshot** (\`hist_tool_1\`)

\`\`\`json
{
  "url": "a"
}
\`\`\`

**Result of screenshot** (complete, \`hist_tool_1\`)

\`\`\`
The page:
\`\`\`

*image ${picture.media.id} "page.png", image/png, 4 bytes: [blobs/${picture.blob.hash.slice(0, 12)}…](blobs/${picture.blob.hash})*

## openai/gpt-5.6

A cat.
`);
  });

  it("fences every text safely and shows every kind of entry", async () => {
    const { sessions } = createSessionFixture();
    const ledger = new Ledger();
    const [first] = ledger.model({ provider: "p", model: "m" }, [
      { type: "call", tool: "t", input: { text: "{bad" } },
      { type: "code", language: "python", text: "1" },
      call("u"),
    ]);
    if (first !== undefined)
      ledger.complete(first.id, "t", {
        status: "error",
        content: [text("a ```` b"), structured([1]), mediaAt("https://a.test/<x> y", { mimeType: "image/png" })],
      });
    ledger.compact("So far.", 0);
    ledger.notice("one\ntwo");
    ledger.notice("");
    const session = await sessions.create(
      newSessionFromConversation({ version: 1, entries: ledger.entries, blobs: {} }, { root }),
    );
    const [, body] = exportMarkdown(session).split("with p/m.\n\n");

    expect(body).toBe(
      [
        "## p/m",
        "**Tool call: t** (`hist_tool_1`)\n\n```\n{bad\n```",
        "```python\n1\n```",
        "**Tool call: u** (`hist_tool_2`)\n\n```json\n{}\n```",
        "**Result of t** (failed, `hist_tool_1`)",
        "`````\na ```` b\n`````",
        "```json\n[\n  1\n]\n```",
        `[image ${mediaAt("https://a.test/<x> y", { mimeType: "image/png" }).id}, image/png](<https://a.test/%3Cx%3E%20y>)`,
        "## Summary of earlier messages",
        "So far.",
        "> one\n> two\n",
      ].join("\n\n"),
    );
  });
});
