/** A name or path on a line of its own. One that holds line breaks or unseen characters is written as JSON, so that it cannot pass for something else. */
export const nameLine = (name: string): string =>
  unseen.test(name) || !name.isWellFormed()
    ? JSON.stringify(name).replaceAll(
        new RegExp(unseen, "gu"),
        (letter) => `\\u{${letter.codePointAt(0)?.toString(16) ?? ""}}`,
      )
    : name;

/** Control and format characters, and line breaks of all kinds. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
