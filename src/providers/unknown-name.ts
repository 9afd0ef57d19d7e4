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
