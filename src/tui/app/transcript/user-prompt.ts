import { labelMarkedText } from "../../editor/state.ts";
import { padLine, toLines, span } from "../../text/line.ts";
import type { Style, StyledLine } from "../../text/style.ts";
import { wrap } from "../../text/wrap.ts";

const tint: Style = { background: "user" };

/** Shows the user's prompt, a marked text, as it appears in the transcript: on a tinted background. */
export const viewUserPrompt = (marked: string, width: number): readonly StyledLine[] => [
  ...toLines(labelMarkedText(marked).trimEnd(), tint).flatMap((each, at) =>
    wrap(each, {
      width,
      first: [span(at === 0 ? "> " : "  ", { ...tint, tone: "accent", bold: true })],
      rest: [span("  ", tint)],
    }).map((row) => padLine(row, width, tint)),
  ),
  [],
];
