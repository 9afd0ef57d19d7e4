import type { Entry } from "../../../conversation/entry.ts";
import { openSessions } from "../../../session/store.ts";
import type { Desk } from "../command.ts";

/** `/copy`: the last answer, to the clipboard of the terminal. */
export const copy = async (_: string, at: Desk): Promise<void> => {
  const { agent, session } = at.opened();
  const held = lastAnswer(agent.conversation().entries);
  // What a summary replaced is read from the log.
  const last = held ?? lastAnswer((await openSessions(at.world, { home: at.home }).read(session.id)).entries);
  if (last === undefined) return at.say("There is no answer yet.");
  await at.copy(last);
  at.say(`${last.length} characters are on their way to the clipboard, if the terminal allows that.`);
};

const lastAnswer = (entries: readonly Entry[]): string | undefined =>
  entries
    .flatMap((entry) =>
      entry.type === "model" ? [entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")] : [],
    )
    .findLast((each) => each.trim() !== "");
