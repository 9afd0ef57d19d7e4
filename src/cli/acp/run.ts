import { AcpServer } from "../../acp/server.ts";
import { LineReader, maxLineBytes } from "../../acp/line-reader.ts";
import type { CommandHandler } from "../command.ts";

/** `parley acp`: serves an editor on stdin and stdout until the input ends. */
export const runAcp: CommandHandler = async (args, commands) => {
  if (args.has("login")) return (await import("../providers/login.ts")).login(args, commands);
  const write = claimStdout();
  const server = new AcpServer(write, async () => (await import("./host.ts")).createHost(args));
  const { connection } = server;
  const lines = new LineReader({
    onLine: (line) => connection.receive(line),
    onTooLong: () => connection.refuseLine(`A message may have at most ${maxLineBytes} bytes.`),
  });
  await readInput((bytes) => lines.add(bytes));
  lines.end();
  await server.close();
  return 0;
};

/** Makes stdout ours: what any other code prints goes to stderr. Returns the function that writes to stdout. */
const claimStdout = (): ((line: string) => void) => {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  // The end of the input ends the program, also where the editor is gone: a failed write does not.
  for (const stream of [stdout, stderr]) stream.removeAllListeners("error").on("error", () => undefined);
  return (line) => void (stdout.destroyed || write(line));
};

/** Reads stdin until it ends, or until a signal asks to leave. */
const readInput = (onBytes: (bytes: Uint8Array) => void): Promise<void> =>
  new Promise((resolve) => {
    const { stdin } = process;
    const leave = (): void => {
      stdin.destroy();
      resolve();
    };
    stdin.on("data", onBytes);
    for (const event of ["end", "close", "error"]) stdin.once(event, leave);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, leave);
  });
