/** Neighbouring cells of a row with one style, such as `bold #79b8ff on #2b313a`. */
export type StyledRun = { readonly text: string; readonly style: string; readonly column: number };

/** Draws the rows of a terminal as an SVG. Empty rows at the end are left out. */
export const drawPicture = (rows: readonly (readonly StyledRun[])[], columns: number): string => {
  const last = rows.findLastIndex((runs) => runs.some(({ text }) => text.trim() !== ""));
  const shown = rows.slice(0, last + 1);
  const width = Math.ceil(columns * cell.width) + 2 * margin;
  const height = shown.length * cell.height + 2 * margin;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>A session in Parley</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${colours.background}"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="${colours.text}">`,
    ...shown.flatMap((runs, row) => [
      ...runs.flatMap((run) => drawBackground(run, row)),
      ...runs.flatMap((run) => drawText(run, row)),
    ]),
    "</g>",
    "</svg>",
    "",
  ].join("\n");
};

const cell = { width: 8.4, height: 19 };
const margin = 16;
const colours = { background: "#16191f", text: "#e1e4e8" };

const leftOf = (column: number): string => (margin + column * cell.width).toFixed(1);

const drawBackground = ({ text, style, column }: StyledRun, row: number): readonly string[] => {
  const [, colour] = / ?on (#\w+)$/.exec(style) ?? [];
  if (colour === undefined) return [];
  const size = `width="${(text.length * cell.width).toFixed(1)}" height="${cell.height}"`;
  return [`<rect x="${leftOf(column)}" y="${margin + row * cell.height}" ${size} fill="${colour}"/>`];
};

/** Draws the words of a run. Its length is set, so that columns stay aligned in every font. */
const drawText = ({ text, style, column }: StyledRun, row: number): readonly string[] => {
  const words = text.trim();
  if (words === "") return [];
  const start = column + text.indexOf(words);
  const attributes = style.replace(/ ?on \S+$/, "").split(" ");
  const colour = attributes.find((word) => word.startsWith("#"));
  return [
    [
      `<text x="${leftOf(start)}" y="${margin + row * cell.height + 14}"`,
      `textLength="${(words.length * cell.width).toFixed(1)}" xml:space="preserve"`,
      ...(colour === undefined ? [] : [`fill="${colour}"`]),
      ...(attributes.includes("bold") ? ['font-weight="bold"'] : []),
      ...(attributes.includes("italic") ? ['font-style="italic"'] : []),
    ].join(" ") + `>${escapeXml(words)}</text>`,
  ];
};

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
