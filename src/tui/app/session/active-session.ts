import type { HomeFolders } from "../../../world/home-folders.ts";
import type { ModelRef } from "../../../agent/models/name.ts";
import type { AgentSession } from "../../../agent/open-agent.ts";
import type { ApprovalMode } from "../../../policy/gate/approval-mode.ts";
import type { LoadedSettings } from "../../../settings/load/load.ts";
import type { World } from "../../../world/world.ts";
import type { SessionChoice } from "../commands/slash-command.ts";
import { printError } from "../transcript/message.ts";
import { ChatSession, type ChatOptions, type ChatOutput } from "./chat-session.ts";
import type { CommandSnapshots } from "./command-changes.ts";
import type { EditSnapshots } from "./edit-snapshots.ts";

/** Opens and discards sessions. */
export type SessionSource = {
  readonly world: World;
  readonly home: HomeFolders;
  /** The settings before a session is opened. */
  readonly loaded: LoadedSettings;
  /** Opens the session requested at start, or the given one, with a model instead of the configured one. Settings are read again. */
  readonly open: (resume?: SessionChoice, model?: ModelRef) => Promise<OpenedChat>;
  /** Deletes a session without messages. */
  readonly discard: (id: string) => Promise<void>;
};

/** An opened session, and the world and settings it was opened with: stored keys and URLs may have changed. */
export type OpenedChat = {
  readonly opened: AgentSession;
  readonly world: World;
  readonly loaded: LoadedSettings;
};

/** Which session was opened: the first of this run, the one that was open before, or another. */
export type OpenedWhich = "first" | "same" | "other";

/** Where sessions are shown, and listeners for opening and closing one. */
export type ActiveSessionOptions = ChatOutput &
  Pick<ChatOptions, "ide" | "prepare" | "prepareEvent" | "sumsUpTurns" | "openCommandSnapshots"> & {
    /** Called before the session accepts prompts. */
    readonly onOpen: (opened: AgentSession, which: OpenedWhich) => Promise<void>;
    readonly onClose: () => void;
  };

/**
 * The current session, and switching to another. There is none while one is being opened or closed, so that no prompt
 * reaches a session that is about to end. Only one such change runs at a time.
 */
export class ActiveSession {
  readonly #source: SessionSource;
  readonly #options: ActiveSessionOptions;
  #chat: ChatSession | undefined;
  #loaded: LoadedSettings;
  #world: World;
  #mode: ApprovalMode;
  #isClosed = false;
  #change: Promise<unknown> = Promise.resolve();

  constructor(source: SessionSource, options: ActiveSessionOptions) {
    this.#source = source;
    this.#options = options;
    this.#loaded = source.loaded;
    this.#world = source.world;
    this.#mode = source.loaded.policy.mode;
  }

  get chat(): ChatSession | undefined {
    return this.#chat;
  }

  get loaded(): LoadedSettings {
    return this.#loaded;
  }

  get world(): World {
    return this.#world;
  }

  get mode(): ApprovalMode {
    return this.#mode;
  }

  opened(): AgentSession {
    if (this.#chat === undefined) throw new Error("No session yet.");
    return this.#chat.opened;
  }

  snapshots(): EditSnapshots {
    if (this.#chat === undefined) throw new Error("No session yet.");
    return this.#chat.snapshots;
  }

  /** The stored files around commands of the session. */
  commandSnapshots(): Promise<CommandSnapshots> {
    if (this.#chat === undefined) throw new Error("No session yet.");
    return this.#chat.commandSnapshots();
  }

  /** Opens the session requested at start, or the given one. */
  open(resume?: SessionChoice): Promise<void> {
    return this.#exclusively(async () => {
      if (!this.#isClosed) await this.#start(await this.#source.open(resume), "first");
    });
  }

  /** Opens another session; if that fails, reopens the previous one. A new session keeps the chosen models, the effort and the approval mode. */
  reopen(resume: SessionChoice): Promise<void> {
    return this.#exclusively(async () => {
      if (!this.#isClosed) await this.#replace(resume);
    });
  }

  /** Closes the session for good, once none is being opened. Returns its id if it was used; an unused session is discarded. */
  close(): Promise<string | undefined> {
    this.#isClosed = true;
    return this.#exclusively(() => this.#closeCurrent());
  }

  /** Applies to later calls and to pending questions. */
  async setMode(mode: ApprovalMode): Promise<void> {
    const { services, agent } = this.opened();
    const { gate } = await services();
    gate.setMode(mode);
    this.#mode = mode;
    await agent.reevaluateApprovals();
    this.#options.frontEnd.update();
  }

  /** Runs a change after those before it. */
  #exclusively<Result>(change: () => Promise<Result>): Promise<Result> {
    const changed = this.#change.then(change);
    this.#change = changed.catch(() => undefined);
    return changed;
  }

  async #replace(resume: SessionChoice): Promise<void> {
    const { open } = this.#source;
    const { session, agent } = this.opened();
    const { id } = session;
    const [pool, model, effort, mode] = [agent.pool(), agent.model(), agent.thinking(), this.#mode];
    const isModeChosen = mode !== this.#loaded.policy.mode;
    const again = (await this.#closeCurrent()) === undefined ? "new" : { id };
    const isSame = resume !== "new" && resume.id === id;
    const wanted = isSame ? again : resume;
    let keepsModel = resume === "new" || isSame;
    const started = await open(wanted, isSame ? model : undefined).catch(async (error: unknown) => {
      printError(this.#options.frontEnd, error instanceof Error ? error.message : String(error));
      keepsModel = true;
      return open(again, model);
    });
    if (keepsModel) await started.opened.agent.switchModel(pool, model);
    if (resume === "new") started.opened.agent.setThinking(effort);
    const which = started.opened.session.id === id ? "same" : "other";
    await this.#start(started, which, isModeChosen ? mode : undefined);
  }

  async #closeCurrent(): Promise<string | undefined> {
    const chat = this.#chat;
    if (chat === undefined) return undefined;
    this.#chat = undefined;
    this.#options.onClose();
    await chat.park();
    const { agent, session, close } = chat.opened;
    const wasUsed = agent.hasMessages();
    await close();
    if (!wasUsed) await this.#source.discard(session.id);
    return wasUsed ? session.id : undefined;
  }

  async #start({ opened, world, loaded }: OpenedChat, which: OpenedWhich, mode = loaded.policy.mode): Promise<void> {
    const { home } = this.#source;
    const { onOpen, ...output } = this.#options;
    const { frontEnd } = output;
    this.#loaded = loaded;
    this.#world = world;
    this.#mode = mode;
    if (mode !== loaded.policy.mode) (await opened.services()).gate.setMode(mode);
    await onOpen(opened, which);
    const chat = new ChatSession({ ...output, opened, world, home: home.data });
    this.#chat = chat;
    opened.servers?.listen(() => frontEnd.update());
    void chat.refreshContextUsage();
    void chat.continueTurn();
  }
}
