import { linesOf } from "../../text/line.ts";
import { wrap } from "../../text/wrap.ts";
import type { Desk } from "../command.ts";

/** `/doctor`: what can be used from here, and what is missing. */
export const doctor = async (_: string, at: Desk): Promise<void> => {
  at.say("Looking around…");
  const report = await at.doctor();
  at.print([...linesOf(report.trimEnd()).flatMap((each) => wrap(each, { width: at.width() })), []]);
};
