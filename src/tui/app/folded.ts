import { linesOf, span } from "../text/line.ts";
import type { Line } from "../text/style.ts";
import { wrap } from "../text/wrap.ts";
import { viewCall, type CallView } from "../views/call.ts";

/** Something that was shown in part. */
export type Folded =
  | { readonly type: "thought"; readonly text: string }
  | { readonly type: "call"; readonly view: CallView };

/** How much is kept to be shown in full later: things, and letters of each. */
const most = { things: 20, letters: 200_000 };

/** What a turn folded, to be shown in full on demand. Only the last turn's is kept. */
export class FoldedThings {
  #things: Folded[] = [];

  clear(): void {
    this.#things = [];
  }

  add(thing: Folded): void {
    const kept =
      thing.type === "thought"
        ? { ...thing, text: thing.text.slice(0, most.letters) }
        : { ...thing, view: { ...thing.view, output: thing.view.output.slice(0, most.letters) } };
    this.#things = [...this.#things.slice(1 - most.things), kept];
  }

  /** All of it, once. */
  take(width: number): readonly Line[] {
    return this.#things.splice(0).flatMap((thing) => [...viewFolded(thing, width), []]);
  }
}

const viewFolded = (thing: Folded, width: number): readonly Line[] => {
  switch (thing.type) {
    case "thought":
      return viewThought(thing.text, width);
    case "call":
      return viewCall({ ...thing.view, isOpen: true }, width);
  }
};

/** A thought in full. */
const viewThought = (text: string, width: number): readonly Line[] =>
  linesOf(text.trim(), { tone: "muted", italic: true }).flatMap((each, at) =>
    wrap(each, { width, first: [span(at === 0 ? "✻ " : "  ", { tone: "accent" })], rest: [span("  ")] }),
  );
