import { single } from "../agent/choose-model.ts";
import { Compositions } from "../agent/compositions.ts";
import { Journal } from "../agent/journal.ts";
import type { ModelRef } from "../agent/model-ref.ts";
import { Route } from "../agent/route.ts";
import { Spending } from "../agent/spending.ts";
import { Window } from "../agent/window.ts";
import type { Entry } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { ReadSession } from "../session/store.ts";
import { openingNotice } from "../transcript/cut.ts";
import { shortened } from "../transcript/shorten.ts";
import { openGate } from "../transport/credentials-gate.ts";
import { openTransport } from "../transport/transport.ts";
import type { World } from "../world/world.ts";
import { requestsIn } from "./session-requests.ts";

/** About how many tokens the next request of a session has: as its last answer counted, and estimated from there. */
export const sizeOf = async (world: World, session: ReadSession, model: ModelRef): Promise<number> => {
  const { entries } = session;
  const last = (await requestsIn(session)).findLast(({ usage }) => usage !== undefined);
  const counted = numberIn(last?.usage, "input") + numberIn(last?.usage, "output");
  const isCounted = counted > 0 && last !== undefined && last.entries > compactedAt(entries);
  const window = windowOn(world, isCounted ? session : { ...session, entries: shownOf(entries) }, model);
  // What an answer used counts the answer itself.
  if (isCounted) window.known(counted, last.entries + 1);
  return Math.ceil(window.tokens);
};

const compactedAt = (entries: readonly Entry[]): number => entries.findLastIndex(({ type }) => type === "compaction");

/** What models see of a conversation: a summary for what it stands for, and results as short as they are shown. */
const shownOf = (entries: readonly Entry[]): readonly Entry[] => {
  const summed = entries.findLast((entry) => entry.type === "compaction" && entry.summary !== "");
  if (summed?.type !== "compaction") return shortened(entries, 0, () => undefined);
  const opening = openingNotice(entries, summed.from);
  return [
    ...(opening === undefined ? [] : [opening]),
    { type: "notice", text: summed.summary },
    ...shortened(entries, summed.from, () => undefined),
  ];
};

/** The agent's own measure of a conversation. It sends nothing. */
const windowOn = (world: World, { entries, blobs, head, tools }: ReadSession, model: ModelRef): Window => {
  const journal = new Journal(undefined, { entries, blobs });
  const { system } = head;
  return new Window({
    transport: openTransport({ world, gate: openGate(world) }),
    journal,
    compositions: new Compositions(journal, { ...(system === undefined ? {} : { system }), tools: tools ?? [] }, {}),
    route: new Route(single(model), world.clock),
    spending: new Spending(),
    share: 0,
    tell: () => undefined,
  });
};

const numberIn = (usage: JsonObject | undefined, name: string): number => {
  const value = usage?.[name];
  return typeof value === "number" ? value : 0;
};
