import { z } from "zod";
import { defineTool, ToolFailure, type AnyTool } from "./tool.ts";

const heading = "## Parley Added Memories";
const maxFactLength = 4000;

const input = z.object({
  fact: z.string().min(1).describe("One fact about the person or their wishes, as a sentence that stands for itself."),
});

export const saveMemory: AnyTool = defineTool({
  name: "save_memory",
  description:
    "Remembers a fact for all later sessions. Only for what the person asks to be remembered, or would clearly want to be.",
  access: "write",
  input,
  touches: () => ({}),
  title: ({ fact }) => `Remember: ${fact}`,
  run: async ({ fact }, { memory }) => {
    const line = toSingleLine(fact);
    if (line === "" || line.length > maxFactLength)
      throw new ToolFailure("invalid_tool_params", `A fact is a sentence of at most ${maxFactLength} characters.`);
    const before = (await memory.read()) ?? "";
    await memory.write(appendFact(before, line));
    const text = JSON.stringify({ success: true, message: `Okay, I've remembered that: "${line}"` });
    return { content: [{ type: "text", text }], display: { type: "text", text: `Remembered in ${memory.path}` } };
  },
});

/** One line of plain words: it can be no heading, no list of its own, no fence, no comment, and no import of another file. */
const toSingleLine = (fact: string): string =>
  fact
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ")
    .replace(/^[\s#>*+-]+/, "")
    .replaceAll(/(?<![\w.+\\-])@(?=\S)/g, "\\@")
    .replaceAll(/`{3,}|~{3,}|<!--/g, "\\$&")
    .trim()
    .toWellFormed();

/** The text with one more line at the end of its section; the rest stays as it was. */
const appendFact = (text: string, line: string): string => {
  const lines = text.split("\n");
  const at = lines.findIndex((each) => each.trim() === heading);
  if (at === -1) return `${text.trimEnd()}${text.trim() === "" ? "" : "\n\n"}${heading}\n- ${line}\n`;
  const next = lines.findIndex((each, index) => index > at && /^#{1,2} /.test(each));
  const end = next === -1 ? lines.length : next;
  const body = lines.slice(0, end).join("\n").trimEnd();
  const rest = lines.slice(end).join("\n");
  return `${body}\n- ${line}\n${rest === "" ? "" : `\n${rest}`}`;
};
