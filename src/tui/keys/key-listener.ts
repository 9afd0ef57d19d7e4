import type { Clock } from "../../world/world.ts";
import type { KeyEvent } from "./key-event.ts";
import { KeyReader } from "./key-reader.ts";

/** Milliseconds an escape may be the start of a longer sequence. */
const escapeTimeout = 40;

/** Creates a handler for a terminal's bytes that reports keys, and a lone Esc after a timeout. */
export const createKeyListener = (clock: Clock, hear: (event: KeyEvent) => void): ((bytes: Uint8Array) => void) => {
  const reader = new KeyReader();
  let stopWaiting = (): void => {};
  return (bytes) => {
    stopWaiting();
    for (const event of reader.read(bytes)) hear(event);
    if (!reader.hasPending) return;
    stopWaiting = clock.after(escapeTimeout, () => {
      for (const event of reader.flush()) hear(event);
    });
  };
};
