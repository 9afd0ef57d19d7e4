import type { Clock } from "../../world/world.ts";
import type { KeyEvent } from "./key-event.ts";
import { KeyReader } from "./key-reader.ts";

/** How long an escape may be the beginning of something longer. */
const escapeTimeout = 40;

/** What to hand a terminal's bytes to; it tells of keys as they come, and of a lone Esc after a moment. */
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
