import { fstatSync, readFileSync } from "node:fs";
import { UserError } from "../user-error.ts";

/** How long to wait for the first byte on a pipe, in milliseconds. */
const silenceTimeoutMs = 3000;

/**
 * Reads all piped input. Programs often start others with an open pipe they never write to: if the input is not
 * needed, a pipe that stays silent until the timeout is ignored, with a message on stderr.
 */
export const readPipedInput = async (isNeeded: boolean): Promise<string> => {
  const input = fstatSync(0);
  if (!input.isFIFO() && !input.isSocket()) return readFile();
  const { stdin } = process;
  if (!isNeeded && !(await hasInput(stdin))) {
    process.stderr.write(
      `parley: No piped input for ${silenceTimeoutMs / 1000} seconds, ignoring the pipe. Use < /dev/null to skip the wait.\n`,
    );
    stdin.destroy();
    return "";
  }
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
};

const readFile = (): string => {
  try {
    return readFileSync(0, "utf8");
  } catch (error) {
    throw new UserError(`Cannot read the input: ${error instanceof Error ? error.message : String(error)}.`);
  }
};

/** Resolves to true once there is input or its end, and to false after the timeout. */
const hasInput = (stdin: NodeJS.ReadStream): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), silenceTimeoutMs);
    stdin.once("readable", () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
