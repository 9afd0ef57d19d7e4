import { openSessions } from "../../../session/store.ts";
import type { Option } from "../../views/picker.ts";
import type { Desk } from "../command.ts";
import { counted } from "./words.ts";

/** `/resume`: goes on with another session of this folder. */
export const resume = async (words: string, at: Desk): Promise<void> => {
  if (words !== "") return at.reopen({ id: words });
  const options = await sessionOptions(at);
  if (options.length === 0) return at.say("There is no other session in this folder.");
  const picked = await at.pick("Which session?", options);
  if (picked !== undefined) await at.reopen({ id: picked.id });
};

/** The other sessions of this folder, the latest first. */
export const sessionOptions = async (at: Desk): Promise<readonly Option[]> => {
  const { session } = at.opened();
  const summaries = await openSessions(at.world, { home: at.home }).list({ root: session.head.root, limit: 100 });
  return summaries
    .filter(({ id, turns }) => id !== session.id && turns !== 0)
    .map(({ id, title, modified, turns, models }) => ({
      id,
      label: title === "" ? id : title,
      detail: [
        ago(at.world.clock.now() - modified),
        ...(turns === undefined ? [] : [counted(turns, "message")]),
        ...models.slice(-1),
      ].join(", "),
    }));
};

const ago = (ms: number): string => {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${counted(minutes, "minute")} ago`;
  if (minutes < 48 * 60) return `${counted(Math.floor(minutes / 60), "hour")} ago`;
  return `${counted(Math.floor(minutes / (24 * 60)), "day")} ago`;
};
