import type { AgentEvent } from "../../../agent/events.ts";
import type { AgentSession } from "../../../agent/open-agent.ts";
import type { ApprovalMode } from "../../../policy/gate/approval-mode.ts";
import type { LoadedSettings } from "../../../settings/load/load.ts";
import type { World } from "../../../world/world.ts";
import type { SessionChoice } from "../commands/slash-command.ts";
import { EditSnapshots } from "./edit-snapshots.ts";
import { ChatSession, type ChatListener } from "./chat-session.ts";

/** Where sessions come from. */
export type SessionSource = {
  readonly world: World;
  readonly home: string;
  /** The settings as they are before a session is opened. */
  readonly loaded: LoadedSettings;
  /** Opens the session that was asked for, or with an argument another one. Settings are read anew. */
  readonly open: (resume?: SessionChoice) => Promise<OpenedChat>;
  /** Takes away a session in which nothing was said. */
  readonly discard: (id: string) => Promise<void>;
};

/** A session that was opened, and the settings it was opened with. */
export type OpenedChat = { readonly opened: AgentSession; readonly loaded: LoadedSettings };

/** Who hears of a talk, also that it begins and that it ends. */
export type ActiveSessionListener = ChatListener & {
  readonly onOpen: (opened: AgentSession, isFirst: boolean) => Promise<void>;
  readonly onClose: () => void;
};

/** The session that is talked in now, of which there may be none for a moment, and how one is left for another. */
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

  /** Opens the session that was asked for at the start. */
  async open(): Promise<void> {
    await this.#take(await this.#place.open());
  }

  /**
   * Opens another session; where that fails, the one before. A new one keeps the models that were chosen, and the
   * approval mode stays what the person made it.
   */
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

  /** Ends the session. True where something was said in it; one in which nothing was is not kept. */
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

  /** From now on, and for what waits. */
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
    const { onChange: changed, onOpen: begun } = this.#listener;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    this.#loaded = loaded;
    this.#mode = loaded.policy.mode;
    this.#snapshots = undefined;
    const talk = new ChatSession(opened, world.clock, { ...this.#listener, onEvent: (event) => this.#hear(event) });
    this.#talk = talk;
    await begun(opened, isFirst);
    opened.servers?.listen(changed);
    void talk.refreshContextUsage();
  }

  #hear(event: AgentEvent): void {
    this.#listener.onEvent(event);
    if (this.#talk !== undefined) this.snapshots().recordEvent(event, this.#talk.opened.agent.entryCount());
    this.#listener.onChange();
  }
}
