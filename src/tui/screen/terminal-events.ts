import type { Terminal, TerminalEvent } from "../../world/terminal.ts";
import type { Screen } from "./screen.ts";

/** Who wants to know what the terminal tells, besides the screen. */
export type TerminalListener = {
  readonly input: (bytes: Uint8Array) => void;
  /** The person is gone, or the program is asked to go: keep what must be kept, then end. */
  readonly quit: (reason: "hang-up" | "terminate") => void;
};

/** Keeps a screen right as its terminal is resized, stopped and continued, and hands keys on. Returns how to stop that. */
export const handleTerminalEvents = (
  { terminal, screen }: { readonly terminal: Terminal; readonly screen: Screen },
  listener: TerminalListener,
): (() => void) =>
  terminal.listen((event: TerminalEvent) => {
    switch (event.type) {
      case "input":
        return listener.input(event.bytes);
      case "resize":
        return screen.update();
      case "continue":
        return screen.resume();
      case "hang-up":
      case "terminate":
        return listener.quit(event.type);
    }
  });

/** What Ctrl-Z does: gives the terminal back and stops. Continuing draws the live lines anew. */
export const suspendProcess = async ({
  terminal,
  screen,
}: {
  readonly terminal: Terminal;
  readonly screen: Screen;
}): Promise<void> => {
  await screen.suspend();
  terminal.suspend();
};
