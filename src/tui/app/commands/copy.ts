import type { Desk } from "../command.ts";

/** `/copy`: the last answer, to the clipboard of the terminal. */
export const copy = async (_: string, at: Desk): Promise<void> => {
  const { entries } = at.opened().agent.conversation();
  const answers = entries.flatMap((entry) =>
    entry.type === "model" ? [entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")] : [],
  );
  const last = answers.findLast((each) => each.trim() !== "");
  if (last === undefined) return at.say("There is no answer yet.");
  await at.copy(last);
  at.say(`${last.length} characters are on their way to the clipboard, if the terminal allows that.`);
};
