import type { Terminal, TerminalEvent } from "../../world/terminal.ts";
import type { Screen } from "./screen.ts";

/** Listener for terminal events that do not concern the screen. */
export type TerminalListener = {
  readonly input: (bytes: Uint8Array) => void;
  /** The terminal is gone, or the program was asked to end: save and quit. */
  readonly quit: (reason: "hang-up" | "terminate") => void;
};

/** Updates the screen on resize and continue, and passes input on. Returns a function that stops listening. */
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

/** Ctrl-Z: restores the terminal and stops the process. Continuing redraws the live part. */
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
