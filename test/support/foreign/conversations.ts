import type { ForeignAgent } from "../../../src/foreign/agents.ts";
import { importForeignSession, importOtherConversations } from "../../../src/foreign/import.ts";
import { listForeignSessions } from "../../../src/foreign/list.ts";
import type { World } from "../../../src/world/world.ts";
import { toldMessages, type ToldConversations, type ToldMessage } from "./story.ts";

/** Imports the only session of an agent with its branches and subagents; these are in the order of their first difference. */
export const importConversations = async (
  world: Pick<World, "disk" | "env">,
  { home, folder, agent }: { readonly home: string; readonly folder?: string; readonly agent: ForeignAgent },
): Promise<ToldConversations> => {
  const { sessions } = await listForeignSessions(world, { home, folder, agents: [agent] });
  if (sessions.length !== 1) throw new Error(`${sessions.length} sessions of ${agent} instead of one.`);
  const others: (readonly ToldMessage[])[] = [];
  for await (const { conversation } of importOtherConversations(world, sessions[0]!))
    others.push(toldMessages(conversation));
  const { conversation } = await importForeignSession(world, sessions[0]!);
  return { main: toldMessages(conversation), others: sortConversations(others) };
};

/** Orders conversations by the texts in them, which are unique. */
export const sortConversations = (all: readonly (readonly ToldMessage[])[]): readonly (readonly ToldMessage[])[] =>
  all.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
