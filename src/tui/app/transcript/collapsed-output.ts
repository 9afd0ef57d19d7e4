import { pasteLabel } from "../../editor/state.ts";
import { line, toLines, span } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import { wrap } from "../../text/wrap.ts";
import { viewToolCall, type ToolCallView } from "../../views/tool-call.ts";

/** An item that was shown in part. */
export type CollapsedItem =
  | { readonly type: "thinking" | "paste"; readonly text: string }
  | { readonly type: "call"; readonly view: ToolCallView };

/** Limits of what is kept for expansion: items, and characters of each. */
const limits = { items: 20, characters: 200_000 };

/** Collapsed output of the last turn, kept for expansion on demand. */
export class CollapsedOutput {
  #items: CollapsedItem[] = [];

  clear(): void {
    this.#items = [];
  }

  add(item: CollapsedItem): void {
    const kept =
      item.type !== "call"
        ? { ...item, text: item.text.slice(0, limits.characters) }
        : { ...item, view: { ...item.view, output: item.view.output.slice(0, limits.characters) } };
    this.#items = [...this.#items.slice(1 - limits.items), kept];
  }

  /** Returns all items in full, once. */
  take(width: number): readonly StyledLine[] {
    return this.#items.splice(0).flatMap((item) => [...viewCollapsed(item, width), []]);
  }
}

const viewCollapsed = (item: CollapsedItem, width: number): readonly StyledLine[] => {
  switch (item.type) {
    case "thinking":
      return viewThinkingInFull(item.text, width);
    case "paste":
      return [
        line(pasteLabel(item.text, 0).replace(/ #1\]$/, "]"), { tone: "accent" }),
        ...toLines(item.text.replace(/\n$/, "")).flatMap((each) => wrap(each, { width, breakAt: "characters" })),
      ];
    case "call":
      return viewToolCall({ ...item.view, isExpanded: true }, width);
  }
};

/** Shows thinking in full, its titles in bold. */
export const viewThinkingInFull = (text: string, width: number): readonly StyledLine[] =>
  toLines(text.trim(), { tone: "muted", italic: true }).flatMap((each, at) =>
    wrap(viewTitles(each), { width, first: [span(at === 0 ? "✻ " : "  ", { tone: "accent" })], rest: [span("  ")] }),
  );

const viewTitles = (each: StyledLine): StyledLine =>
  each.flatMap(({ text, style }) =>
    text
      .split(/\*\*([^*]+)\*\*/)
      .map((part, at) => ({ text: part, style: at % 2 === 0 ? style : { ...style, bold: true } })),
  );
