import { createAgent } from "../../agent/create-agent.ts";
import type { AgentEvent } from "../../agent/events.ts";
import { Journal } from "../../agent/session/journal.ts";
import { singleModelPool } from "../../agent/models/choose.ts";
import type { Conversation } from "../../conversation/entry.ts";
import type { Note, NoteClass } from "../../conversation/notes.ts";
import type { Media } from "../../conversation/parts.ts";
import type { Provider } from "../../providers/define.ts";
import { createRegistry } from "../../scheduler/registry.ts";
import { createScheduler, type Scheduler } from "../../scheduler/scheduler.ts";
import { openServices } from "../../scheduler/services.ts";
import type { LogEntry } from "../../sim/request-log.ts";
import type { SimModelRequest } from "../../sim/model/types.ts";
import { builtinTools } from "../../tools/builtins.ts";
import type { RenderReport } from "../../transcript/incremental-renderer.ts";
import { createRequestSigner } from "../../transport/credentials/request-signer.ts";
import { openTransport, type Transport } from "../../transport/transport.ts";
import type { World } from "../../world/world.ts";
import type { TourProject } from "./project.ts";
import { prompts } from "./script.ts";
import type { TourSimulators } from "./simulators.ts";

/** The result of sending the next turn to one provider. */
export type TourVisit = {
  readonly provider: string;
  readonly model: string;
  /** Number of accepted requests, and the messages for rejected ones. */
  readonly accepted: number;
  readonly refusals: readonly string[];
  /** How the turn ended. */
  readonly end: "finished" | "failed" | "cancelled";
  /** The ids of earlier calls as the provider received them. */
  readonly ids: readonly string[];
  /** How the image was sent; `lost`: neither sent nor described; `unseen`: no request was accepted. */
  readonly image: "inside" | "after" | "named" | "lost" | "unseen";
  /** Tokens of the second request, and how many came from the prompt cache. */
  readonly prompt: { readonly tokens: number; readonly cached: number };
  /** Notes of the second request, by class and by kind. */
  readonly notes: Readonly<Record<NoteClass, number>>;
  readonly kinds: { readonly [kind: string]: number };
};

/** Sends the next turn of one conversation to several providers. */
export type TourVisitor = {
  readonly visit: (provider: Provider, signal: AbortSignal) => Promise<TourVisit>;
  readonly close: () => Promise<void>;
};

/** Opens transport and tools for the visits. Each provider gets a copy of the same conversation. */
export const openTourVisitor = async (
  simulators: TourSimulators,
  project: TourProject,
  conversation: Conversation,
): Promise<TourVisitor> => {
  const { world } = simulators;
  const transport = openTransport({ world, signer: createRequestSigner(world) });
  const { scheduler, close } = await openTools(world, project);
  return {
    visit: async (provider, signal) => {
      const before = {
        log: simulators.log(provider.id).length,
        requests: simulators.parsedRequests(provider.id).length,
      };
      const events = await runNextTurn({ world, transport, scheduler, conversation, provider, signal });
      return summarizeVisit(provider, conversation, {
        events,
        log: simulators.log(provider.id).slice(before.log),
        parsedRequests: simulators.parsedRequests(provider.id).slice(before.requests),
      });
    },
    close,
  };
};

type VisitTools = { readonly scheduler: () => Scheduler; readonly close: () => Promise<void> };

const openTools = async (world: World, { folder, home }: TourProject): Promise<VisitTools> => {
  const { gate, capabilities, close } = await openServices({
    world,
    roots: [folder],
    home,
    mode: "default",
    interactive: false,
  });
  const limits = { processes: 1, toolTime: 10_000 };
  const tools = createRegistry(builtinTools);
  return { scheduler: () => createScheduler({ tools, gate, capabilities, clock: world.clock, limits }), close };
};

