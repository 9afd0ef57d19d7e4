import { writeSync } from "node:fs";
import type { Terminal, TerminalEvent } from "./terminal.ts";

/** The terminal this process was started in, or undefined when there is none. */
export const realTerminal = (): Terminal | undefined => {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) return undefined;
  let farewell: (() => string) | undefined;
  let isRaw = false;
  const sayFarewell = (): void => {
    const text = farewell?.() ?? "";
    setRaw(false);
    if (text !== "") writeWhole(stdout.fd, text);
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
      listenTo((event) => {
        // The shell has set the terminal as it likes it; Node only sets what it believes to be different.
        if (event.type === "continue" && isRaw) for (const raw of [false, true]) stdin.setRawMode(raw);
        listener(event);
      }),
    atEnd: (next) => {
      if (farewell === undefined && next !== undefined) process.on("exit", sayFarewell);
      if (next === undefined) process.off("exit", sayFarewell);
      farewell = next;
    },
    stop: () => process.kill(0, "SIGTSTP"),
  };
};

const listenTo = (listener: (event: TerminalEvent) => void): (() => void) => {
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

/** At the end of a process nothing waits for a stream, so this writes to the terminal itself. */
const writeWhole = (fd: number, text: string): void => {
  let rest = Buffer.from(text);
  for (let tries = 0; rest.length > 0 && tries < 100; tries++)
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
    }
};
