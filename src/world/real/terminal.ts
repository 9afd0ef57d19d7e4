import { closeSync, openSync, writeSync } from "node:fs";
import { isatty } from "node:tty";
import type { Terminal, TerminalEvent } from "../terminal.ts";

/** The terminal this process was started in, or undefined when there is none. */
export const realTerminal = (): Terminal | undefined => {
  const { stdin, stdout, stderr } = process;
  if (!stdin.isTTY || !stdout.isTTY) return undefined;
  let isGone = false;
  const onHangUp = (): void => {
    if (!isGone) process.on("exit", detachFromTerminal);
    isGone = true;
  };
  // For as long as the process lives: an error that nobody hears would end it before it has kept what must be kept.
  for (const stream of [stdin, stdout, stderr]) stream.on("error", onHangUp);
  process.on("SIGHUP", onHangUp);
  let farewell: (() => string) | undefined;
  let isRaw = false;
  const sayFarewell = (): void => {
    const text = farewell?.() ?? "";
    setRaw(false);
    if (text !== "") writeAllSync(stdout.fd, text);
  };
  const setRaw = (raw: boolean): void => {
    if (isRaw !== raw && !stdin.destroyed) stdin.setRawMode(raw);
    isRaw = raw;
  };
  return {
    size: () => {
      const [columns, rows] = stdout.getWindowSize();
      return { columns: columns || 80, rows: rows || 24 };
    },
    write: (text) =>
      new Promise((resolve) => {
        // A terminal that is gone takes nothing more; the hang-up tells.
        stdout.write(text, () => resolve());
      }),
    setRaw,
    listen: (listener) =>
      listenToTerminal((event) => {
        // The shell has set the terminal as it likes it; Node only sets what it believes to be different.
        if (event.type === "continue" && isRaw) for (const raw of [false, true]) stdin.setRawMode(raw);
        listener(event);
      }),
    onExit: (next) => {
      if (farewell === undefined && next !== undefined) process.on("exit", sayFarewell);
      if (next === undefined) process.off("exit", sayFarewell);
      farewell = next;
    },
    suspend: () => process.kill(0, "SIGTSTP"),
  };
};

const listenToTerminal = (listener: (event: TerminalEvent) => void): (() => void) => {
  const { stdin, stdout } = process;
  const onInput = (bytes: Buffer): void => listener({ type: "input", bytes });
  const onHangUp = (): void => listener({ type: "hang-up" });
  const heard = [
    [stdin, "data", onInput],
    [stdin, "end", onHangUp],
    [stdin, "error", onHangUp],
    [stdout, "error", onHangUp],
    [stdout, "resize", () => listener({ type: "resize" })],
    [process, "SIGCONT", () => listener({ type: "continue" })],
    // Where keys are not told one by one, this key comes as a signal.
    [process, "SIGINT", () => listener({ type: "input", bytes: Uint8Array.of(3) })],
    [process, "SIGHUP", onHangUp],
    [process, "SIGTERM", () => listener({ type: "terminate" })],
  ] as const;
  for (const [emitter, name, hear] of heard) emitter.on(name, hear);
  // Once paused, it does not go on by itself.
  stdin.resume();
  return () => {
    for (const [emitter, name, hear] of heard) emitter.off(name, hear);
    stdin.pause();
  };
};

/**
 * Puts nothing in place of a terminal that is gone. At its end Node sets the terminal of its standard streams as it found
 * it, and aborts where the system refuses that; streams that are no longer that terminal are passed over.
 */
const detachFromTerminal = (): void => {
  for (const fd of [0, 1, 2])
    try {
      if (isatty(fd)) continue;
      closeSync(fd);
      // The system gives the lowest number that is free: the one just closed.
      openSync("/dev/null", "r+");
    } catch {
      // Closed by somebody else before.
    }
};

/** At the end of a process nothing waits for a stream, so this writes to the terminal itself. */
const writeAllSync = (fd: number, text: string): void => {
  let rest = Buffer.from(text);
  for (let tries = 0; rest.length > 0 && tries < 100; tries++)
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
    }
};
