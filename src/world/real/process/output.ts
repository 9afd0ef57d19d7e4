import type { ChildProcess } from "node:child_process";
import { Socket } from "node:net";
import type { RunningProcess } from "../../processes.ts";

/** Bytes buffered before the reader asks for them. */
const maxBufferedBytes = 2 ** 18;

/** Turns of the event loop without a byte after which a flowing pipe counts as empty. */
const emptyLoopTurns = 3;

/** Merges stdout and stderr in order of arrival, with backpressure while the output is not read. */
export const readOutput = (child: ChildProcess): Pick<RunningProcess, "output" | "exited"> => {
  const pieces = new OutputReader(child);
  const exited = new Promise<Awaited<RunningProcess["exited"]>>((resolve) => {
    child.once("exit", (code, signal) => {
      pieces.end();
      resolve({ code: code ?? undefined, signal: signal ?? undefined });
    });
  });
  return { output: pieces.read(), exited: pieces.wasRead.then(() => exited) };
};

type OutputChunk = { readonly from: "output" | "error"; readonly bytes: Uint8Array };

class OutputReader {
  readonly wasRead: Promise<void>;
  readonly #pipes: readonly Socket[];
  readonly #queue: OutputChunk[] = [];
  #held = 0;
  #hasEnded = false;
  #isWanted = true;
  readonly #discard = createBufferReleaser();
  #finish: () => void = () => undefined;
  #wake: () => void = () => undefined;

  constructor({ stdout, stderr }: ChildProcess) {
    this.wasRead = new Promise((resolve) => (this.#finish = resolve));
    const pipes = [
      { pipe: stdout, from: "output" },
      { pipe: stderr, from: "error" },
    ] as const;
    this.#pipes = pipes.flatMap(({ pipe, from }) => {
      if (!(pipe instanceof Socket)) return [];
      pipe.on("data", (bytes: Uint8Array) => this.#take({ from, bytes }));
      pipe.on("error", () => undefined);
      pipe.on("close", () => this.#wake());
      return [pipe.pause()];
    });
  }

  end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  async *read(): AsyncGenerator<OutputChunk> {
    try {
      for (;;) {
        this.#flow();
        const piece = this.#queue.shift();
        if (piece !== undefined) {
          this.#held -= piece.bytes.length;
          yield piece;
          this.#discard(piece.bytes);
        } else if (this.#pipes.every((pipe) => pipe.closed)) return;
        else if (this.#hasEnded) {
          // A chunk that arrives meanwhile is in the queue already: nothing wakes us for it again.
          if (await this.#staysEmpty()) return;
        } else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.#letGo();
    }
  }

  #take(piece: OutputChunk): void {
    if (!this.#isWanted) return this.#discard(piece.bytes);
    this.#queue.push(piece);
    this.#held += piece.bytes.length;
    if (this.#held >= maxBufferedBytes) for (const pipe of this.#pipes) pipe.pause();
    this.#wake();
  }

  #flow(): void {
    if (this.#held < maxBufferedBytes) for (const pipe of this.#pipes) pipe.resume();
  }

  /** All a program wrote is in its pipes when it exits, so once they are empty only its descendants can write more. */
  async #staysEmpty(): Promise<boolean> {
    for (let round = 0; round < emptyLoopTurns; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#queue.length > 0) return false;
    }
    return true;
  }

  #letGo(): void {
    this.#isWanted = false;
    this.#queue.length = 0;
    this.#held = 0;
    this.#flow();
    for (const pipe of this.#pipes) pipe.unref();
    this.#finish();
  }
}

/**
 * Returns a function that frees a buffer at once. Every chunk has memory of its own, and a program can print hundreds
 * of megabytes before garbage collection; transferring a buffer to a closed port frees it.
 */
const createBufferReleaser = (): ((bytes: Uint8Array) => void) => {
  const { port1: nowhere } = new MessageChannel();
  nowhere.close();
  return ({ buffer, byteLength }) => {
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) nowhere.postMessage(undefined, [buffer]);
  };
};
