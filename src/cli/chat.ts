import { isatty } from "node:tty";
import type { Run } from "./commands.ts";

/** `parley`: the interface where there is a terminal, otherwise one task. */
export const chat: Run = async (given) => {
  const isHeadless =
    given.has("prompt") || !isatty(0) || !isatty(1) || given.has("output-format") || given.has("input-format");
  if (isHeadless) return (await import("./headless.ts")).headless(given);
  return (await import("./terminal.ts")).terminal(given);
};
