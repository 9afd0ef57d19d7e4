import { linesOf, span } from "../text/line.ts";
import type { Line } from "../text/style.ts";
import { wrap } from "../text/wrap.ts";

/** What the person said, as it stands in the history. */
export const quoted = (text: string, width: number): readonly Line[] => [
  ...linesOf(text.trimEnd()).flatMap((each, at) =>
    wrap(each, {
      width,
      first: [span(at === 0 ? "> " : "  ", { tone: "accent", bold: true })],
      rest: [span("  ")],
    }),
  ),
  [],
];