type VisitTurn = {
  readonly world: World;
  readonly transport: Transport;
  readonly scheduler: () => Scheduler;
  readonly conversation: Conversation;
  readonly provider: Provider;
  readonly signal: AbortSignal;
};

const runNextTurn = async ({
  world,
  transport,
  scheduler,
  conversation,
  provider,
  signal,
}: VisitTurn): Promise<readonly AgentEvent[]> => {
  const { system, tools, entries, blobs } = conversation;
  const agent = createAgent({
    clock: world.clock,
    transport,
    journal: new Journal(undefined, { entries, blobs }),
    prefix: { tools: tools ?? [], ...(system === undefined ? {} : { system }) },
    pool: singleModelPool({ provider, model: provider.defaultModel }),
    openScheduler: async () => scheduler(),
    settings: { cache: { marks: true, key: "tour" }, thinking: { effort: "medium" } },
  });
  const events: AgentEvent[] = [];
  for await (const event of agent.send(prompts.next, signal)) events.push(event);
  return events;
};

type VisitRecord = {
  readonly events: readonly AgentEvent[];
  readonly log: readonly LogEntry[];
  readonly parsedRequests: readonly SimModelRequest[];
};

const summarizeVisit = (
  provider: Provider,
  conversation: Conversation,
  { events, log, parsedRequests }: VisitRecord,
): TourVisit => {
  const end = events.at(-1);
  const last = parsedRequests.at(-1);
  const report = events.findLast((event) => event.type === "request")?.report;
  const usage = events.findLast((event) => event.type === "usage")?.usage;
  return {
    provider: provider.id,
    model: provider.defaultModel,
    accepted: log.filter(({ verdict }) => verdict === "accepted").length,
    refusals: listRefusals(log),
    end: end?.type === "finished" || end?.type === "cancelled" ? end.type : "failed",
    ids: callIdsIn(last).slice(0, countCalls(conversation)),
    image: imageDelivery(last, findImage(conversation)),
    prompt: { tokens: usage?.input ?? 0, cached: usage?.cachedRead ?? 0 },
    notes: { state: 0, rendering: 0, projection: 0, ...countNotes(report, (note) => note.class) },
    kinds: countNotes(report, (note) => note.kind),
  };
};

/** Lists the messages of rejected requests. */
export const listRefusals = (log: readonly LogEntry[]): readonly string[] =>
  log.flatMap((entry) => (entry.verdict === "refused" ? [entry.message] : []));

const callIdsIn = (request: SimModelRequest | undefined): readonly string[] =>
  request?.turns.flatMap((turn) => (turn.by === "model" ? turn.calls.map(({ id }) => id) : [])) ?? [];

const countCalls = ({ entries }: Conversation): number =>
  entries.flatMap((entry) => (entry.type === "model" ? entry.parts.filter(({ type }) => type === "call") : [])).length;

const findImage = ({ entries }: Conversation): Media | undefined =>
  entries
    .flatMap((entry) => (entry.type === "completion" ? entry.outcome.content : []))
    .find((part) => part.type === "media");

const imageDelivery = (request: SimModelRequest | undefined, image: Media | undefined): TourVisit["image"] => {
  if (request === undefined) return "unseen";
  const results = request.turns.flatMap((turn) => (turn.by === "tools" ? turn.results : []));
  const messages = request.turns.filter((turn) => turn.by === "user");
  if (results.some(({ files }) => files.some(({ kind }) => kind === "image"))) return "inside";
  if (messages.some(({ files }) => files.some(({ kind }) => kind === "image"))) return "after";
  return [...results, ...messages].some(({ text }) => image !== undefined && text.includes(image.id))
    ? "named"
    : "lost";
};

const countNotes = (
  report: RenderReport | undefined,
  by: (note: Note) => string,
): { readonly [name: string]: number } => {
  const counts: Record<string, number> = {};
  for (const note of report?.notes ?? []) counts[by(note)] = (counts[by(note)] ?? 0) + 1;
  return counts;
};
