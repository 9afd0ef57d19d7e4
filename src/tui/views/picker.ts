import type { KeyEvent } from "../keys/event.ts";
import { type Match, rank } from "../editor/fuzzy.ts";
import { cut, joined, line, lineColumns, oneLine, padded, span } from "../text/line.ts";
import type { Line, Span, Style } from "../text/style.ts";
import { graphemesOf } from "../text/width.ts";

/** Something to pick. */
export type Option = { readonly id: string; readonly label: string; readonly detail?: string };

/** A list in which one thing is picked: by moving, or by typing some of its letters. */
export type Picker = {
  readonly title: string;
  readonly options: readonly Option[];
  readonly query: string;
  readonly focus: number;
};

/** A picker with the first option, or the named one, in focus. */
export const createPicker = (title: string, options: readonly Option[], focused?: string): Picker => ({
  title,
  options,
  query: "",
  focus: Math.max(
    0,
    options.findIndex(({ id }) => id === focused),
  ),
});

/** What a key does to a picker. */
export type Picked =
  | { readonly type: "open"; readonly picker: Picker }
  | { readonly type: "picked"; readonly option: Option }
  | { readonly type: "cancelled" };

/** The picker after a key, or what became of it. */
export const pressPicker = (picker: Picker, event: KeyEvent): Picked => {
  const matches = matchesOf(picker);
  const open = (change: Partial<Picker>): Picked => ({ type: "open", picker: { ...picker, ...change } });
  const go = (to: number): Picked => open({ focus: Math.max(0, Math.min(to, matches.length - 1)) });
  if (event.type === "text") return open({ query: picker.query + event.text, focus: 0 });
  if (event.type !== "key") return open({});
  switch (event.chord) {
    case "up":
    case "ctrl+p":
    case "shift+tab":
      return go(picker.focus === 0 ? matches.length - 1 : picker.focus - 1);
    case "down":
    case "ctrl+n":
    case "tab":
      return go(picker.focus + 1 >= matches.length ? 0 : picker.focus + 1);
    case "pageup":
      return go(picker.focus - 10);
    case "pagedown":
      return go(picker.focus + 10);
    case "home":
      return go(0);
    case "end":
      return go(matches.length - 1);
    case "backspace":
      return open({ query: graphemesOf(picker.query).slice(0, -1).join(""), focus: 0 });
    case "ctrl+u":
      return open({ query: "", focus: 0 });
    case "escape":
    case "ctrl+c":
      return { type: "cancelled" };
    case "enter": {
      const option = matches[picker.focus]?.item;
      return option === undefined ? open({}) : { type: "picked", option };
    }
  }
  return open({});
};

/** A picker as lines: its title, what was typed, and as many options as fit, the focused one among them. */
export const viewPicker = (
  picker: Picker,
  { width, height }: { readonly width: number; readonly height: number },
): readonly Line[] => {
  const matches = matchesOf(picker);
  const room = Math.max(1, Math.min(height - 2, matches.length));
  const top = Math.max(0, Math.min(picker.focus - (room >> 1), matches.length - room));
  const head: Line = [
    span(picker.title, { bold: true }),
    span(picker.query === "" ? "" : `  ${picker.query}`, { tone: "accent" }),
  ];
  const below = matches.length - top - room;
  const count =
    matches.length === 0 ? "nothing matches" : `${picker.focus + 1} of ${matches.length}${below > 0 ? " ↓" : ""}`;
  return [
    cut(head, width),
    ...matches
      .slice(top, top + room)
      .map((match, at) => viewOption(match, { width, isFocused: top + at === picker.focus })),
    line(`  ${count}`, { tone: "muted" }),
  ];
};

const matchesOf = ({ query, options }: Picker): readonly Match<Option>[] => rank(query, options, ({ label }) => label);

const viewOption = (
  { item: { label, detail }, places }: Match<Option>,
  { width, isFocused }: { readonly width: number; readonly isFocused: boolean },
): Line => {
  const ground: Style = isFocused ? { ground: "focus" } : {};
  const spans: Span[] = [
    { text: isFocused ? "› " : "  ", style: { ...ground, tone: "accent" } },
    ...highlighted(label, places, ground),
  ];
  if (detail !== undefined) spans.push({ text: `  ${oneLine(detail)}`, style: { ...ground, tone: "muted" } });
  const fitting = cut(joined(spans), width);
  return isFocused && lineColumns(fitting) < width ? padded(fitting, width, ground) : fitting;
};

/** The letters that were typed stand out. */
const highlighted = (label: string, places: readonly number[], ground: Style): readonly Span[] => {
  const hit = new Set(places);
  let at = 0;
  return graphemesOf(label).map((grapheme): Span => {
    const isHit = hit.has(at);
    at += grapheme.length;
    return { text: oneLine(grapheme), style: isHit ? { ...ground, tone: "accent", bold: true } : ground };
  });
};
