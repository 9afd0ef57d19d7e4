import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { delimiter, isAbsolute, resolve } from "node:path";
import { createChildEnvironment } from "../../policy/shell/environment.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { RunningProcess } from "../../world/processes.ts";
import type { World } from "../../world/world.ts";
import type { ServerEndpoint } from "../config/read-servers.ts";
import { FrameReader, type StdioFrame } from "./frames.ts";
import { Throttle } from "./throttle.ts";

type StdioEndpoint = Extract<ServerEndpoint, { type: "stdio" }>;

/** A transport that knows the server's recent stderr output. */
export type StdioServerTransport = Transport & { readonly recentStderr: () => string };

export type StdioOptions = {
  readonly world: Pick<World, "processes" | "disk" | "env" | "clock">;
  readonly endpoint: StdioEndpoint;
  /** The default working directory. */
  readonly root: string;
};

/** Creates a transport over stdin and stdout of a program, which ends when this process does. */
export const createStdioTransport = (options: StdioOptions): StdioServerTransport => new StdioTransport(options);

type FrameFault = Extract<StdioFrame, { readonly fault: string }>;

/** Invalid lines of output before a server is stopped: some print a greeting. */
const maxFaults = 1000;

/** Milliseconds a server may take to exit by itself, and after SIGTERM. */
const stopTimeouts = { quietly: 400, told: 400 };

/** Characters kept of stderr. */
const maxStderr = 4000;

class StdioTransport implements StdioServerTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioOptions;
  #running: RunningProcess | undefined;
  #words = "";
  #closing: Promise<void> | undefined;
  #faults = 0;
  /** Requests that are not answered yet. */
  readonly #pending = new Set<string | number>();

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  recentStderr = (): string => sanitizeForTerminal(this.#words).trim();

  async start(): Promise<void> {
    if (this.#closing !== undefined) throw new Error("The connection is closed.");
    const running = await startServer(this.#options);
    this.#running = running;
    // Closed while it started: the process did not exist yet when `close` ran.
    if (this.#closing !== undefined) {
      await stopProcess(running, this.#options.world.clock);
      throw new Error("The connection is closed.");
    }
    void this.#listen(running);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#running === undefined || this.#closing !== undefined) throw new Error("The server has ended.");
    if ("id" in message && "method" in message) this.#pending.add(message.id);
    await this.#running.write(Buffer.from(`${JSON.stringify(message)}\n`));
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    const running = this.#running;
    if (running !== undefined) await stopProcess(running, this.#options.world.clock);
    this.onclose?.();
  }

  async #listen(running: RunningProcess): Promise<void> {
    const frames = new FrameReader();
    const throttle = new Throttle(this.#options.world.clock);
    for await (const { from, bytes } of running.output) {
      if (from === "error") this.#words = (this.#words + Buffer.from(bytes).toString("utf8")).slice(-maxStderr);
      else
        for (const frame of frames.add(bytes)) {
          if (this.#closing !== undefined) break;
          if ("message" in frame && "id" in frame.message && !("method" in frame.message))
            this.#pending.delete(frame.message.id as string | number);
          if ("fault" in frame) this.#complain(frame);
          else if ("id" in frame.message || !throttle.shouldDrop()) this.onmessage?.(frame.message as JSONRPCMessage);
          if ("message" in frame && "method" in frame.message && "id" in frame.message)
            await throttle.take({ messages: 1 });
        }
      await throttle.take({ bytes: bytes.length });
    }
    await this.close();
  }

  /**
   * An unreadable response fails its request at once; where the request is unknown and the line has ended, all pending
   * ones.
   */
  #complain({ fault, id, isOpen }: FrameFault): void {
    const [only] = this.#pending;
    const known = id ?? (this.#pending.size === 1 && isOpen === true ? only : undefined);
    const isLong = fault.startsWith("a message");
    const failed = known !== undefined ? [known] : isLong && isOpen !== true ? [...this.#pending] : [];
    for (const each of failed) {
      if (!this.#pending.delete(each)) continue;
      this.onmessage?.({ jsonrpc: "2.0", id: each, error: { code: -32_603, message: `It sent ${fault}.` } });
    }
    this.#faults += 1;
    this.onerror?.(new Error(`It sent ${fault}.`));
    if (this.#faults > maxFaults) void this.close();
  }
}

const startServer = async ({ world, endpoint, root }: StdioOptions): Promise<RunningProcess> => {
  const folder = resolve(root, endpoint.cwd ?? ".");
  const canonical = await world.disk.canonicalPath(folder);
  if (canonical === undefined) throw new Error(`Folder not found: ${folder} to start the server in.`);
  const env = { ...createChildEnvironment(world.env), ...endpoint.env };
  const file = await findProgram(endpoint.command, { world, folder: canonical, path: env["PATH"] ?? "" });
  return world.processes.start({ file, args: endpoint.args, cwd: canonical, env, isInteractive: true });
};

type ProgramSearch = { readonly world: Pick<World, "processes">; readonly folder: string; readonly path: string };

/** A name alone is looked up on the search path; anything else is a path relative to the working directory. */
const findProgram = async (command: string, { world, folder, path }: ProgramSearch): Promise<string> => {
  if (isAbsolute(command)) return command;
  if (/[/\\]/.test(command)) return resolve(folder, command);
  const found = await world.processes.find(command, path);
  if (found === undefined)
    throw new Error(`Program not found: ${command}. Searched ${path.split(delimiter).join(" ")}.`);
  return found;
};

/** Closes stdin and waits; then SIGTERM, and waits; then SIGKILL for the whole group. */
const stopProcess = async (running: RunningProcess, clock: World["clock"]): Promise<void> => {
  running.closeInput();
  const within = (ms: number): Promise<boolean> =>
    new Promise((resolve) => {
      const inTime = clock.after(ms, () => resolve(false));
      void running.exited.then(() => resolve(true)).finally(inTime);
    });
  if (!(await within(stopTimeouts.quietly))) {
    running.signal("SIGTERM");
    await within(stopTimeouts.told);
  }
  running.signal("SIGKILL");
};
