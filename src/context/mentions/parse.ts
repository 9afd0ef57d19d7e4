/** A person's message, cut where files may be meant. The raw pieces in order are the message. */
export type MessagePiece =
  | { readonly type: "text"; readonly raw: string }
  | {
      readonly type: "mention";
      readonly raw: string;
      /** What it may name, the longest first: `a.ts).` may be that, or `a.ts)`, or `a.ts`. */
      readonly paths: readonly string[];
      readonly isQuoted: boolean;
    };

/**
 * Cuts a message where an `@` may name a file: `@path`, `@path\ with\ spaces`, `@"path with spaces"`. An `@` within a word,
 * as in an address, or after a backslash names nothing. Whether there is such a file is not known here.
 */
export const parseMentions = (message: string): readonly MessagePiece[] => {
  const pieces: MessagePiece[] = [];
  let start = 0;
  for (const { index, 0: raw, groups = {} } of message.matchAll(mentionPattern)) {
    const { quoted, bare } = groups;
    if (index > start) pieces.push({ type: "text", raw: message.slice(start, index) });
    pieces.push(
      quoted === undefined
        ? { type: "mention", raw, paths: listCandidates(bare ?? ""), isQuoted: false }
        : { type: "mention", raw, paths: [quoted], isQuoted: true },
    );
    start = index + raw.length;
  }
  if (start < message.length) pieces.push({ type: "text", raw: message.slice(start) });
  return pieces;
};

/** A bare path goes on to the next white space that no backslash precedes, or to the end of a sentence as it is written in East Asia. */
const mentionPattern =
  /(?<![\w.%+@\\-])@(?:"(?<quoted>[^"\n]{1,4096})"|(?<bare>(?:\\.|[^\s\\"@<>|。，、；：？！）」』】]){1,4096}))/gsu;

const listCandidates = (bare: string): readonly string[] => {
  const found: string[] = [];
  for (let path: string | undefined = bare; path !== undefined && found.length < 16; path = shortenPath(path))
    found.push(path.replaceAll(/\\(.)/gsu, "$1"), path.replaceAll("\\ ", " "));
  return [...new Set(found)];
};

/** Without a line number, or without the last sign that may belong to the sentence. */
const shortenPath = (path: string): string | undefined => {
  const line = /^(.+?)(?::\d+(?:[:-]\d+)?|#L\d+(?:-L?\d+)?)$/s.exec(path)?.[1];
  if (line !== undefined) return line;
  return /[^\\][.,;:!?)\]}'`*_’”…]$/u.test(path) ? path.slice(0, -1) : undefined;
};
