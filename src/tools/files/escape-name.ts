/** A name or path on a line of its own. One that holds line breaks or unseen characters is written as JSON, so that it cannot pass for something else. */
export const escapeName = (name: string): string =>
  invisible.test(name) || !name.isWellFormed()
    ? JSON.stringify(name).replaceAll(
        new RegExp(invisible, "gu"),
        (letter) => `\\u{${letter.codePointAt(0)?.toString(16) ?? ""}}`,
      )
    : name;

/** Control and format characters, and line breaks of all kinds. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
