import { openSessionStore } from "../../../../session/store/store.ts";
import { agentLabels, parseForeignReference, type ForeignReference } from "../../../../foreign/agents.ts";
import type { World } from "../../../../world/world.ts";
import type { PickerOption } from "../../../views/picker.ts";
import type { SlashCommandContext } from "../slash-command.ts";
import { pluralize } from "./format.ts";

/** `/resume`: opens another session of this folder. One of another agent is imported first. */
export const resumeOther = async (words: string, at: SlashCommandContext): Promise<void> => {
  if (words !== "") return reopenSession(words, at);
  const options = await at.runWork({ label: "Listing sessions" }, () => sessionOptions(at));
  if (options.length === 0) return at.info("No other session in this folder.");
  const picked = await at.pick("Which session?", options);
  if (picked !== undefined) await reopenSession(picked.id, at);
};

const reopenSession = async (id: string, at: SlashCommandContext): Promise<void> => {
  const reference = parseForeignReference(id);
  if (reference === undefined) return at.reopen({ id });
  const own = await importReference(at.world, at.home.data, at.opened().session.head.root, reference, at.info);
  return at.reopen({ id: own });
};

/** Imports a session of another agent and returns the id of ours. One that has changed since is imported anew. */
export const importReference = async (
  world: World,
  home: string,
  root: string,
  reference: ForeignReference,
  info: (text: string) => void,
): Promise<string> => {
  const [{ findForeignSession }, { saveForeignSession }] = await Promise.all([
    import("../../../../foreign/find.ts"),
    import("../../../../foreign/save.ts"),
  ]);
  const session = await findForeignSession(world, reference, { home: world.host.home, folder: root });
  const target = { world, home, root, sessions: openSessionStore(world, { home }) };
  const { id = "", leftOut } = await saveForeignSession(target, session, { again: true });
  const omitted = leftOut.map(({ what, count }) => `${count} ${what}`).join(", ");
  info(`Imported from ${agentLabels[reference.agent]}.${omitted === "" ? "" : ` Left out: ${omitted}.`}`);
  return id;
};

/** The other sessions of this folder as picker options, latest first. */
export const sessionOptions = async (at: SlashCommandContext): Promise<readonly PickerOption[]> => {
  const { session } = at.opened();
  const options = await listSessionOptions(at.world, at.home.data, session.head.root);
  return options.filter(({ id }) => id !== session.id);
};

/** The sessions of a folder as picker options, latest first. */
export const listSessionOptions = async (
  world: World,
  home: string,
  root: string,
): Promise<readonly PickerOption[]> => {
  const summaries = await openSessionStore(world, { home }).list({ root, limit: 100 });
  const own = summaries.map(({ id, title, modified, turns, models, source }) => ({
    id,
    label: title === "" ? id : title,
    detail: [
      formatAge(world.clock.now() - modified),
      ...(turns === undefined ? [] : [pluralize(turns, "message")]),
      ...models.slice(-1),
      ...(source === undefined ? [] : [`from ${source.agent}`]),
    ].join(", "),
  }));
  return [...own, ...(await listForeignOptions(world, home, root))];
};

/** The sessions of other agents in a folder that are not imported yet. */
const listForeignOptions = async (world: World, home: string, root: string): Promise<readonly PickerOption[]> => {
  const { listOfferedSessions } = await import("../../../../foreign/offer.ts");
  const offered = await listOfferedSessions(world, {
    home: world.host.home,
    parleyHome: home,
    folder: root,
    limit: 50,
  });
  return offered.map(({ agent, id, title, modified }) => ({
    id: `${agent}:${id}`,
    label: title === "" ? `${agent}:${id}` : title,
    detail: `${formatAge(world.clock.now() - modified)}, ${agentLabels[agent]}`,
  }));
};

const formatAge = (ms: number): string => {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${pluralize(minutes, "minute")} ago`;
  if (minutes < 48 * 60) return `${pluralize(Math.floor(minutes / 60), "hour")} ago`;
  return `${pluralize(Math.floor(minutes / (24 * 60)), "day")} ago`;
};
