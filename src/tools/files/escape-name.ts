/**
 * A name or path on one line. One with line breaks or invisible characters is written as JSON, so that it cannot be
 * mistaken for something else.
 */
export const escapeName = (name: string): string =>
  invisible.test(name) || !name.isWellFormed()
    ? JSON.stringify(name).replaceAll(
        new RegExp(invisible, "gu"),
        (letter) => `\\u{${letter.codePointAt(0)?.toString(16) ?? ""}}`,
      )
    : name;

/** Control and format characters, and line breaks of all kinds. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
