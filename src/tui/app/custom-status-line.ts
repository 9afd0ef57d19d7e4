import { createChildEnvironment } from "../../policy/shell/environment.ts";
import type { World } from "../../world/world.ts";
import { sanitizeLine } from "../text/line.ts";

/** Limits of the user's command: milliseconds it may take, milliseconds between two runs, bytes and characters of its output. */
const limits = { time: 2000, interval: 1000, bytes: 4096, length: 200 };

/** Options of the user's own status line. */
export type CustomStatusLineOptions = {
  readonly world: Pick<World, "clock" | "processes" | "env">;
  /** The shell command; it gets the status as JSON on stdin and prints one line. */
  readonly command: string;
  readonly folder: string;
  readonly onChange: () => void;
  /** Receives why the command failed, the first time it does. */
  readonly onFailure: (problem: string) => void;
};

/** The user's own status line: runs their command when the status has changed, and keeps the first line it prints. */
export class CustomStatusLine {
  readonly #options: CustomStatusLineOptions;
  #text: string | undefined;
  #last = "";
  #next: string | undefined;
  #isRunning = false;
  #hasFailed = false;

  constructor(options: CustomStatusLineOptions) {
    this.#options = options;
  }

  /** The line of the last run; undefined before the first, or after one that failed. */
  get text(): string | undefined {
    return this.#text;
  }

  /** Runs the command for a new status, not more than once a second. */
  update(status: object): void {
    const json = JSON.stringify(status);
    if (json === this.#last) return;
    this.#last = json;
    this.#next = json;
    if (!this.#isRunning) void this.#runAll();
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#next !== undefined) {
      const json = this.#next;
      this.#next = undefined;
      const text = await this.#run(json).catch(() => undefined);
      const isChanged = text !== this.#text;
      this.#text = text;
      if (isChanged) this.#options.onChange();
      await this.#options.world.clock.sleep(limits.interval);
    }
    this.#isRunning = false;
  }

  #reportFailure(reason: string): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.onFailure(`The command of the setting ui.statusLine failed: ${reason}.`);
  }

  async #run(input: string): Promise<string | undefined> {
    const { world, command, folder } = this.#options;
    const running = await world.processes.start({
      file: "/bin/sh",
      args: ["-c", command],
      cwd: folder,
      env: createChildEnvironment(world.env),
      input,
      diesWithParent: true,
    });
    let isLate = false;
    const stopTimer = world.clock.after(limits.time, () => {
      isLate = true;
      running.signal("SIGKILL");
    });
    const pieces: Uint8Array[] = [];
    let length = 0;
    try {
      for await (const { from, bytes } of running.output) {
        if (from !== "output" || length >= limits.bytes) continue;
        // A copy: `slice` of a Buffer is none.
        pieces.push(Buffer.from(bytes.subarray(0, limits.bytes - length)));
        length += bytes.length;
      }
      const { code } = await running.exited;
      if (code !== 0) {
        this.#reportFailure(
          isLate ? `it took longer than ${limits.time / 1000} seconds` : `exit code ${code ?? "none"}`,
        );
        return undefined;
      }
    } finally {
      stopTimer();
    }
    const [first = ""] = Buffer.concat(pieces).toString("utf8").split("\n");
    return first.trim() === "" ? undefined : sanitizeLine(first.trim()).slice(0, limits.length);
  }
}
