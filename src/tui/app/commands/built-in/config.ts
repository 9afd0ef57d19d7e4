import { toLines } from "../../../text/line.ts";
import { wrap } from "../../../text/wrap.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/config`: shows settings, or changes one of the user's file: `/config model`, `/config ui.theme dark`. */
export const showConfig = async (words: string, at: SlashCommandContext): Promise<void> => {
  const [path, ...value] = words.split(/\s+/).filter((word) => word !== "");
  const args = path === undefined ? ["list"] : value.length === 0 ? ["get", path] : ["set", path, value.join(" ")];
  const text = (await at.parley(["config", ...args])).trimEnd();
  if (text !== "") at.print([...toLines(text).flatMap((each) => wrap(each, { width: at.width() })), []]);
  else if (value.length > 0) at.info(`Set ${path ?? ""}. Used from the next session (/new).`);
};
