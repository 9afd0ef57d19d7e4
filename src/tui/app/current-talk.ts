import type { AgentEvent } from "../../agent/events.ts";
import type { Opened } from "../../agent/open.ts";
import type { ApprovalMode } from "../../policy/mode.ts";
import type { Loaded } from "../../settings/load.ts";
import type { World } from "../../world/world.ts";
import type { Resume } from "./command.ts";
import { Snapshots } from "./snapshots.ts";
import { Talk, type TalkListener } from "./talk.ts";

/** Where sessions come from. */
export type TalkPlace = {
  readonly world: World;
  readonly home: string;
  /** The settings as they are before a session is opened. */
  readonly loaded: Loaded;
  /** Opens the session that was asked for, or with an argument another one. Settings are read anew. */
  readonly open: (resume?: Resume) => Promise<Begun>;
  /** Takes away a session in which nothing was said. */
  readonly discard: (id: string) => Promise<void>;
};

/** A session that was opened, and the settings it was opened with. */
export type Begun = { readonly opened: Opened; readonly loaded: Loaded };

/** Who hears of a talk, also that it begins and that it ends. */
export type CurrentListener = TalkListener & {
  readonly begun: (opened: Opened, isFirst: boolean) => Promise<void>;
  readonly ending: () => void;
};

/** The session that is talked in now, of which there may be none for a moment, and how one is left for another. */
export class CurrentTalk {
  readonly #place: TalkPlace;
  readonly #listener: CurrentListener;
  #talk: Talk | undefined;
  #snapshots: Snapshots | undefined;
  #loaded: Loaded;
  #mode: ApprovalMode;
  #isFirst = true;

  constructor(place: TalkPlace, listener: CurrentListener) {
    this.#place = place;
    this.#listener = listener;
    this.#loaded = place.loaded;
    this.#mode = place.loaded.policy.mode;
  }

  get talk(): Talk | undefined {
    return this.#talk;
  }

  get loaded(): Loaded {
    return this.#loaded;
  }

  get mode(): ApprovalMode {
    return this.#mode;
  }

  opened(): Opened {
    if (this.#talk === undefined) throw new Error("There is no session yet.");
    return this.#talk.opened;
  }

  snapshots(): Snapshots {
    const { world, home } = this.#place;
    return (this.#snapshots ??= new Snapshots(world, home, this.opened().session.id));
  }

  /** Opens the session that was asked for at the start. */
  async begin(): Promise<void> {
    await this.#take(await this.#place.open());
  }

  /**
   * Opens another session; where that fails, the one before. A new one keeps the models that were chosen, and the
   * approval mode stays what the person made it.
   */
  async reopen(resume: Resume): Promise<void> {
    const { open } = this.#place;
    const { session, agent } = this.opened();
    const { id } = session;
    const [pool, model, mode] = [agent.pool(), agent.model(), this.#mode];
    const isModeChosen = mode !== this.#loaded.policy.mode;
    const again = (await this.end()) ? { id } : "new";
    const wanted = resume !== "new" && resume.id === id ? again : resume;
    const begun = await open(wanted).catch(async (error: unknown) => {
      this.#listener.warn(error instanceof Error ? error.message : String(error));
      return open(again);
    });
    if (resume === "new") begun.opened.agent.use(pool, model);
    await this.#take(begun);
    if (isModeChosen) await this.setMode(mode);
  }

  /** Ends the session. True where something was said in it; one in which nothing was is not kept. */
  async end(): Promise<boolean> {
    const talk = this.#talk;
    if (talk === undefined) return false;
    this.#talk = undefined;
    this.#listener.ending();
    await talk.cancel();
    const { opened } = talk;
    const wasUsed = opened.agent.isUsed();
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
    await agent.reconsider();
    this.#listener.changed();
  }

  async #take({ opened, loaded }: Begun): Promise<void> {
    const { world } = this.#place;
    const { changed, begun } = this.#listener;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    this.#loaded = loaded;
    this.#mode = loaded.policy.mode;
    this.#snapshots = undefined;
    const talk = new Talk(opened, world.clock, { ...this.#listener, hear: (event) => this.#hear(event) });
    this.#talk = talk;
    await begun(opened, isFirst);
    opened.servers?.listen(changed);
    void talk.refresh();
  }

  #hear(event: AgentEvent): void {
    this.#listener.hear(event);
    if (this.#talk !== undefined) this.snapshots().hear(event, this.#talk.opened.agent.entryCount());
    this.#listener.changed();
  }
}
