import { toLines } from "../../text/line.ts";
import type { StyledLine, Tone } from "../../text/style.ts";
import { wrap } from "../../text/wrap.ts";
import type { FrontEnd } from "../front-ends/front-end.ts";

type MessageOutput = Pick<FrontEnd, "print" | "width">;

/** Wraps a message to the width. */
export const messageLines = (
  text: string,
  width: number,
  tone: Extract<Tone, "muted" | "error" | "warning"> = "muted",
): readonly StyledLine[] => toLines(text, { tone }).flatMap((each) => wrap(each, { width }));

/** Prints a message of the program. */
export const printInfo = (frontEnd: MessageOutput, text: string): void =>
  frontEnd.print([...messageLines(text, frontEnd.width()), []]);

/** Prints an error message. */
export const printError = (frontEnd: MessageOutput, text: string): void =>
  frontEnd.print([...messageLines(text, frontEnd.width(), "error"), []]);
