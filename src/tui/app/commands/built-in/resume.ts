import { openSessionStore } from "../../../../session/store/store.ts";
import type { World } from "../../../../world/world.ts";
import type { PickerOption } from "../../../views/picker.ts";
import type { SlashCommandContext } from "../slash-command.ts";
import { pluralize } from "./format.ts";

/** `/resume`: opens another session of this folder. */
export const resumeOther = async (words: string, at: SlashCommandContext): Promise<void> => {
  if (words !== "") return at.reopen({ id: words });
  const options = await sessionOptions(at);
  if (options.length === 0) return at.info("No other session in this folder.");
  const picked = await at.pick("Which session?", options);
  if (picked !== undefined) await at.reopen({ id: picked.id });
};

/** The other sessions of this folder as picker options, latest first. */
export const sessionOptions = async (at: SlashCommandContext): Promise<readonly PickerOption[]> => {
  const { session } = at.opened();
  const options = await listSessionOptions(at.world, at.home, session.head.root);
  return options.filter(({ id }) => id !== session.id);
};

/** The sessions of a folder as picker options, latest first. */
export const listSessionOptions = async (
  world: World,
  home: string,
  root: string,
): Promise<readonly PickerOption[]> => {
  const summaries = await openSessionStore(world, { home }).list({ root, limit: 100 });
  return summaries.map(({ id, title, modified, turns, models }) => ({
    id,
    label: title === "" ? id : title,
    detail: [
      formatAge(world.clock.now() - modified),
      ...(turns === undefined ? [] : [pluralize(turns, "message")]),
      ...models.slice(-1),
    ].join(", "),
  }));
};

const formatAge = (ms: number): string => {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${pluralize(minutes, "minute")} ago`;
  if (minutes < 48 * 60) return `${pluralize(Math.floor(minutes / 60), "hour")} ago`;
  return `${pluralize(Math.floor(minutes / (24 * 60)), "day")} ago`;
};
