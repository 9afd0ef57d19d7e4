import { line, lineWidth, padLine, span, truncate } from "../text/line.ts";
import type { StyledLine, Tone } from "../text/style.ts";
import { wrap } from "../text/wrap.ts";

/** The answer of one model, as shown beside others. */
export type ComparedView = {
  readonly model: string;
  /** Time, tokens and price. */
  readonly stats: string;
  readonly calls: readonly { readonly text: string; readonly status: "done" | "refused" | "failed" }[];
  /** The answer, in Markdown. */
  readonly text: string;
  readonly problem?: string;
};

/** The narrowest column that is pleasant to read. */
const minColumn = 36;
const divider = " │ ";

/** Renders Markdown for a width. */
type MarkdownRenderer = (markdown: string, width: number) => Promise<readonly StyledLine[]>;

/** Shows answers side by side if there is room, else one below the other. */
export const viewComparison = async (
  answers: readonly ComparedView[],
  width: number,
  render: MarkdownRenderer,
): Promise<readonly StyledLine[]> => {
  const column = Math.floor((width - divider.length * (answers.length - 1)) / answers.length);
  const isBeside = column >= minColumn;
  const columns = await Promise.all(answers.map((each) => viewAnswer(each, isBeside ? column : width, render)));
  if (!isBeside) return columns.flatMap((lines) => [...lines, []]);
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

const viewAnswer = async (
  { model, stats, calls, text, problem }: ComparedView,
  width: number,
  render: MarkdownRenderer,
): Promise<readonly StyledLine[]> => [
  ...wrap([span(model, { bold: true, tone: "accent" })], { width }),
  ...wrap([span(stats, { tone: "muted" })], { width }),
  line("─".repeat(Math.min(width, Math.max(lineWidth([span(model)]), lineWidth([span(stats)])))), { tone: "muted" }),
  ...calls.map(({ text: call, status }) => {
    const { mark, tone } = callMarks[status];
    return truncate([span(`${mark} `, { tone }), span(call, { tone: "muted" })], width);
  }),
  ...(await render(text, width)),
  ...(problem === undefined ? [] : wrap([span(`! ${problem}`, { tone: "error" })], { width })),
];

const callMarks: Readonly<
  Record<ComparedView["calls"][number]["status"], { readonly mark: string; readonly tone: Tone }>
> = {
  done: { mark: "✓", tone: "success" },
  refused: { mark: "⊘ refused:", tone: "warning" },
  failed: { mark: "✗", tone: "error" },
};
