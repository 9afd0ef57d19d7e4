import type { ResponseEvent } from "./events.ts";

/** The state after a step, and the events it emitted. */
export type StepResult<State> = readonly [State, readonly ResponseEvent[]];

/** A state that can end: the response is complete, or the rest cannot be trusted. */
export type EndableState = { readonly over: boolean };

/** Folds items one after another until there are no more or the stream has ended. */
export const foldItems = <State extends EndableState, Item>(
  start: State,
  items: Iterable<Item>,
  step: (state: State, item: Item) => StepResult<State>,
): StepResult<State> => {
  let state = start;
  const events: ResponseEvent[] = [];
  for (const item of items) {
    if (state.over) break;
    const [next, more] = step(state, item);
    state = next;
    for (const event of more) events.push(event);
  }
  return [state, events];
};

/** Skips something and emits an event for it. */
export const skip = <State>(state: State, what: string): StepResult<State> => [state, [{ type: "skipped", what }]];

/** Ends the stream with one last event. */
export const endWith = <State extends EndableState>(state: State, event: ResponseEvent): StepResult<State> => [
  { ...state, over: true },
  [event],
];

/** Ends the stream because it violates its protocol. */
export const fail = <State extends EndableState>(state: State, what: string): StepResult<State> =>
  endWith(state, { type: "malformed", what });

/** Shortens a name a server used, so that it can be quoted. */
export const shortName = (value: unknown): string =>
  typeof value === "string" && value !== "" ? value.slice(0, 60) : "(unnamed)";
