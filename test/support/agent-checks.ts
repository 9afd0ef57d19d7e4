import { isDeepStrictEqual } from "node:util";
import type { AgentEvent } from "../../src/agent/events.ts";
import type { Journal } from "../../src/agent/session/journal.ts";
import type { Entry } from "../../src/conversation/entry.ts";
import type { JsonObject } from "../../src/conversation/json.ts";
import type { CallId, Seal } from "../../src/conversation/parts.ts";
import { destinationOf } from "../../src/providers/find.ts";
import type { Session } from "../../src/session/session.ts";
import type { LogEntry } from "../../src/sim/request-log.ts";
import type { Simulator } from "../../src/sim/simulator.ts";
import { unitsIn } from "./properties.ts";

/** Checks a simulation and throws as soon as a promise is broken. */
export class SimulationChecks {
  /** Whether a session is open, so that disk faults affect the agent. */
  isOpen = false;
  readonly #simulators: { readonly [id: string]: Simulator };
  readonly #checked = new Map<string, number>();
  /** The last request, by provider. A conversation only grows, until it is compacted. */
  readonly #sent = new Map<string, { readonly messages: readonly string[]; readonly compactions: number }>();
  readonly #approved = new Set<string>();
  readonly #ran = new Set<string>();
  readonly #queuedMessages: string[] = [];
  /** The number of entries reported by events. */
  #acknowledged = 0;
  /** The whole conversation as logged, including entries released from memory. */
  #whole: Entry[] = [];

  constructor(simulators: SimulationChecks["simulators"]) {
    this.#simulators = simulators;
  }

  get simulators(): { readonly [id: string]: Simulator } {
    return this.#simulators;
  }

  /** The person approved a call. */
  onApproved(journal: Journal, call: CallId): void {
    const input = journal.ledger.interaction(call)?.call.input;
    const what = input?.type === "parsed" ? input.value["what"] : undefined;
    if (typeof what === "string") this.#approved.add(what);
  }

