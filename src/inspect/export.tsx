import { createHash } from "node:crypto";
import { renderToString } from "preact-render-to-string";
import type { Redactor } from "../policy/secrets/redact.ts";
import { sanitizeForTerminal } from "../policy/terminal/sanitize.ts";
import type { ReadSession } from "../session/store/store.ts";
import { summarizeSession } from "../session/store/summary.ts";
import { listReadingRows, readEntryTimes, type ReadingRow } from "./data/reading-rows.ts";
import { joinSome, prepareMedia, type ExportedImages, type ExportedMedia } from "./exported-media.tsx";
import { readStyles } from "./server/assets.ts";
import { formatBytes } from "./view/format.ts";
import { Row } from "./view/row.tsx";

export type HtmlExportOptions = {
  readonly redactor: Redactor;
  /** Which images and audio the file contains. */
  readonly images: ExportedImages;
  /** The largest size of the file, in bytes. */
  readonly maxBytes?: number;
};

/** An exported file, and notes on everything that is not in it. */
export type HtmlExport = { readonly html: string; readonly notes: readonly string[] };

/** Kept free for the notes, which are written last and name a limited number of things. */
const noteBytes = 32_000;

/**
 * Exports a session as one HTML file without scripts: the reading view, with secrets redacted. Text comes first: media get
 * the space that it leaves, so the file is never larger than its limit.
 */
export const exportHtml = async (
  session: ReadSession,
  { redactor, images, maxBytes = 20_000_000 }: HtmlExportOptions,
): Promise<HtmlExport> => {
  const redactions: string[] = [];
  const rows = listReadingRows(session, await readEntryTimes(session)).map((row) => {
    const { value, count } = redactRow(row, redactor);
    if (count > 0) redactions.push(`entry ${row.entry + 1}${count === 1 ? "" : ` (${count})`}`);
    return value;
  });
  const facts = { session, redactor, styles: await readStyles() };
  const room = maxBytes - noteBytes - Buffer.byteLength(documentOf({ ...facts, body: "", notes: [] }));
  const written: { readonly row: ReadingRow; readonly html: string }[] = [];
  let bytes = 0;
  for (const row of rows) {
    const html = renderRow(row, () => null);
    bytes += Buffer.byteLength(html) + 1;
    if (bytes > room) break;
    written.push({ row, html });
  }
  const left = rows.length - written.length;
  const media = await prepareMedia(
    session,
    written.map(({ row }) => row),
    { images, room: left > 0 ? 0 : room - bytes },
  );
  const body = written.map(({ row, html }) => (media.isIn(row) ? renderRow(row, media.show) : html)).join("\n");
  const notes = [
    redactions.length === 0 ? "No secrets were found." : `Secrets were redacted in ${joinSome(redactions)}.`,
    ...media.notes,
    ...(left === 0 ? [] : [`The last ${left} entries are left out: the file is limited to ${formatBytes(maxBytes)}.`]),
  ];
  return { html: documentOf({ ...facts, body, notes }), notes };
};

const renderRow = (row: ReadingRow, showMedia: ExportedMedia["show"]): string =>
  renderToString(
    <div class="item" id={`entry-${row.entry + 1}`}>
      <Row row={row} showMedia={showMedia} />
    </div>,
  );

/** Fields of a row that hold no text of a model or a file. */
const fixedFields: ReadonlySet<string> = new Set(["type", "hash", "id", "call", "kind", "status", "mimeType"]);

/** Redacts every text of a row, and counts the secrets. */
const redactRow = (row: ReadingRow, { redact }: Redactor): { readonly value: ReadingRow; readonly count: number } => {
  let count = 0;
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") {
      const clean = redact(value);
      if (clean !== value) count += Math.max(1, countSecrets(clean) - countSecrets(value));
      return clean;
    }
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, fixedFields.has(key) ? item : walk(item)]),
    );
  };
  const value = walk(row) as ReadingRow;
  return { value, count };
};

const countSecrets = (text: string): number => text.split("[secret]").length - 1;

type DocumentFacts = {
  readonly session: ReadSession;
  readonly redactor: Redactor;
  readonly body: string;
  readonly notes: readonly string[];
  readonly styles: string;
};

const maxTitleLength = 200;

/** The policy allows the style sheet by its hash, media of the file itself, and nothing else: no script at all. */
const documentOf = ({ session, redactor, body, notes, styles }: DocumentFacts): string => {
  const { title, models, created } = summarizeSession(session);
  const name = redactor.redact(sanitizeForTerminal(title === "" ? session.id : title, "line")).slice(0, maxTitleLength);
  const digest = createHash("sha256").update(styles).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${digest}'; img-src data:; media-src data:; base-uri 'none'; form-action 'none'`;
  const head = renderToString(
    <>
      <meta http-equiv="Content-Security-Policy" content={policy} />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="referrer" content="no-referrer" />
      <title>{name}</title>
    </>,
  );
  const start = renderToString(
    <header>
      <h1>{name}</h1>
      <p class="fact">
        Session {session.id}, {new Date(created).toISOString().slice(0, 10)}
        {models.length === 0 ? "" : `, with ${sanitizeForTerminal(joinSome(models), "line")}`}
      </p>
    </header>,
  );
  const end = renderToString(
    <footer>
      {notes.map((note) => (
        <p class="fact">{note}</p>
      ))}
      <p class="fact">Exported by Parley. This file contains no script and loads nothing.</p>
    </footer>,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${head}
<style>${styles}</style>
</head>
<body>
<div class="export">
${start}
<main>
${body}
</main>
${end}
</div>
</body>
</html>
`;
};
