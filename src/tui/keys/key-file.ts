import { nearestNames } from "../../conversation/nearest-names.ts";
import { parseLocatedSettings, type LocatedMember, type LocatedNode } from "../../policy/trust/settings-json.ts";
import { chordLabel, fixedKeys, keyActions, type KeyAction, type KeyContext } from "./actions.ts";

/** A user's keys by context: the chord each stands for; undefined for one that does nothing. */
export type KeyRemap = Readonly<Record<KeyContext, ReadonlyMap<string, string | undefined>>>;

/** The result of reading a file of key bindings: what is usable, and what is not. */
export type KeyFile = { readonly remap: KeyRemap; readonly problems: readonly string[] };

type Binding = {
  readonly chord: string;
  readonly key: string;
  /** The actions; empty if the key does nothing. */
  readonly actions: readonly KeyAction[];
  readonly line: number;
};

const contexts: readonly KeyContext[] = ["input", "list", "question"];

/**
 * Reads key bindings: `{ "ctrl+t": "newline", "ctrl+n": ["down", "list-down"], "ctrl+z": null }`, with comments. An entry
 * that is not understood is reported with its line and left out, so that its key keeps its default.
 */
export const readKeyFile = async (text: string): Promise<KeyFile> => {
  const parsed = await parseLocatedSettings(text);
  if (!parsed.ok) return { remap: createRemap([]), problems: [parsed.problem] };
  if (parsed.node.type !== "object")
    return { remap: createRemap([]), problems: ['line 1: Expected an object such as { "ctrl+t": "newline" }.'] };
  const problems: string[] = [];
  const bindings: Binding[] = [];
  for (const member of parsed.node.members) {
    const line = text.slice(0, member.start).split("\n").length;
    const binding = readBinding(member, line);
    const problem = typeof binding === "string" ? binding : conflictOf(binding, bindings);
    if (problem !== undefined) problems.push(`line ${line}: ${problem}`);
    else if (typeof binding !== "string") bindings.push(binding);
  }
  const usable = withSendKey(bindings);
  problems.push(...usable.problems);
  const remap = createRemap(usable.bindings);
  return { remap, problems: [...listActionsOnce(problems), ...lostActions(remap)] };
};

/** The keys of an action as people read them: the user's own, then the defaults that still do it. */
export const keyLabelsOf = ({ context, keys }: KeyAction, remap: KeyRemap | undefined): readonly string[] => {
  const own = [...(remap?.[context] ?? [])].flatMap(([chord, target]) => (target === keys[0] ? [chord] : []));
  return [...own, ...keys.filter((chord) => remap?.[context].has(chord) !== true)].map(chordLabel);
};

const readBinding = ({ key, value }: LocatedMember, line: number): Binding | string => {
  const chord = normalizeChord(key);
  if (chord === undefined) return `Unknown key "${key}". Write it as "ctrl+t", "alt+left" or "f5".`;
  const names = readNames(value);
  if (names === undefined) return `"${key}" must have an action, a list of actions, or null.`;
  const actions: KeyAction[] = [];
  for (const name of names) {
    const action = keyActions.find((each) => each.name === name);
    if (action === undefined) return unknownAction(name, key);
    const problem = problemOf(action, chord, key);
    if (problem !== undefined) return problem;
    if (actions.some(({ context }) => context === action.context))
      return `"${key}" has two actions in one place: "${actions.at(-1)?.name ?? ""}" and "${name}".`;
    actions.push(action);
  }
  if (actions.length === 0 && contexts.some((context) => isFixed(chord, context)))
    return `"${key}" cannot be unbound: it always sends, answers, cancels or quits.`;
  return { chord, key, actions, line };
};

const readNames = (value: LocatedNode): readonly string[] | undefined => {
  if (value.type === "value") return value.value === null ? [] : [String(value.value)];
  if (value.type !== "list" || value.items.length === 0) return undefined;
  const names = value.items.flatMap((item) => (item.type === "value" ? [String(item.value)] : []));
  return names.length === value.items.length ? names : undefined;
};

const unknownAction = (name: string, key: string): string =>
  /^(?:(?:question|list)-)?(?:yes|no|allow|answer|approve|choose|always)$/.test(name)
    ? `"${name}" for "${key}": answers have no other keys than Enter and the letters of the question, so that no key typed ahead becomes one.`
    : `Unknown action ${JSON.stringify(name)} for "${key}". ${suggestActions(name)}`;

const suggestActions = (name: string): string => {
  const names = keyActions.map((each) => each.name);
  const near = nearestNames(name, names);
  return near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `Actions: ${names.join(", ")}.`;
};

/** Replaces the list of all actions by a reference where it was shown before. */
const listActionsOnce = (problems: readonly string[]): readonly string[] => {
  const first = problems.findIndex((problem) => actionList.test(problem));
  return problems.map((problem, at) => (at > first ? problem.replace(actionList, "Actions: see above.") : problem));
};

const actionList = /Actions: send, .*$/;

const problemOf = ({ name, context, keys }: KeyAction, chord: string, key: string): string | undefined => {
  if (isFixed(chord, context) && keys[0] !== chord)
    return `"${key}" cannot be bound to "${name}": it always sends, answers, cancels or quits.`;
  // Keys that are part of writing must not open a question in the middle of it.
  if (name === "answer-now" && !/^(?:ctrl|alt)\+|^f\d/.test(chord))
    return `"${key}" cannot be bound to "answer-now": use a key with Ctrl or Alt, or a function key.`;
  return undefined;
};

const isFixed = (chord: string, context: KeyContext): boolean => fixedKeys[context].has(chord);

const conflictOf = ({ chord, key }: Binding, before: readonly Binding[]): string | undefined => {
  const other = before.find((each) => each.chord === chord);
  return other === undefined ? undefined : `"${key}" is already bound in line ${other.line}.`;
};

/** Leaves out a binding of Enter unless another key sends. */
const withSendKey = (
  bindings: readonly Binding[],
): { readonly bindings: readonly Binding[]; readonly problems: readonly string[] } => {
  const sends = ({ actions }: Binding): boolean => actions.some(({ name }) => name === "send");
  const enter = bindings.find((each) => each.chord === "enter" && !sends(each));
  if (enter === undefined || bindings.some((each) => each.chord !== "enter" && sends(each)))
    return { bindings, problems: [] };
  return {
    bindings: bindings.filter((each) => each !== enter),
    problems: [`line ${enter.line}: "${enter.key}" can be bound only if another key is bound to "send".`],
  };
};

const createRemap = (bindings: readonly Binding[]): KeyRemap => {
  const mapOf = (context: KeyContext): ReadonlyMap<string, string | undefined> =>
    new Map(
      bindings.flatMap(({ chord, actions }): readonly (readonly [string, string | undefined])[] => {
        const action = actions.find((each) => each.context === context);
        if (action !== undefined) return [[chord, action.keys[0]]];
        return actions.length === 0 && !isFixed(chord, context) ? [[chord, undefined]] : [];
      }),
    );
  return { input: mapOf("input"), list: mapOf("list"), question: mapOf("question") };
};

/** Actions that have no key left. */
const lostActions = (remap: KeyRemap): readonly string[] =>
  keyActions
    .filter((action) => keyLabelsOf(action, remap).length === 0)
    .map(({ name, keys }) => `"${name}" has no key any more (default: ${keys.join(", ")}).`);

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
