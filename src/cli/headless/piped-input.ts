import { fstatSync, readFileSync } from "node:fs";
import { UserError } from "../user-error.ts";

/** How long a pipe may be silent before nobody is taken to write to it, in milliseconds. */
const silenceTimeoutMs = 3000;

/**
 * All that was piped in. Programs that start others often leave the input open and say nothing: where there is something
 * to do without it, a pipe that stays silent is not waited for any longer, and the person is told.
 */
export const readPipedInput = async (isNeeded: boolean): Promise<string> => {
  const input = fstatSync(0);
  if (!input.isFIFO() && !input.isSocket()) return readFile();
  const { stdin } = process;
  if (!isNeeded && !(await hasInput(stdin))) {
    process.stderr.write(
      `parley: nothing was piped in for ${silenceTimeoutMs / 1000} seconds, so it is left out. < /dev/null says so at once.\n`,
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

/** Whether something comes, or the end. */
const hasInput = (stdin: NodeJS.ReadStream): Promise<boolean> =>
  new Promise((resolve) => {
    const late = setTimeout(() => resolve(false), silenceTimeoutMs);
    stdin.once("readable", () => {
      clearTimeout(late);
      resolve(true);
    });
  });
