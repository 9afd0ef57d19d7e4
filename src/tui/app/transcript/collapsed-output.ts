import { toLines, span } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import { wrap } from "../../text/wrap.ts";
import { viewToolCall, type ToolCallView } from "../../views/tool-call.ts";

/** An item that was shown in part. */
export type CollapsedItem =
  | { readonly type: "thought"; readonly text: string }
  | { readonly type: "call"; readonly view: ToolCallView };

/** Limits of what is kept for expansion: items, and characters of each. */
const limits = { things: 20, letters: 200_000 };

/** Collapsed output of the last turn, kept for expansion on demand. */
export class CollapsedOutput {
  #things: CollapsedItem[] = [];

  clear(): void {
    this.#things = [];
  }

  add(thing: CollapsedItem): void {
    const kept =
      thing.type === "thought"
        ? { ...thing, text: thing.text.slice(0, limits.letters) }
        : { ...thing, view: { ...thing.view, output: thing.view.output.slice(0, limits.letters) } };
    this.#things = [...this.#things.slice(1 - limits.things), kept];
  }

  /** Returns all items in full, once. */
  take(width: number): readonly StyledLine[] {
    return this.#things.splice(0).flatMap((thing) => [...viewCollapsed(thing, width), []]);
  }
}

const viewCollapsed = (thing: CollapsedItem, width: number): readonly StyledLine[] => {
  switch (thing.type) {
    case "thought":
      return viewThought(thing.text, width);
    case "call":
      return viewToolCall({ ...thing.view, isExpanded: true }, width);
  }
};

/** Shows thinking in full. */
const viewThought = (text: string, width: number): readonly StyledLine[] =>
  toLines(text.trim(), { tone: "muted", italic: true }).flatMap((each, at) =>
    wrap(each, { width, first: [span(at === 0 ? "✻ " : "  ", { tone: "accent" })], rest: [span("  ")] }),
  );
