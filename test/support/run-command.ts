import { Readable, Writable } from "node:stream";
import { runProgram } from "../../src/cli/program.ts";
import type { Ran } from "../built.ts";

/** How a command is run. `env` is the whole environment; without it, the one of the tests. */
export type CommandOptions = {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
};

/**
 * Runs a command inside this process, with its own folder, environment and standard streams. A process of its own takes
 * a hundred times as long: start one where signals, pipes, a terminal or the package are the point.
 */
export const runCommand = (args: readonly string[], options: CommandOptions): Promise<Ran> => {
  // Folder and environment belong to the process, so commands take turns.
  const ran = previous.then(() => run(args, options));
  previous = ran.catch(() => undefined);
  return ran;
};

let previous: Promise<unknown> = Promise.resolve();

const run = async (args: readonly string[], { cwd, env, input = "" }: CommandOptions): Promise<Ran> => {
  const [out, err] = [captureStream(), captureStream()];
  const restore = [
    changeFolder(cwd),
    ...(env === undefined ? [] : [replaceEnvironment(env)]),
    replaceStream("stdin", Readable.from(input === "" ? [] : [Buffer.from(input)])),
    replaceStream("stdout", out.stream),
    replaceStream("stderr", err.stream),
  ];
  try {
    return { code: await runProgram(args), out: out.text(), err: err.text() };
  } finally {
    for (const step of restore.toReversed()) step();
  }
};

const changeFolder = (folder: string): (() => void) => {
  const before = process.cwd();
  process.chdir(folder);
  return () => process.chdir(before);
};

/** Changes the variables in place, as libraries and the time zone read the environment of the process itself. */
const replaceEnvironment = (env: Readonly<Record<string, string | undefined>>): (() => void) => {
  const before = { ...process.env };
  setEnvironment(env);
  return () => setEnvironment(before);
};

const setEnvironment = (env: Readonly<Record<string, string | undefined>>): void => {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
};

const replaceStream = (name: "stdin" | "stdout" | "stderr", value: Readable | Writable): (() => void) => {
  const before = Object.getOwnPropertyDescriptor(process, name)!;
  Object.defineProperty(process, name, { value, configurable: true });
  return () => void Object.defineProperty(process, name, before);
};

const captureStream = (): { readonly stream: Writable; readonly text: () => string } => {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
};
