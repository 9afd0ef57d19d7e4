import type { AgentEvent } from "../../../agent/events.ts";
import type { AgentSession } from "../../../agent/open-agent.ts";
import type { ApprovalMode } from "../../../policy/gate/approval-mode.ts";
import type { LoadedSettings } from "../../../settings/load/load.ts";
import type { World } from "../../../world/world.ts";
import type { SessionChoice } from "../commands/slash-command.ts";
import { EditSnapshots } from "./edit-snapshots.ts";
import { ChatSession, type ChatListener } from "./chat-session.ts";

/** Opens and discards sessions. */
export type SessionSource = {
  readonly world: World;
  readonly home: string;
  /** The settings before a session is opened. */
  readonly loaded: LoadedSettings;
  /** Opens the session requested at start, or the given one. Settings are read again. */
  readonly open: (resume?: SessionChoice) => Promise<OpenedChat>;
  /** Deletes a session without messages. */
  readonly discard: (id: string) => Promise<void>;
};

/** An opened session and the settings it was opened with. */
export type OpenedChat = { readonly opened: AgentSession; readonly loaded: LoadedSettings };

/** Listener for the events of a chat session, and for sessions being opened and closed. */
export type ActiveSessionListener = ChatListener & {
  readonly onOpen: (opened: AgentSession, isFirst: boolean) => Promise<void>;
  readonly onClose: () => void;
};

/** The current session, and switching to another. There is none while one is being opened. */
export class ActiveSession {
  readonly #place: SessionSource;
  readonly #listener: ActiveSessionListener;
  #talk: ChatSession | undefined;
  #snapshots: EditSnapshots | undefined;
  #loaded: LoadedSettings;
  #mode: ApprovalMode;
  #isFirst = true;

  constructor(place: SessionSource, listener: ActiveSessionListener) {
    this.#place = place;
    this.#listener = listener;
    this.#loaded = place.loaded;
    this.#mode = place.loaded.policy.mode;
  }

  get chat(): ChatSession | undefined {
    return this.#talk;
  }

  get loaded(): LoadedSettings {
    return this.#loaded;
  }

  get mode(): ApprovalMode {
    return this.#mode;
  }

  opened(): AgentSession {
    if (this.#talk === undefined) throw new Error("There is no session yet.");
    return this.#talk.opened;
  }

  snapshots(): EditSnapshots {
    const { world, home } = this.#place;
    return (this.#snapshots ??= new EditSnapshots(world, home, this.opened().session.id));
  }

  /** Opens the session requested at start. */
  async open(): Promise<void> {
    await this.#take(await this.#place.open());
  }

  /** Opens another session; if that fails, reopens the previous one. A new session keeps the chosen models and the approval mode. */
  async reopen(resume: SessionChoice): Promise<void> {
    const { open } = this.#place;
    const { session, agent } = this.opened();
    const { id } = session;
    const [pool, model, mode] = [agent.pool(), agent.model(), this.#mode];
    const isModeChosen = mode !== this.#loaded.policy.mode;
    const again = (await this.close()) ? { id } : "new";
    const wanted = resume !== "new" && resume.id === id ? again : resume;
    const begun = await open(wanted).catch(async (error: unknown) => {
      this.#listener.warn(error instanceof Error ? error.message : String(error));
      return open(again);
    });
    if (resume === "new") begun.opened.agent.switchModel(pool, model);
    await this.#take(begun);
    if (isModeChosen) await this.setMode(mode);
  }

  /** Closes the session. Returns true if it was used; an unused session is discarded. */
  async close(): Promise<boolean> {
    const talk = this.#talk;
    if (talk === undefined) return false;
    this.#talk = undefined;
    this.#listener.onClose();
    await talk.cancel();
    const { opened } = talk;
    const wasUsed = opened.agent.hasMessages();
    await opened.close();
    if (!wasUsed) await this.#place.discard(opened.session.id);
    return wasUsed;
  }

  /** Applies to later calls and to pending questions. */
  async setMode(mode: ApprovalMode): Promise<void> {
    const { services, agent } = this.opened();
    const { gate } = await services();
    gate.setMode(mode);
    this.#mode = mode;
    await agent.reevaluateApprovals();
    this.#listener.onChange();
  }

  async #take({ opened, loaded }: OpenedChat): Promise<void> {
    const { world } = this.#place;
    const { onChange, onOpen } = this.#listener;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    this.#loaded = loaded;
    this.#mode = loaded.policy.mode;
    this.#snapshots = undefined;
    const talk = new ChatSession(opened, world.clock, { ...this.#listener, onEvent: (event) => this.#hear(event) });
    this.#talk = talk;
    await onOpen(opened, isFirst);
    opened.servers?.listen(onChange);
    void talk.refreshContextUsage();
  }

  #hear(event: AgentEvent): void {
    this.#listener.onEvent(event);
    if (this.#talk !== undefined) this.snapshots().recordEvent(event, this.#talk.opened.agent.entryCount());
    this.#listener.onChange();
  }
}