  /** A tool that needs approval runs. */
  onToolRun(what: string): void {
    if (!this.#approved.has(what)) throw broken(`${what} ran without approval`);
    if (this.#ran.has(what)) throw broken(`${what} ran twice`);
    this.#ran.add(what);
  }

  onQueued(words: string): void {
    this.#queuedMessages.push(words);
  }

  /** A session was opened again, maybe after a crash; `journal` is what the process before had of it. */
  async onReopened(session: Session, journal: Journal): Promise<void> {
    this.#addEntries(journal);
    const [before, entries, { damage: healed }] = [this.#whole, await entriesIn(session), session];
    if (entries.length < this.#acknowledged)
      throw broken(`${this.#acknowledged} entries were acknowledged, ${entries.length} are left`);
    const strange = firstChangedEntry(entries, before, this.#acknowledged);
    if (strange !== undefined) throw broken(`an entry has changed or moved: ${JSON.stringify(strange).slice(0, 500)}`);
    const missing = healed.find(({ kind }) => kind === "missing-blob");
    if (missing !== undefined) throw broken(`a file is missing: ${JSON.stringify(missing)}`);
    // Queued messages that were not part of the conversation yet were lost with the process.
    this.#queuedMessages.length = 0;
    this.#whole = [...entries];
  }

  /** Adds the new entries of a conversation. It only grows, though entries replaced by a summary are released from memory. */
  #addEntries({ ledger: { entries, dropped } }: Journal): void {
    for (let at = this.#whole.length; at < dropped + entries.length; at += 1) {
      const entry = entries[at - dropped];
      if (entry === undefined) throw broken(`entry ${at} left memory before it was seen`);
      // Positions in the log count from the beginning of the conversation.
      this.#whole.push(entry.type === "compaction" ? { ...entry, from: entry.from + dropped } : entry);
    }
  }

  /** Checks one turn. */
  watchTurn(journal: Journal): TurnCheck {
    const open = new Set<CallId>();
    const ends: AgentEvent[] = [];
    return {
      onEvent: (event) => {
        if (ends.length > 0) throw broken(`${event.type} came after the end`);
        if (isEnd(event)) ends.push(event);
        if (event.type === "call-requested") open.add(event.call.id);
        if (event.type === "call-completed" && !open.delete(event.finished.call.id))
          throw broken(`${event.finished.call.id} ended twice, or was never requested`);
        this.#checkRequests(journal);
        this.#acknowledge(event);
      },
      onEnd: async (session) => {
        if (ends.length !== 1) throw broken(`a turn ended ${ends.length} times`);
        this.#checkRequests(journal);
        if (isStorageFailure(ends[0])) return;
        if (open.size > 0) throw broken(`${[...open].join(", ")} never ended`);
        const entries = this.#whole;
        if (journal.ledger.pending().length > 0) throw broken("a call is open");
        const endings = entries.flatMap((entry) => (entry.type === "completion" ? [entry.call] : []));
        if (new Set(endings).size !== endings.length) throw broken("a call was completed twice");
        if (!isDeepStrictEqual(await entriesIn(session), entries)) throw broken("the log is not the conversation");
      },
      assertFinished: () => {
        const [end] = ends;
        if (end?.type !== "finished") throw broken(`it ended as ${JSON.stringify(end)}`);
      },
    };
  }

  assertNothingLost(journal: Journal): void {
    this.#addEntries(journal);
    const text = JSON.stringify(this.#whole);
    const lost = this.#queuedMessages.filter((words) => !text.includes(words));
    if (lost.length > 0) throw broken(`messages were lost: ${lost.join(", ")}`);
  }

  #acknowledge(event: AgentEvent): void {
    const at = findEntry(event, this.#whole);
    if (at === undefined) return;
    if (at === -1) throw broken(`${event.type} was emitted and is not in the conversation`);
    this.#acknowledged = Math.max(this.#acknowledged, at + 1);
  }

  /** Checks the requests since the last time. */
  #checkRequests(journal: Journal): void {
    this.#addEntries(journal);
    for (const [id, { log }] of Object.entries(this.#simulators)) {
      for (const entry of log.slice(this.#checked.get(id) ?? 0)) this.#request(id, entry);
      this.#checked.set(id, log.length);
    }
  }

  #isDamaged(provider: string): boolean {
    return /corrupt|swap|drop|duplicate/.test(this.#faultsOf(provider));
  }

  #faultsOf(provider: string): string {
    return JSON.stringify(this.#simulators[provider]?.log.map(({ faults }) => faults));
  }

  #request(provider: string, entry: LogEntry): void {
    const entries = this.#whole;
    // A provider refuses a seal that a fault damaged; from then on the conversation is sent without it.
    if (entry.verdict === "refused" && isSealed(entry.message) && this.#isDamaged(provider)) return;
    if (entry.verdict === "refused" && !entry.faults.some(isRefusing))
      throw broken(
        `${provider} refused: ${entry.message} (${entry.rule ?? ""} ${entry.pointer ?? ""}), after ${this.#faultsOf(provider)}`,
      );
    if (entry.body === undefined) return;
    const text = JSON.stringify(entry.body);
    for (const { provider: maker, seal } of sealsIn(entries))
      if (maker !== provider && text.includes(seal)) throw broken(`${provider} was sent a seal of ${maker}`);
    if (text.includes("grown too long and will be replaced")) return;
    const compactions = entries.filter(({ type }) => type === "compaction").length;
    const destination = destinationOf(provider);
    const messages = unitsIn(destination.wire.extractMessages(entry.body as JsonObject), destination).map((message) =>
      JSON.stringify(message),
    );
    const before = this.#sent.get(provider);
    this.#sent.set(provider, { messages, compactions });
    // A new process has to learn of damaged seals again.
    if (before === undefined || before.compactions !== compactions || this.#isDamaged(provider)) return;
    const changed = before.messages.findIndex((message, index) => message !== messages[index]);
    if (changed !== -1)
      throw broken(
        `message ${changed} to ${provider} changed:\n${before.messages[changed] ?? ""}\n${messages[changed] ?? ""}`,
      );
  }
}

/** Checks of one turn. */
export type TurnCheck = {
  readonly onEvent: (event: AgentEvent) => void;
  readonly onEnd: (session: Session) => Promise<void>;
  /** Throws unless the turn finished. */
  readonly assertFinished: () => void;
};

/**
 * The first entry that changed. Acknowledged entries must all be there; others may be lost, and then a notice says so.
 */
const firstChangedEntry = (
  entries: readonly Entry[],
  before: readonly Entry[],
  acknowledged: number,
): Entry | undefined => {
  let at = 0;
  return entries.find((entry, index) => {
    const found = before.findIndex((other, place) => place >= at && isDeepStrictEqual(entry, other));
    const isLoss = entry.type === "notice" && entry.text.startsWith("Part of the conversation was lost here");
    if (index < acknowledged) at = index + 1;
    else if (found !== -1) at = found + 1;
    return index < acknowledged ? found !== index : found === -1 && !isLoss;
  });
};

const broken = (promise: string): Error => new Error(promise);

const isEnd = ({ type }: AgentEvent): boolean => type === "finished" || type === "failed" || type === "cancelled";

const isStorageFailure = (event: AgentEvent | undefined): boolean =>
  event?.type === "failed" && event.failure.kind === "storage";

const isRefusing = (fault: string): boolean =>
  fault === "status" || fault === "redirect" || fault === "refuse-connection" || fault === "never-answer";

const isSealed = (message: string): boolean => /signature|encrypted/i.test(message);

/** The position of the entry an event is about; -1 if it is missing. Undefined for events without an entry. */
const findEntry = (event: AgentEvent, entries: readonly Entry[]): number | undefined => {
  switch (event.type) {
    case "user":
      return entries.findLastIndex((entry) => entry.type === "user" && isDeepStrictEqual(entry.parts, event.parts));
    case "message":
      return entries.findLastIndex((entry) => entry.type === "model");
    case "call-completed":
      return entries.findLastIndex((entry) => entry.type === "completion" && entry.call === event.finished.call.id);
    case "compacted":
      return entries.findLastIndex((entry) => entry.type === "compaction");
    default:
      return undefined;
  }
};

const entriesIn = async (session: Session): Promise<readonly Entry[]> => {
  const entries: Entry[] = [];
  for await (const { record } of session.records()) if (record.kind === "entry") entries.push(record.entry as Entry);
  return entries;
};

/** The seals in a conversation, which only their provider can read. */
const sealsIn = (entries: readonly Entry[]): readonly { readonly provider: string; readonly seal: string }[] =>
  entries.flatMap((entry) =>
    entry.type !== "model"
      ? []
      : entry.parts.flatMap((part) =>
          "seal" in part && part.seal !== undefined
            ? opaque(part.seal).map((seal) => ({ provider: entry.origin.provider, seal }))
            : [],
        ),
  );

const opaque = ({ signature, encrypted }: Seal): readonly string[] =>
  [signature, encrypted].filter((text) => text !== undefined && text.length >= 16) as readonly string[];
