import type { ResponseEvent } from "./events.ts";

/** The state after something was read, and what there is to tell about it. */
export type StepResult<State> = readonly [State, readonly ResponseEvent[]];

/** A state that can be over: everything was said, or nothing more can be trusted. */
export type EndableState = { readonly over: boolean };

/** Takes one item after another, from state to state, until there are no more or the answer is over. */
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

/** Passes something over and says so. */
export const skip = <State>(state: State, what: string): StepResult<State> => [state, [{ type: "skipped", what }]];

/** Ends the stream with one last event. */
export const endWith = <State extends EndableState>(state: State, event: ResponseEvent): StepResult<State> => [
  { ...state, over: true },
  [event],
];

/** Gives up: the stream contradicts itself. */
export const fail = <State extends EndableState>(state: State, what: string): StepResult<State> =>
  endWith(state, { type: "broken", what });

/** A server's word for something, short enough to repeat. */
export const shortName = (value: unknown): string =>
  typeof value === "string" && value !== "" ? value.slice(0, 60) : "(unnamed)";
