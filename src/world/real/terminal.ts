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
  // For the life of the process: an unhandled stream error would end it before the session is saved.
  for (const stream of [stdin, stdout, stderr]) stream.on("error", onHangUp);
  process.on("SIGHUP", onHangUp);
  let exitText: (() => string) | undefined;
  let isRaw = false;
  const writeExitText = (): void => {
    const text = exitText?.() ?? "";
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
        // A closed terminal accepts nothing more; the hang-up event reports it.
        stdout.write(text, () => resolve());
      }),
    setRaw,
    listen: (listener) =>
      listenToTerminal((event) => {
        // The shell has changed the terminal's mode; Node only sets what it believes to be different.
        if (event.type === "continue" && isRaw) for (const raw of [false, true]) stdin.setRawMode(raw);
        listener(event);
      }),
    onExit: (next) => {
      if (exitText === undefined && next !== undefined) process.on("exit", writeExitText);
      if (next === undefined) process.off("exit", writeExitText);
      exitText = next;
    },
    suspend: () => process.kill(0, "SIGTSTP"),
  };
};

const listenToTerminal = (listener: (event: TerminalEvent) => void): (() => void) => {
  const { stdin, stdout } = process;
  const onInput = (bytes: Buffer): void => listener({ type: "input", bytes });
  const onHangUp = (): void => listener({ type: "hang-up" });
  const listeners = [
    [stdin, "data", onInput],
    [stdin, "end", onHangUp],
    [stdin, "error", onHangUp],
    [stdout, "error", onHangUp],
    [stdout, "resize", () => listener({ type: "resize" })],
    [process, "SIGCONT", () => listener({ type: "continue" })],
    // When the terminal is not in raw mode, Ctrl-C arrives as a signal.
    [process, "SIGINT", () => listener({ type: "input", bytes: Uint8Array.of(3) })],
    [process, "SIGHUP", onHangUp],
    [process, "SIGTERM", () => listener({ type: "terminate" })],
  ] as const;
  for (const [emitter, name, handler] of listeners) emitter.on(name, handler);
  // A paused stream does not resume by itself.
  stdin.resume();
  return () => {
    for (const [emitter, name, handler] of listeners) emitter.off(name, handler);
    stdin.pause();
  };
};

/**
 * Replaces the standard streams of a closed terminal by /dev/null. On exit Node resets the terminal of its standard
 * streams, and aborts where the system refuses that; streams that are no longer that terminal are skipped.
 */
const detachFromTerminal = (): void => {
  for (const fd of [0, 1, 2])
    try {
      if (isatty(fd)) continue;
      closeSync(fd);
      // The system assigns the lowest free descriptor: the one just closed.
      openSync("/dev/null", "r+");
    } catch {
      // Already closed.
    }
};

/** Nothing waits for a stream when a process exits, so this writes to the terminal synchronously. */
const writeAllSync = (fd: number, text: string): void => {
  let rest = Buffer.from(text);
  for (let tries = 0; rest.length > 0 && tries < 100; tries++)
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
    }
};
