/** A user's key bindings: the chord each of their chords stands for; undefined for one that does nothing. */
export type KeyRemap = ReadonlyMap<string, string | undefined>;

/** The result of reading a file of key bindings: what is usable, and what is not. */
export type KeyFile = { readonly remap: KeyRemap; readonly problems: readonly string[] };

/**
 * Actions that can be bound, with the chord that always does them.
 *
 * @internal Exported for its tests.
 */
export const keyActions: Readonly<Record<string, string>> = {
  newline: "ctrl+j",
  "queue-after-turn": "tab",
  left: "left",
  right: "right",
  "word-left": "alt+left",
  "word-right": "alt+right",
  "line-start": "home",
  "line-end": "end",
  "text-start": "ctrl+home",
  "text-end": "ctrl+end",
  up: "up",
  down: "down",
  "history-older": "ctrl+p",
  "history-newer": "ctrl+n",
  "history-search": "ctrl+r",
  "delete-left": "backspace",
  "delete-right": "delete",
  "delete-word-left": "alt+backspace",
  "delete-word-right": "alt+d",
  "delete-to-line-start": "ctrl+u",
  "delete-to-line-end": "ctrl+k",
  yank: "ctrl+y",
  "yank-older": "alt+y",
  undo: "ctrl+_",
  redo: "alt+_",
  "open-editor": "ctrl+x",
  "paste-image": "ctrl+v",
  expand: "ctrl+o",
  "show-thinking": "alt+t",
  "approval-mode": "shift+tab",
  "next-favourite": "alt+m",
  background: "ctrl+b",
  redraw: "ctrl+l",
  suspend: "ctrl+z",
};

/** Keys that always mean the same, so that a person can send, cancel and quit whatever the file says. */
const fixedKeys: ReadonlySet<string> = new Set(["enter", "escape", "ctrl+c", "ctrl+d"]);

/** Reads key bindings: `{ "ctrl+t": "newline", "ctrl+z": null }`. An entry that is not understood is reported and left out. */
export const readKeyFile = (text: string): KeyFile => {
  const parsed = parseJson(text);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    return { remap: new Map(), problems: ['Expected an object such as { "ctrl+t": "newline" }.'] };
  const remap = new Map<string, string | undefined>();
  const problems: string[] = [];
  for (const [key, action] of Object.entries(parsed)) {
    const chord = normalizeChord(key);
    const problem = problemOf(chord, key, action, remap);
    if (problem !== undefined || chord === undefined) problems.push(problem ?? "");
    else remap.set(chord, action === null ? undefined : keyActions[String(action)]);
  }
  return { remap, problems: [...problems, ...lostActions(remap)] };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const problemOf = (chord: string | undefined, key: string, action: unknown, remap: KeyRemap): string | undefined => {
  if (chord === undefined) return `Unknown key "${key}". Write it as "ctrl+t", "alt+left" or "f5".`;
  if (fixedKeys.has(chord)) return `"${key}" cannot be bound: it always sends, cancels or quits.`;
  if (remap.has(chord)) return `"${key}" is bound twice.`;
  if (action === null || (typeof action === "string" && Object.hasOwn(keyActions, action))) return undefined;
  return `Unknown action ${JSON.stringify(action)} for "${key}". Actions: ${Object.keys(keyActions).join(", ")}.`;
};

/** Actions whose only sure key was bound to something else. */
const lostActions = (remap: KeyRemap): readonly string[] =>
  Object.entries(keyActions).flatMap(([action, chord]) => {
    if (!remap.has(chord) || remap.get(chord) === chord || [...remap.values()].includes(chord)) return [];
    return [`"${chord}" was the key of "${action}", which has none of yours now.`];
  });

/** A chord in the order terminals are read in: ctrl, alt, shift. Undefined for what is no key, or a letter alone. */
const normalizeChord = (key: string): string | undefined => {
  const parts = key
    .toLowerCase()
    .trim()
    .split(/\+(?!$)/);
  const name = parts.pop() ?? "";
  const modifiers = new Set(parts);
  if ([...modifiers].some((each) => !/^(?:ctrl|alt|shift)$/.test(each)) || modifiers.size !== parts.length)
    return undefined;
  const isNamed =
    /^(?:enter|tab|escape|backspace|delete|insert|home|end|pageup|pagedown|up|down|left|right|f\d{1,2})$/.test(name);
  const isCharacter = /^.$/u.test(name) && (modifiers.has("ctrl") || modifiers.has("alt"));
  if (!isNamed && !isCharacter) return undefined;
  return [...["ctrl", "alt", "shift"].filter((each) => modifiers.has(each)), name].join("+");
};
