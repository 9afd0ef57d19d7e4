import type { AgentSession } from "../../../agent/open-agent.ts";
import type { ApprovalMode } from "../../../policy/gate/approval-mode.ts";
import type { LoadedSettings } from "../../../settings/load/load.ts";
import type { World } from "../../../world/world.ts";
import type { SessionChoice } from "../commands/slash-command.ts";
import { printError } from "../transcript/message.ts";
import { ChatSession, type ChatOptions, type ChatOutput } from "./chat-session.ts";
import type { EditSnapshots } from "./edit-snapshots.ts";

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

/** An opened session, and the world and settings it was opened with: stored keys and URLs may have changed. */
export type OpenedChat = {
  readonly opened: AgentSession;
  readonly world: World;
  readonly loaded: LoadedSettings;
};

/** Where sessions are shown, and listeners for opening and closing one. */
export type ActiveSessionOptions = ChatOutput &
  Pick<ChatOptions, "ide"> & {
    readonly onOpen: (opened: AgentSession, isFirst: boolean) => Promise<void>;
    readonly onClose: () => void;
  };

/** The current session, and switching to another. There is none while one is being opened. */
export class ActiveSession {
  readonly #source: SessionSource;
  readonly #options: ActiveSessionOptions;
  #chat: ChatSession | undefined;
  #loaded: LoadedSettings;
  #world: World;
  #mode: ApprovalMode;
  #isFirst = true;

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

  /** Opens the session requested at start, or the given one. */
  async open(resume?: SessionChoice): Promise<void> {
    await this.#start(await this.#source.open(resume));
  }

  /** Opens another session; if that fails, reopens the previous one. A new session keeps the chosen models, the effort and the approval mode. */
  async reopen(resume: SessionChoice): Promise<void> {
    const { open } = this.#source;
    const { session, agent } = this.opened();
    const { id } = session;
    const [pool, model, effort, mode] = [agent.pool(), agent.model(), agent.thinking(), this.#mode];
    const isModeChosen = mode !== this.#loaded.policy.mode;
    const again = (await this.close()) ? { id } : "new";
    const wanted = resume !== "new" && resume.id === id ? again : resume;
    const started = await open(wanted).catch(async (error: unknown) => {
      printError(this.#options.frontEnd, error instanceof Error ? error.message : String(error));
      return open(again);
    });
    if (resume === "new") {
      started.opened.agent.switchModel(pool, model);
      started.opened.agent.setThinking(effort);
    }
    await this.#start(started);
    if (isModeChosen) await this.setMode(mode);
  }

  /** Closes the session. Returns true if it was used; an unused session is discarded. */
  async close(): Promise<boolean> {
    const chat = this.#chat;
    if (chat === undefined) return false;
    this.#chat = undefined;
    this.#options.onClose();
    await chat.cancel();
    const { opened } = chat;
    const wasUsed = opened.agent.hasMessages();
    await opened.close();
    if (!wasUsed) await this.#source.discard(opened.session.id);
    return wasUsed;
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

  async #start({ opened, world, loaded }: OpenedChat): Promise<void> {
    const { home } = this.#source;
    const { transcript, frontEnd, onOpen, ide } = this.#options;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    this.#loaded = loaded;
    this.#world = world;
    this.#mode = loaded.policy.mode;
    const chat = new ChatSession({ opened, world, home, transcript, frontEnd, ide });
    this.#chat = chat;
    await onOpen(opened, isFirst);
    opened.servers?.listen(() => frontEnd.update());
    void chat.refreshContextUsage();
  }
}
