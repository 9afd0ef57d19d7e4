import { sanitizeLine, truncate } from "./text-table.ts";

/** A line of a checklist. One without a mark cannot be ticked. */
export type ChecklistItem = { readonly text: string; readonly isTicked?: boolean };

/** A checklist while it is answered. */
type ChecklistState = {
  readonly items: readonly ChecklistItem[];
  /** The line the cursor is on. */
  readonly at: number;
  readonly end?: "confirmed" | "cancelled";
};

/**
 * Starts a checklist with the cursor on the first line that can be ticked.
 *
 * @internal Exported for its tests.
 */
export const createChecklist = (items: readonly ChecklistItem[]): ChecklistState => ({
  items,
  at: Math.max(0, items.findIndex(isTickable)),
});

/**
 * Returns the state after a key.
 *
 * @internal Exported for its tests.
 */
export const updateChecklist = (state: ChecklistState, key: string): ChecklistState => {
  const { items, at } = state;
  switch (key) {
    case "up":
    case "k":
      return { ...state, at: nextTickable(items, at, -1) };
    case "down":
    case "j":
      return { ...state, at: nextTickable(items, at, 1) };
    case "space":
      return { ...state, items: items.map((item, index) => (index === at ? toggle(item) : item)) };
    case "a": {
      const isTicked = items.some((item) => item.isTicked === false);
      return { ...state, items: items.map((item) => (isTickable(item) ? { ...item, isTicked } : item)) };
    }
    case "return":
    case "enter":
      return { ...state, end: "confirmed" };
    case "escape":
    case "q":
    case "ctrl-c":
    case "ctrl-d":
      return { ...state, end: "cancelled" };
    default:
      return state;
  }
};

const isTickable = ({ isTicked }: ChecklistItem): boolean => isTicked !== undefined;

const toggle = (item: ChecklistItem): ChecklistItem =>
  item.isTicked === undefined ? item : { ...item, isTicked: !item.isTicked };

const nextTickable = (items: readonly ChecklistItem[], at: number, step: 1 | -1): number => {
  for (let index = at + step; index >= 0 && index < items.length; index += step)
    if (isTickable(items[index] ?? { text: "" })) return index;
  return at;
};

/**
 * Renders the lines of a checklist, at most `rows`: those around the cursor.
 *
 * @internal Exported for its tests.
 */
export const renderChecklist = (
  { items, at }: ChecklistState,
  { rows, columns }: { readonly rows: number; readonly columns: number },
): readonly string[] => {
  const height = Math.max(1, Math.min(items.length, rows - 2));
  const first = Math.max(0, Math.min(at - Math.floor(height / 2), items.length - height));
  const visible = items.slice(first, first + height).map(({ text, isTicked }, index) => {
    const mark = isTicked === undefined ? "   " : isTicked ? "[x]" : "[ ]";
    const cursor = first + index === at ? ">" : " ";
    return truncate(`${cursor} ${mark} ${sanitizeLine(text)}`, columns - 1);
  });
  const ticked = items.filter(({ isTicked }) => isTicked === true).length;
  const help = `${ticked} ticked. Space: tick, a: all, Enter: continue, Esc: cancel`;
  return [...visible, truncate(help, columns - 1)];
};

/** Shows a checklist on the terminal until it is answered. Returns the indexes that are ticked; undefined if cancelled. */
export const askChecklist = async (items: readonly ChecklistItem[]): Promise<readonly number[] | undefined> => {
  const { emitKeypressEvents } = await import("node:readline");
  const { stdin, stderr } = process;
  let state = createChecklist(items);
  let drawn = 0;
  const draw = (): void => {
    const lines = renderChecklist(state, { rows: stderr.rows ?? 24, columns: stderr.columns ?? 80 });
    const up = drawn === 0 ? "" : `\u001b[${drawn}A`;
    stderr.write(`${up}\r\u001b[J${lines.join("\n")}\n`);
    drawn = lines.length;
  };
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  draw();
  try {
    await new Promise<void>((resolve) => {
      const onKey = (_: string | undefined, key: Keypress): void => {
        state = updateChecklist(state, key.ctrl === true ? `ctrl-${key.name}` : (key.name ?? ""));
        draw();
        if (state.end === undefined) return;
        stdin.off("keypress", onKey);
        resolve();
      };
      stdin.on("keypress", onKey);
      stdin.once("end", () => {
        state = { ...state, end: "cancelled" };
        resolve();
      });
      stdin.resume();
    });
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
  }
  if (state.end !== "confirmed") return undefined;
  return state.items.flatMap(({ isTicked }, index) => (isTicked === true ? [index] : []));
};

type Keypress = { readonly name?: string; readonly ctrl?: boolean };
