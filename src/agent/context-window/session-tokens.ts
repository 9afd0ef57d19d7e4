import { singleModelPool } from "../models/choose.ts";
import { RequestBuilder } from "../requests/builder.ts";
import { Journal } from "../session/journal.ts";
import type { ModelRef } from "../models/parse.ts";
import { ModelRouter } from "../models/router.ts";
import { SpendingTracker } from "../models/spending.ts";
import { ContextWindow } from "./window.ts";
import type { Entry } from "../../conversation/entry.ts";
import type { JsonObject } from "../../conversation/json.ts";
import type { ReadSession } from "../../session/store/store.ts";
import { openingNotice } from "../../transcript/compaction-cut.ts";
import { shortenResults } from "../../transcript/shorten-results.ts";
import { createRequestSigner } from "../../transport/credentials/request-signer.ts";
import { openTransport } from "../../transport/transport.ts";
import type { World } from "../../world/world.ts";
import { listRequests } from "../../session/store/requests.ts";

/** Estimates the tokens of a session's next request: the usage of the last response, plus an estimate for newer entries. */
export const estimateSessionTokens = async (world: World, session: ReadSession, model: ModelRef): Promise<number> => {
  const { entries } = session;
  const last = (await listRequests(session)).findLast(({ usage }) => usage !== undefined);
  const counted = numberIn(last?.usage, "input") + numberIn(last?.usage, "output");
  const isCounted = counted > 0 && last !== undefined && last.entries > lastCompactionIndex(entries);
  const window = createContextWindow(
    world,
    isCounted ? session : { ...session, entries: visibleEntries(entries) },
    model,
  );
  // The usage includes the response itself, hence + 1.
  if (isCounted) window.recordUsage(counted, last.entries + 1);
  return Math.ceil(window.tokens);
};

const lastCompactionIndex = (entries: readonly Entry[]): number =>
  entries.findLastIndex(({ type }) => type === "compaction");

/** Returns the entries models see: after compaction a summary instead of the old ones, and shortened results. */
const visibleEntries = (entries: readonly Entry[]): readonly Entry[] => {
  const summed = entries.findLast((entry) => entry.type === "compaction" && entry.summary !== "");
  const visibleFrom = (cut: number): readonly Entry[] =>
    shortenResults(entries, cut, () => undefined).map(({ entry }) => entry);
  if (summed?.type !== "compaction") return visibleFrom(0);
  const opening = openingNotice(entries, summed.from);
  return [
    ...(opening === undefined ? [] : [opening]),
    { type: "notice", text: summed.summary },
    ...visibleFrom(summed.from),
  ];
};

/** Creates the agent's context window over the session, to use its token estimate. Sends nothing. */
const createContextWindow = (
  world: World,
  { entries, blobs, head, tools }: ReadSession,
  model: ModelRef,
): ContextWindow => {
  const journal = new Journal(undefined, { entries, blobs });
  const { system } = head;
  return new ContextWindow({
    transport: openTransport({ world, signer: createRequestSigner(world) }),
    journal,
    builder: new RequestBuilder(journal, { ...(system === undefined ? {} : { system }), tools: tools ?? [] }, {}),
    router: new ModelRouter(singleModelPool(model), world.clock),
    spending: new SpendingTracker(),
    compactAt: 0,
    emit: () => undefined,
  });
};

const numberIn = (usage: JsonObject | undefined, name: string): number => {
  const value = usage?.[name];
  return typeof value === "number" ? value : 0;
};
