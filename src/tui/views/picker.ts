import type { KeyEvent } from "../keys/key-event.ts";
import { type FuzzyMatch, putUsableFirst, rankMatches } from "../editor/fuzzy.ts";
import { truncate, mergeSpans, line, lineWidth, sanitizeLine, padLine, span } from "../text/line.ts";
import type { StyledLine, StyledSpan, Style } from "../text/style.ts";
import { graphemesOf, textWidth } from "../text/width.ts";

/** An option of a picker. */
export type PickerOption = {
  readonly id: string;
  readonly label: string;
  readonly detail?: string;
  /** When it is listed: always, only once something is typed that it matches, or only while nothing is typed. */
  readonly listed?: "typed" | "untyped";
  /** A key of the input that picks it while the list is open. */
  readonly chord?: string;
};

/** The same option, listed whatever is typed. */
export const alwaysListed = ({ id, label, detail }: PickerOption): PickerOption => ({
  id,
  label,
  ...(detail === undefined ? {} : { detail }),
});

/** A list to pick one option from, by moving or by typing to filter. */
export type Picker = {
  readonly title: string;
  readonly options: readonly PickerOption[];
  readonly query: string;
  readonly focus: number;
};

/** Creates a picker with the first option, or the named one, focused. */
export const createPicker = (title: string, options: readonly PickerOption[], focused?: string): Picker => ({
  title,
  options,
  query: "",
  focus: Math.max(
    0,
    listedOptions(options, "").findIndex(({ id }) => id === focused),
  ),
});

/** The result of a key in a picker. */
export type PickerKeyResult =
  | { readonly type: "open"; readonly picker: Picker }
  | { readonly type: "picked"; readonly option: PickerOption }
  | { readonly type: "cancelled" };

/** Handles a key. In a yes-or-no question, y and n answer. */
export const pressPicker = (picker: Picker, event: KeyEvent): PickerKeyResult => {
  const answer = event.type === "text" ? yesNoAnswer(picker, event.text) : undefined;
  if (answer !== undefined) return { type: "picked", option: answer };
  const matches = matchesOf(picker);
  const open = (change: Partial<Picker>): PickerKeyResult => ({ type: "open", picker: { ...picker, ...change } });
  const go = (to: number): PickerKeyResult => open({ focus: Math.max(0, Math.min(to, matches.length - 1)) });
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

/** The option that a key answers a yes-or-no question with. */
const yesNoAnswer = ({ options, query }: Picker, key: string): PickerOption | undefined => {
  const [yes, no] = ["yes", "no"].map((id) => options.find((option) => option.id === id));
  const isYesOrNo = options.every(({ id, chord }) => id === "yes" || id === "no" || chord !== undefined);
  if (!isYesOrNo || yes === undefined || no === undefined || query !== "") return undefined;
  return { y: yes, Y: yes, n: no, N: no }[key];
};

/** Shows title, query and as many options as fit, scrolled to the focus. */
export const viewPicker = (
  picker: Picker,
  { width, height }: { readonly width: number; readonly height: number },
): readonly StyledLine[] => {
  const matches = matchesOf(picker);
  const room = Math.max(1, Math.min(maxRows, height - 2, matches.length));
  const top = Math.max(0, Math.min(picker.focus - (room >> 1), matches.length - room));
  const head: StyledLine = [
    span(picker.title, { bold: true }),
    span(picker.query === "" ? "" : `  ${picker.query}`, { tone: "accent" }),
  ];
  const below = matches.length - top - room;
  const hint = picker.query === "" && matches.length > room ? " · type to filter" : "";
  const count =
    matches.length === 0 ? "no matches" : `${picker.focus + 1} of ${matches.length}${below > 0 ? " ↓" : ""}${hint}`;
  const shown = matches.slice(top, top + room);
  const column = detailColumn(
    shown.map(({ item }) => item),
    width,
  );
  return [
    truncate(head, width),
    ...shown.map((match, at) => viewOption(match, { width, column, isFocused: top + at === picker.focus })),
    line(`  ${count}`, { tone: "muted" }),
  ];
};

/** The width of labels that have a detail, so that details are in a column. A label of more than half of the width does not count. */
const detailColumn = (options: readonly PickerOption[], width: number): number =>
  Math.max(
    0,
    ...options
      .filter(({ detail }) => detail !== undefined)
      .map(({ label }) => textWidth(sanitizeLine(label)))
      .filter((each) => each <= width / 2),
  );

/** More rows than this are hard to scan, and hide the conversation. */
const maxRows = 10;

const matchesOf = ({ query, options }: Picker): readonly FuzzyMatch<PickerOption>[] => rankOptions(query, options);

/**
 * Ranks the options that can be listed for what is typed. The one whose name is typed in full comes first, those that
 * nothing but typing lists come last; options that match equally well keep their order, which says more than their length.
 */
export const rankOptions = (query: string, options: readonly PickerOption[]): readonly FuzzyMatch<PickerOption>[] => {
  const textOf = ({ label }: PickerOption): string => label;
  const name = query.toLowerCase();
  const isNamed = ({ item: { label } }: FuzzyMatch<PickerOption>): boolean =>
    `/${label.toLowerCase()}`.endsWith(`/${name}`);
  const ranked = rankMatches(query, listedOptions(options, query), textOf, { lengthCost: 0 });
  const matches = [...ranked.filter(isNamed), ...ranked.filter((each) => !isNamed(each))];
  return putUsableFirst(query, matches, { textOf, isUsable: ({ listed }) => listed !== "typed" });
};

/** The options that can be listed for what is typed. */
export const listedOptions = (options: readonly PickerOption[], typed: string): readonly PickerOption[] =>
  options.filter(({ listed }) => listed !== (typed === "" ? "typed" : "untyped"));

const viewOption = (
  { item: { label, detail }, positions }: FuzzyMatch<PickerOption>,
  { width, column, isFocused }: { readonly width: number; readonly column: number; readonly isFocused: boolean },
): StyledLine => {
  const style: Style = isFocused ? { background: "focus" } : {};
  const spans: StyledSpan[] = [
    { text: isFocused ? "› " : "  ", style: { ...style, tone: "accent" } },
    ...highlighted(label, positions, style),
  ];
  const gap = " ".repeat(2 + Math.max(0, column + 2 - lineWidth(spans)));
  if (detail !== undefined) spans.push({ text: `${gap}${sanitizeLine(detail)}`, style: { ...style, tone: "muted" } });
  const fitting = truncate(mergeSpans(spans), width);
  return isFocused && lineWidth(fitting) < width ? padLine(fitting, width, style) : fitting;
};

/** Highlights the matched characters. */
const highlighted = (label: string, places: readonly number[], style: Style): readonly StyledSpan[] => {
  const hit = new Set(places);
  let at = 0;
  return graphemesOf(label).map((grapheme): StyledSpan => {
    const isHit = hit.has(at);
    at += grapheme.length;
    return { text: sanitizeLine(grapheme), style: isHit ? { ...style, tone: "accent", bold: true } : style };
  });
};
