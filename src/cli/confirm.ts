import { isatty } from "node:tty";

/** Whether the user can be asked: stdin and stderr are terminals. */
export const canPrompt = (): boolean => isatty(0) && isatty(2);

/** Asks a yes/no question at the terminal. Anything but yes is no. */
export const confirm = async (question: string): Promise<boolean> => {
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // A closed input is no.
  const left = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  try {
    return /^y(es)?$/i.test((await Promise.race([terminal.question(`${question} [y/N] `), left])).trim());
  } finally {
    terminal.close();
  }
};
