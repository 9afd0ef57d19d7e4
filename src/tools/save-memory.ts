import { object, string } from "./schema.ts";
import { defineTool, ToolFailure, type AnyTool } from "./tool.ts";

const heading = "## Parley Added Memories";
const maxFactLength = 4000;

const input = object({
  fact: string({
    minLength: 1,
    description: "One fact about the user or their preferences, as a self-contained sentence.",
  }),
});

export const saveMemory: AnyTool = defineTool({
  name: "save_memory",
  description:
    "Saves a fact for all later sessions. Use only when the user asks to remember something, or clearly wants it remembered.",
  access: "write",
  input,
  touches: () => ({}),
  title: ({ fact }) => `Remember: ${fact}`,
  run: async ({ fact }, { memory }) => {
    const line = toSingleLine(fact);
    if (line === "" || line.length > maxFactLength)
      throw new ToolFailure("invalid_tool_params", `A fact has at most ${maxFactLength} characters.`);
    const before = (await memory.read()) ?? "";
    await memory.write(appendFact(before, line));
    const text = JSON.stringify({ success: true, message: `Okay, I've remembered that: "${line}"` });
    return { content: [{ type: "text", text }], display: { type: "text", text: `Saved to ${memory.path}` } };
  },
});

/**
 * One line of plain text: it cannot become a heading, a list item of its own, a fence, a comment, or an import of
 * another file.
 */
export const toSingleLine = (fact: string): string =>
  fact
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ")
    .replace(/^[\s#>*+-]+/, "")
    .replaceAll(/(?<![\w.+\\-])@(?=\S)/g, "\\@")
    .replaceAll(/`{3,}|~{3,}|<!--/g, "\\$&")
    .trim()
    .toWellFormed();

/** The text with one more line at the end of its section; the rest stays as it was. */
export const appendFact = (text: string, line: string): string => {
  const lines = text.split("\n");
  const at = lines.findIndex((each) => each.trim() === heading);
  if (at === -1) return `${text.trimEnd()}${text.trim() === "" ? "" : "\n\n"}${heading}\n- ${line}\n`;
  const next = lines.findIndex((each, index) => index > at && /^#{1,2} /.test(each));
  const end = next === -1 ? lines.length : next;
  const body = lines.slice(0, end).join("\n").trimEnd();
  const rest = lines.slice(end).join("\n");
  return `${body}\n- ${line}\n${rest === "" ? "" : `\n${rest}`}`;
};
