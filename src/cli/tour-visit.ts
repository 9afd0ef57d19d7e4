import { createAgent } from "../agent/agent.ts";
import type { AgentEvent } from "../agent/events.ts";
import { Journal } from "../agent/journal.ts";
import { single } from "../agent/choose-model.ts";
import type { Conversation } from "../conversation/entry.ts";
import type { Note, NoteClass } from "../conversation/notes.ts";
import type { Media } from "../conversation/parts.ts";
import type { Provider } from "../providers/define.ts";
import { registryOf } from "../scheduler/registry.ts";
import { createScheduler, type Scheduler } from "../scheduler/scheduler.ts";
import { openServices } from "../scheduler/services.ts";
import type { LogEntry } from "../sim/log.ts";
import type { Heard } from "../sim/model.ts";
import { builtins } from "../tools/all.ts";
import type { Report } from "../transcript/rendering.ts";
import { openGate } from "../transport/credentials-gate.ts";
import { openTransport, type Transport } from "../transport/transport.ts";
import type { World } from "../world/world.ts";
import type { Project } from "./tour-project.ts";
import { asked } from "./tour-script.ts";
import type { Stage } from "./tour-stage.ts";

/** What one provider made of the conversation. */
export type Visit = {
  readonly provider: string;
  readonly model: string;
  /** Requests of the turn that its simulator took, and what it said to the others. */
  readonly accepted: number;
  readonly refusals: readonly string[];
  /** How the turn ended. */
  readonly end: "finished" | "failed" | "cancelled";
  /** The ids of the old calls as they arrived. */
  readonly ids: readonly string[];
  /** How the image reached the model; `lost`: it did not, and nobody said so; `unseen`: no request got as far as that. */
  readonly image: "inside" | "after" | "named" | "lost" | "unseen";
  /** Tokens of the second prompt, and those of them that came from the provider's cache. */
  readonly prompt: { readonly tokens: number; readonly cached: number };
  /** Decisions on the way to the second request, by class and by kind. */
  readonly notes: Readonly<Record<NoteClass, number>>;
  readonly kinds: { readonly [kind: string]: number };
};

/** What all visits share. */
export type Visiting = {
  readonly visit: (provider: Provider, signal: AbortSignal) => Promise<Visit>;
  readonly close: () => Promise<void>;
};

/** Opens what it takes to send the next turn of a conversation anywhere. Everyone gets a copy of the same conversation. */
export const openVisits = async (stage: Stage, project: Project, conversation: Conversation): Promise<Visiting> => {
  const { world } = stage;
  const transport = openTransport({ world, gate: openGate(world) });
  const { scheduler, close } = await openTools(world, project);
  return {
    visit: async (provider, signal) => {
      const before = { log: stage.log(provider.id).length, heard: stage.heard(provider.id).length };
      const events = await nextTurn({ world, transport, scheduler, conversation, provider, signal });
      return judged(provider, conversation, {
        events,
        log: stage.log(provider.id).slice(before.log),
        heard: stage.heard(provider.id).slice(before.heard),
      });
    },
    close,
  };
};

type Tools = { readonly scheduler: () => Scheduler; readonly close: () => Promise<void> };

const openTools = async (world: World, { folder, home }: Project): Promise<Tools> => {
  const { gate, capabilities, close } = await openServices({
    world,
    roots: [folder],
    home,
    mode: "default",
    interactive: false,
  });
  const limits = { processes: 1, toolTime: 10_000 };
  const tools = registryOf(builtins);
  return { scheduler: () => createScheduler({ tools, gate, capabilities, clock: world.clock, limits }), close };
};

type Turn = {
  readonly world: World;
  readonly transport: Transport;
  readonly scheduler: () => Scheduler;
  readonly conversation: Conversation;
  readonly provider: Provider;
  readonly signal: AbortSignal;
};

const nextTurn = async ({
  world,
  transport,
  scheduler,
  conversation,
  provider,
  signal,
}: Turn): Promise<readonly AgentEvent[]> => {
  const { system, tools, entries, blobs } = conversation;
  const agent = createAgent({
    clock: world.clock,
    transport,
    journal: new Journal(undefined, { entries, blobs }),
    head: { tools: tools ?? [], ...(system === undefined ? {} : { system }) },
    pool: single({ provider, model: provider.defaultModel }),
    tools: async () => scheduler(),
    settings: { cache: { marks: true, key: "tour" }, thinking: { effort: "medium" } },
  });
  const events: AgentEvent[] = [];
  for await (const event of agent.send(asked.next, signal)) events.push(event);
  return events;
};

type Seen = {
  readonly events: readonly AgentEvent[];
  readonly log: readonly LogEntry[];
  readonly heard: readonly Heard[];
};

const judged = (provider: Provider, conversation: Conversation, { events, log, heard }: Seen): Visit => {
  const end = events.at(-1);
  const last = heard.at(-1);
  const report = events.findLast((event) => event.type === "request")?.report;
  const usage = events.findLast((event) => event.type === "usage")?.usage;
  return {
    provider: provider.id,
    model: provider.defaultModel,
    accepted: log.filter(({ verdict }) => verdict === "accepted").length,
    refusals: refusalsIn(log),
    end: end?.type === "finished" || end?.type === "cancelled" ? end.type : "failed",
    ids: idsIn(last).slice(0, callsIn(conversation)),
    image: deliveryIn(last, imageIn(conversation)),
    prompt: { tokens: usage?.input ?? 0, cached: usage?.cachedRead ?? 0 },
    notes: { state: 0, rendering: 0, projection: 0, ...counted(report, (note) => note.class) },
    kinds: counted(report, (note) => note.kind),
  };
};

/** What a simulator said to what it did not take. */
export const refusalsIn = (log: readonly LogEntry[]): readonly string[] =>
  log.flatMap((entry) => (entry.verdict === "refused" ? [entry.message] : []));

const idsIn = (heard: Heard | undefined): readonly string[] =>
  heard?.turns.flatMap((turn) => (turn.by === "model" ? turn.calls.map(({ id }) => id) : [])) ?? [];

const callsIn = ({ entries }: Conversation): number =>
  entries.flatMap((entry) => (entry.type === "model" ? entry.parts.filter(({ type }) => type === "call") : [])).length;

const imageIn = ({ entries }: Conversation): Media | undefined =>
  entries
    .flatMap((entry) => (entry.type === "completion" ? entry.outcome.content : []))
    .find((part) => part.type === "media");

const deliveryIn = (heard: Heard | undefined, image: Media | undefined): Visit["image"] => {
  if (heard === undefined) return "unseen";
  const results = heard.turns.flatMap((turn) => (turn.by === "tools" ? turn.results : []));
  const said = heard.turns.filter((turn) => turn.by === "user");
  if (results.some(({ files }) => files.some(({ kind }) => kind === "image"))) return "inside";
  if (said.some(({ files }) => files.some(({ kind }) => kind === "image"))) return "after";
  return [...results, ...said].some(({ text }) => image !== undefined && text.includes(image.id)) ? "named" : "lost";
};

const counted = (report: Report | undefined, by: (note: Note) => string): { readonly [name: string]: number } => {
  const counts: Record<string, number> = {};
  for (const note of report?.notes ?? []) counts[by(note)] = (counts[by(note)] ?? 0) + 1;
  return counts;
};
