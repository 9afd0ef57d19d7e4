import { toLines, span } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import { wrap } from "../../text/wrap.ts";

/** Shows the user's prompt as it appears in the transcript. */
export const viewUserPrompt = (text: string, width: number): readonly StyledLine[] => [
  ...toLines(text.trimEnd()).flatMap((each, at) =>
    wrap(each, {
      width,
      first: [span(at === 0 ? "> " : "  ", { tone: "accent", bold: true })],
      rest: [span("  ")],
    }),
  ),
  [],
];
