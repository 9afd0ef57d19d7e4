import type { AnswerEvent } from "./decode.ts";

/** The state after something was read, and what there is to tell about it. */
export type Told<State> = readonly [State, readonly AnswerEvent[]];

/** A state that can be over: everything was said, or nothing more can be trusted. */
export type Ending = { readonly over: boolean };

/** Takes one item after another, from state to state, until there are no more or the answer is over. */
export const through = <State extends Ending, Item>(
  start: State,
  items: Iterable<Item>,
  step: (state: State, item: Item) => Told<State>,
): Told<State> => {
  let state = start;
  const events: AnswerEvent[] = [];
  for (const item of items) {
    if (state.over) break;
    const [next, more] = step(state, item);
    state = next;
    for (const event of more) events.push(event);
  }
  return [state, events];
};

/** Passes something over and says so. */
export const passOver = <State>(state: State, what: string): Told<State> => [state, [{ type: "skipped", what }]];

/** Ends the stream with one last event. */
export const stopWith = <State extends Ending>(state: State, event: AnswerEvent): Told<State> => [
  { ...state, over: true },
  [event],
];

/** Gives up: the stream contradicts itself. */
export const breakOff = <State extends Ending>(state: State, what: string): Told<State> =>
  stopWith(state, { type: "broken", what });

/** A server's word for something, short enough to repeat. */
export const shortWord = (value: unknown): string =>
  typeof value === "string" && value !== "" ? value.slice(0, 60) : "(unnamed)";
