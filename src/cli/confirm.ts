import { isatty } from "node:tty";

/** Whether somebody sits at a terminal who can be asked. */
export const canPrompt = (): boolean => isatty(0) && isatty(2);

/** Asks the person at the terminal. Whatever is not a clear yes is a no. */
export const confirm = async (question: string): Promise<boolean> => {
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Whoever closes the input, or stops the program, has not answered.
  const left = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  try {
    return /^y(es)?$/i.test((await Promise.race([terminal.question(`${question} [y/N] `), left])).trim());
  } finally {
    terminal.close();
  }
};
