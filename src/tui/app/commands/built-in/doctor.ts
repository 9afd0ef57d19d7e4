import { toLines } from "../../../text/line.ts";
import { wrap } from "../../../text/wrap.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/doctor`: checks which providers and programs are usable. */
export const showDoctor = async (_: string, at: SlashCommandContext): Promise<void> => {
  const report = await at.runWork({ label: "Checking providers and programs" }, async (signal) => {
    const output = await at.parley(["doctor"], signal);
    signal.throwIfAborted();
    return output;
  });
  at.print([...toLines(report.trimEnd()).flatMap((each) => wrap(each, { width: at.width() })), []]);
};
