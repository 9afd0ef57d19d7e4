import { nearestNames } from "../conversation/nearest-names.ts";

/** An unknown name, with the nearest known ones. */
export class UnknownNameError extends Error {
  override readonly name = "UnknownNameError";

  constructor(what: string, given: string, known: readonly string[]) {
    const close = nearestNames(given, known);
    super(
      close.length > 0
        ? `There is no ${what} "${given}". Did you mean ${close.join(" or ")}?`
        : `There is no ${what} "${given}". Known: ${known.join(", ")}.`,
    );
  }
}

/** A short name of a model that could mean several, or only models that need a key. */
export class AmbiguousNameError extends Error {
  override readonly name = "AmbiguousNameError";

  constructor(given: string, models: readonly { readonly name: string; readonly needs?: string }[]) {
    const isMissingKey = models.some(({ needs }) => needs !== undefined);
    const list = models.map(({ name, needs }) => `  ${name}${needs === undefined ? "" : `  (needs ${needs})`}`);
    super(
      [
        isMissingKey
          ? `No key for a provider of "${given}". Set one, sign in with parley login, or name another model:`
          : models.length === 1
            ? `"${given}" is not used without its provider. Name it in full:`
            : `"${given}" could be a model of several providers. Name one:`,
        ...list,
      ].join("\n"),
    );
  }
}
