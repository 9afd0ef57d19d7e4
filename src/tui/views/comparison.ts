import { line, lineWidth, padLine, span, toLines, truncate } from "../text/line.ts";
import type { StyledLine, Tone } from "../text/style.ts";
import { wrap } from "../text/wrap.ts";

/** The answer of one model, as shown beside others. */
export type ComparedView = {
  readonly model: string;
  /** Time, tokens and price. */
  readonly stats: string;
  readonly calls: readonly { readonly text: string; readonly status: "done" | "refused" | "failed" }[];
  readonly text: string;
  readonly problem?: string;
};

/** The narrowest column that is pleasant to read. */
const minColumn = 36;
const divider = " │ ";

/** Shows answers side by side if there is room, else one below the other. */
export const viewComparison = (answers: readonly ComparedView[], width: number): readonly StyledLine[] => {
  const column = Math.floor((width - divider.length * (answers.length - 1)) / answers.length);
  if (column < minColumn) return answers.flatMap((each) => [...viewAnswer(each, width), []]);
  const columns = answers.map((each) => viewAnswer(each, column));
  const height = Math.max(...columns.map(({ length }) => length));
  return [
    ...Array.from({ length: height }, (_, row) =>
      columns.flatMap((lines, at): StyledLine => {
        const cell = lines[row] ?? [];
        const isLast = at === columns.length - 1;
        return isLast ? cell : [...padLine(cell, column), span(divider, { tone: "muted" })];
      }),
    ),
    [],
  ];
};

const viewAnswer = ({ model, stats, calls, text, problem }: ComparedView, width: number): readonly StyledLine[] => [
  ...wrap([span(model, { bold: true, tone: "accent" })], { width }),
  ...wrap([span(stats, { tone: "muted" })], { width }),
  line("─".repeat(Math.min(width, Math.max(lineWidth([span(model)]), lineWidth([span(stats)])))), { tone: "muted" }),
  ...calls.map(({ text: call, status }) => {
    const { mark, tone } = callMarks[status];
    return truncate([span(`${mark} `, { tone }), span(call, { tone: "muted" })], width);
  }),
  ...toLines(text).flatMap((each) => wrap(each, { width })),
  ...(problem === undefined ? [] : wrap([span(`! ${problem}`, { tone: "error" })], { width })),
];

const callMarks: Readonly<
  Record<ComparedView["calls"][number]["status"], { readonly mark: string; readonly tone: Tone }>
> = {
  done: { mark: "✓", tone: "success" },
  refused: { mark: "⊘ refused:", tone: "warning" },
  failed: { mark: "✗", tone: "error" },
};
