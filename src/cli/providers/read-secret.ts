import { isatty } from "node:tty";

/** Reads one line from the terminal or a pipe. At a terminal, what is typed or pasted is not shown. */
export const readSecret = async (question: string): Promise<string> => {
  if (!isatty(0)) return (await readPipe()).split("\n", 1)[0]?.trim() ?? "";
  hideInput();
  process.stderr.write(question);
  const { stdin } = process;
  try {
    return await readHiddenLine();
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    process.stderr.write("\n");
  }
};

/** Stops a terminal from showing what is typed, before the question is there: people paste early. */
export const hideInput = (): void => {
  if (isatty(0)) process.stdin.setRawMode(true);
};

/** Asks for one line at the terminal. */
export const askLine = async (question: string): Promise<string> => {
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const left = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  try {
    return await Promise.race([terminal.question(question), left]);
  } finally {
    terminal.close();
  }
};

const readPipe = async (): Promise<string> => {
  let text = "";
  for await (const chunk of process.stdin) text += String(chunk);
  return text;
};

/** Reads raw bytes until Enter. Ctrl-C and Ctrl-D give nothing; escape sequences such as bracketed paste are left out. */
const readHiddenLine = (): Promise<string> =>
  new Promise((resolve) => {
    let line = "";
    const onData = (chunk: Buffer): void => {
      // oxlint-disable-next-line no-control-regex -- control characters are keys of the terminal, not part of a secret.
      for (const letter of String(chunk).replaceAll(/\u001b\[[0-9;]*[~A-Za-z]/g, "")) {
        if (letter === "\u0003" || letter === "\u0004") return end("");
        if (letter === "\r" || letter === "\n") return end(line.trim());
        line = letter === "\u007f" || letter === "\b" ? line.slice(0, -1) : line + letter;
      }
    };
    const end = (text: string): void => {
      process.stdin.off("data", onData);
      resolve(text);
    };
    process.stdin.on("data", onData);
    // A question before this one has paused it.
    process.stdin.resume();
  });
