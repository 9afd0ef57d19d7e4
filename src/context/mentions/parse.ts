/** A piece of a message: text or a possible mention. The raw pieces in order are the message. */
export type MessagePiece =
  | { readonly type: "text"; readonly raw: string }
  | {
      readonly type: "mention";
      readonly raw: string;
      /** Candidate paths, longest first: `a.ts).`, `a.ts)`, `a.ts`. */
      readonly paths: readonly string[];
      readonly isQuoted: boolean;
    };

/**
 * Splits a message at possible mentions: `@path`, `@path\ with\ spaces`, `@"path with spaces"`. An `@` within a word (an
 * e-mail address) or after a backslash is not one. Does not check whether the file exists.
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

/** A bare path ends at unescaped white space or at East Asian sentence punctuation. */
const mentionPattern =
  /(?<![\w.%+@\\-])@(?:"(?<quoted>[^"\n]{1,4096})"|(?<bare>(?:\\.|[^\s\\"@<>|。，、；：？！）」』】]){1,4096}))/gsu;

const listCandidates = (bare: string): readonly string[] => {
  const found: string[] = [];
  for (let path: string | undefined = bare; path !== undefined && found.length < 16; path = shortenPath(path))
    found.push(path.replaceAll(/\\(.)/gsu, "$1"), path.replaceAll("\\ ", " "));
  return [...new Set(found)];
};

/** Removes a line number, or the last character if it may be punctuation of the sentence. */
const shortenPath = (path: string): string | undefined => {
  const line = /^(.+?)(?::\d+(?:[:-]\d+)?|#L\d+(?:-L?\d+)?)$/s.exec(path)?.[1];
  if (line !== undefined) return line;
  return /[^\\][.,;:!?)\]}'`*_’”…]$/u.test(path) ? path.slice(0, -1) : undefined;
};
