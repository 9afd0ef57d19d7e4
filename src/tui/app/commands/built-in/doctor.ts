import { toLines } from "../../../text/line.ts";
import { wrap } from "../../../text/wrap.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/doctor`: checks which providers and programs are usable. */
export const showDoctor = async (_: string, at: SlashCommandContext): Promise<void> => {
  at.info("Checking…");
  const report = await at.doctor();
  at.print([...toLines(report.trimEnd()).flatMap((each) => wrap(each, { width: at.width() })), []]);
};
