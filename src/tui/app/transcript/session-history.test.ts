import { describe, expect, it } from "vitest";
import type { Entry } from "../../../conversation/entry.ts";
import type { CallId, Media } from "../../../conversation/parts.ts";
import { markAsPaste } from "../../editor/state.ts";
import { lineText } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import { printHistory } from "./session-history.ts";

const origin = { provider: "google", model: "gemini" };
const image: Media = {
  type: "media",
  kind: "image",
  mimeType: "image/png",
  id: "m1",
  source: { type: "blob", hash: "h", bytes: 1 },
} as unknown as Media;

const print = async (entries: readonly Entry[], typed: readonly string[] = []): Promise<readonly string[]> => {
  const printed: string[] = [];
  await printHistory(entries, {
    frontEnd: {
      print: (lines: readonly StyledLine[]) => void printed.push(...lines.map((each) => lineText(each).trimEnd())),
      width: () => 60,
    },
    showMarkdown: async (text) => void printed.push(text, ""),
    showMedia: () => void printed.push("[image]"),
    readInputHistory: async () => typed,
  });
  return printed;
};

describe("the history of a resumed session", () => {
  const lines = Array.from({ length: 50 }, (_, at) => `line ${at}`).join("\n");
  const user = (text: string): Entry => ({ type: "user", parts: [{ type: "text", text }] });

  it("labels pastes as they were typed, and a long message it does not know as one paste", async () => {
    const typed = `what is ${markAsPaste(lines)}?`;
    expect(await print([user(`what is ${lines}?`), user(`${lines}\nlonger`), user("a\nb")], [typed])).toEqual([
      "> what is [pasted 50 lines #1]?",
      "",
      "> [pasted 51 lines #1]",
      "",
      "> a",
      "  b",
      "",
    ]);
  });

  it("separates answers and calls by one empty line, also after an image and an empty text", async () => {
    const call = "c1" as CallId;
    const entries: readonly Entry[] = [
      {
        type: "model",
        origin,
        parts: [{ type: "call", id: call, tool: "read_file", input: { type: "parsed", value: { path: "a.png" } } }],
      },
      { type: "completion", call, tool: "read_file", outcome: { status: "complete", content: [image] } },
      {
        type: "model",
        origin,
        parts: [
          { type: "text", text: "Seen." },
          { type: "text", text: "" },
        ],
      },
    ];
    expect(await print(entries)).toEqual(["✓ read_file a.png", "[image]", "", "Seen.", ""]);
  });
});
