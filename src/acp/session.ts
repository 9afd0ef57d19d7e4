import type { HomeFolders } from "../world/home-folders.ts";
import type { PromptResponse, SessionUpdate } from "@agentclientprotocol/sdk";
import type { AgentEvent } from "../agent/events.ts";
import { loadModel, modelName } from "../agent/models/name.ts";
import { singleModelPool } from "../agent/models/choose.ts";
import type { AgentSession } from "../agent/open-agent.ts";
import type { OpenAgentOptions } from "../agent/options.ts";
import { isObject, type JsonObject } from "../conversation/json.ts";
import type { UserPart } from "../conversation/parts.ts";
import { isApprovalMode, type ApprovalMode } from "../policy/gate/approval-mode.ts";
import { createRedactor, type Redactor } from "../policy/secrets/redact.ts";
import { mapTexts } from "../scheduler/result/sanitize-display.ts";
import type { LoadedSettings } from "../settings/load/load.ts";
import type { World } from "../world/world.ts";
import { createBuffers } from "./buffers.ts";
import { CallPermissions } from "./call-permissions.ts";
import type { SessionClient } from "./client.ts";
import type { SessionCommands } from "./commands.ts";
import {
  describeConfig,
  describeModels,
  describeModes,
  isThoughtLevel,
  listModels,
  providerOf,
  type SessionConfig,
  type ThoughtLevel,
} from "./config.ts";
import type { OfferedServers, ServerConsent } from "./offered-servers.ts";
import { readPrompt, type ClientPrompt } from "./prompt.ts";
import { QuestionDialog } from "./questions.ts";
import { invalidParams } from "./rpc-error.ts";
import { fence } from "./tool-call.ts";
import { failureError, stopReasons, type TurnEndEvent } from "./turn-end.ts";
import { foldEvent, initialState, type SessionEvent, type UpdateState } from "./updates.ts";

/** An opened agent session, and what it was opened with. */
export type OpenedSession = {
  readonly opened: AgentSession;
  readonly loaded: LoadedSettings;
  readonly world: World;
  readonly home: HomeFolders;
  readonly folder: string;
};

/** One session of a client: runs its prompts, sends updates and asks for permissions. */
export class AcpSession {
  readonly #client: SessionClient;
  readonly #dialog: QuestionDialog;
  readonly #permissions: CallPermissions;
  #redactor: Redactor | undefined;
  /** The answers about MCP servers of the client, by name. */
  readonly #serverAnswers = new Map<string, Promise<boolean>>();
  /** Servers the person is asked about with the first prompt. */
  readonly #serverQuestions: ServerQuestion[] = [];
  #commands: Promise<SessionCommands> | undefined;
  #outputs = 0;
  /** Messages for the person that wait for the first prompt. */
  #notes: string[] = [];
  #session: OpenedSession | undefined;
  #state: UpdateState = initialState;
  #turn: RunningTurn | undefined;
  /** Prompts that wait for the running turn to end, one after the other. */
  #line: Promise<unknown> = Promise.resolve();
  /** Counts cancellations: a prompt that waits is cancelled by the next one. */
  #cancellations = 0;
  /** Measurements of the context window that are still to be sent. */
  #measurement: Promise<void> = Promise.resolve();
  #mode: ApprovalMode = "default";
  #thoughtLevel: ThoughtLevel = "default";
  #hasTitle = false;

  constructor(client: SessionClient) {
    this.#client = client;
    this.#dialog = new QuestionDialog(client);
    this.#permissions = new CallPermissions({
      client,
      session: () => this.#opened,
      redact: (call) => this.#redactCall(call),
      notice: (text) => this.#fold({ type: "notice", text }),
      cancel: () => void this.cancel(),
    });
  }

  /** The options to open the agent with: its events and questions reach the client, which may hold unsaved files. */
  openOptions(clock: World["clock"], offered: OfferedServers | undefined): SessionOpenOptions {
    const buffers = createBuffers(this.#client, clock);
    const askUser = this.#dialog.askUser();
    for (const [name, answer] of offered?.answers ?? []) this.#serverAnswers.set(name, Promise.resolve(answer));
    for (const consent of offered?.unanswered ?? [])
      this.#serverAnswers.set(consent.name, new Promise((resolve) => this.#serverQuestions.push({ consent, resolve })));
    return {
      onEvent: this.onEvent,
      serverRequests: this.#dialog.handlers(),
      confirm: this.#dialog.confirmContinue,
      ...(askUser === undefined ? {} : { askUser }),
      ...(buffers === undefined ? {} : { buffers }),
      ...(offered === undefined
        ? {}
        : {
            offeredServers: offered.configs,
            consentToServer: async ({ name }) => (await this.#serverAnswers.get(name)) ?? false,
          }),
    };
  }

  /** Takes the session over once it is open. Events before that are shown, too. */
  start(
    session: OpenedSession,
    { notes, hasTitle }: { readonly notes: readonly string[]; readonly hasTitle: boolean },
  ): void {
    this.#session = session;
    this.#mode = session.loaded.policy.mode;
    this.#thoughtLevel = session.loaded.settings.thinking ?? "default";
    this.#hasTitle = hasTitle;
    this.#notes = [...notes];
    // The prompts of MCP servers are commands, too.
    session.opened.servers?.listen((event) => {
      if (event.type === "server-changed" && this.#commands !== undefined) void this.sendCommands();
    });
  }

  /** Sends the list of slash commands. */
  async sendCommands(): Promise<void> {
    const commands = await this.#loadCommands();
    this.#client.update({ sessionUpdate: "available_commands_update", availableCommands: commands.list() });
  }

  #loadCommands(): Promise<SessionCommands> {
    this.#commands ??= (async () => {
      const { SessionCommands } = await import("./commands.ts");
      const commands = new SessionCommands({
        session: this.#opened,
        dialog: this.#dialog,
        setMode: (mode) => this.setMode(mode),
        setModel: (model) => this.setModel(model),
      });
      await commands.load();
      return commands;
    })();
    return this.#commands;
  }

  get id(): string {
    return this.#opened.opened.session.id;
  }

  get session(): OpenedSession {
    return this.#opened;
  }

  /** Modes, config options and models, as `session/new` and `session/load` return them. */
  describe(): object {
    const config = this.#config();
    return { modes: describeModes(config), configOptions: describeConfig(config), models: describeModels(config) };
  }

  /** Receives every event of the agent. */
  readonly onEvent = (event: AgentEvent): void => {
    this.#permissions.watch(event);
    this.#fold(event);
    if (event.type === "usage") this.#measure();
    if (event.type === "user") this.#sendTitle(event.parts);
    if (event.type === "model-changed") this.#sendConfig();
  };

  /** Runs a prompt, or queues it in the running turn, and resolves once the turn has ended. */
  async prompt(blocks: unknown, signal: AbortSignal): Promise<PromptResponse> {
    const prompt = readPrompt(blocks);
    const cancellations = this.#cancellations;
    const abort = (): void => void this.cancel();
    signal.addEventListener("abort", abort, { once: true });
    try {
      const turn = this.#turn;
      if (turn === undefined) return await this.#begin(prompt);
      if (!prompt.text.startsWith("/") && (await this.#enqueue(prompt, turn))) return await turn.ended;
      return await this.#waitInLine(() =>
        cancellations === this.#cancellations ? this.#begin(prompt) : { stopReason: "cancelled" },
      );
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** Cancels the running turn and the prompts that wait. Resolves once nothing runs any more. */
  async cancel(): Promise<void> {
    this.#cancellations += 1;
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#permissions.dropQuestions();
    turn.isCancelled = true;
    // As the person first, so that calls are recorded as cancelled.
    await this.#opened.opened.agent.cancel();
    turn.controller.abort();
    await turn.ended.catch(() => undefined);
  }

  /** Changes the approval mode, for later calls and for pending questions. */
  async setMode(mode: unknown): Promise<void> {
    if (!isApprovalMode(mode)) throw invalidParams(`Unknown mode ${JSON.stringify(mode)}.`);
    const { opened } = this.#opened;
    const { gate } = await opened.services();
    gate.setMode(mode);
    this.#mode = mode;
    await opened.agent.reevaluateApprovals();
    this.#client.update({ sessionUpdate: "current_mode_update", currentModeId: mode });
    this.#sendConfig();
  }

  /** Changes a config option and returns all of them. */
  async setOption(id: unknown, value: unknown): Promise<object> {
    switch (id) {
      case "mode":
        await this.setMode(value);
        break;
      case "model":
        await this.setModel(value);
        break;
      case "thought_level":
        this.#setThoughtLevel(value);
        break;
      default:
        throw invalidParams(`Unknown option ${JSON.stringify(id)}. Available: mode, model, thought_level.`);
    }
    return { configOptions: describeConfig(this.#config()) };
  }

  /** Switches the model from the next request on, and says what that costs and loses. */
  async setModel(name: unknown): Promise<void> {
    if (typeof name !== "string") throw invalidParams("A model is named as provider/model.");
    const { agent } = this.#opened.opened;
    const model = await loadModel(name).catch((error: unknown) => {
      throw invalidParams(error instanceof Error ? error.message : String(error));
    });
    const before = modelName(agent.model());
    if (modelName(model) === before) return;
    const check = agent.hasMessages() ? await agent.checkSwitch(model) : undefined;
    const result = await agent.switchModel(singleModelPool(model));
    if (!result.isSwitched) throw invalidParams(result.reason);
    if (check === undefined || providerOf(before) === model.provider.id) return;
    const { switchNotice } = await import("./switch-notice.ts");
    this.#fold({ type: "notice", text: switchNotice(check) });
  }

  /** Shows messages for the person: as notices at once, or as thoughts with the first prompt. */
  sendNotes(): void {
    if (this.#client.capabilities.notices) this.#flushNotes();
  }

  /** Sends the to-do list and the use of the context window, as they are after a session was loaded. */
  async sendProgress(): Promise<void> {
    const { opened } = this.#opened;
    const todos = opened.todos();
    if (todos.length > 0) this.#fold({ type: "todos", todos });
    this.#measure();
    await this.#measurement;
  }

  /** Sends the config options, after one changed. */
  #sendConfig(): void {
    if (this.#session === undefined) return;
    this.#client.update({ sessionUpdate: "config_option_update", configOptions: describeConfig(this.#config()) });
  }

  #setThoughtLevel(level: unknown): void {
    if (!isThoughtLevel(level)) throw invalidParams(`Unknown thinking level ${JSON.stringify(level)}.`);
    this.#opened.opened.agent.setThinking(level === "default" ? undefined : level);
    this.#thoughtLevel = level;
    this.#sendConfig();
  }

  #config(): SessionConfig {
    const { opened, world } = this.#opened;
    const { agent } = opened;
    const current = agent.model();
    return {
      mode: this.#mode,
      model: modelName(current),
      thoughtLevel: this.#thoughtLevel,
      models: listModels([current, ...agent.pool().models], world.env),
    };
  }

  get #opened(): OpenedSession {
    if (this.#session === undefined) throw new Error("The session is not open yet.");
    return this.#session;
  }

  /** Adds a prompt to the running turn, after its current step. False if the turn does not take it any more. */
  async #enqueue(prompt: ClientPrompt, turn: RunningTurn): Promise<boolean> {
    const parts = await this.#collectParts(prompt, turn.controller.signal);
    return this.#turn === turn && !turn.isCancelled && this.#opened.opened.agent.queueMessage(parts);
  }

  #begin(prompt: ClientPrompt): Promise<PromptResponse> {
    const controller = new AbortController();
    const turn: RunningTurn = { controller, isCancelled: false, ended: Promise.resolve({ stopReason: "end_turn" }) };
    this.#turn = turn;
    turn.ended = this.#run(prompt, turn).finally(() => {
      if (this.#turn === turn) this.#turn = undefined;
    });
    return turn.ended;
  }

  async #waitInLine(run: () => PromptResponse | Promise<PromptResponse>): Promise<PromptResponse> {
    const turn = this.#line.then(async () => {
      while (this.#turn !== undefined) await this.#turn.ended.catch(() => undefined);
      return run();
    });
    this.#line = turn.catch(() => undefined);
    return turn;
  }

  /** Runs one turn. All updates are sent before it resolves. */
  async #run(prompt: ClientPrompt, turn: RunningTurn): Promise<PromptResponse> {
    const { agent } = this.#opened.opened;
    const { signal } = turn.controller;
    let end: TurnEndEvent = { type: "cancelled" };
    this.#flushNotes();
    try {
      await this.#askAboutServers(turn);
      const sent = prompt.text.startsWith("/") ? await this.#runCommand(prompt) : prompt;
      if (sent === undefined) return { stopReason: turn.isCancelled ? "cancelled" : "end_turn" };
      const parts = turn.isCancelled ? [] : await this.#collectParts(sent, signal);
      if (!turn.isCancelled)
        for await (const event of agent.send(parts, signal))
          if (event.type === "finished" || event.type === "failed" || event.type === "cancelled") end = event;
    } catch (error) {
      if (!turn.isCancelled) throw error;
    } finally {
      this.#fold({ type: "cancelled" });
      this.#permissions.endTurn();
    }
    await this.#measurement;
    if (turn.isCancelled) return { stopReason: "cancelled" };
    return this.#answer(end);
  }

  /** Asks about the MCP servers of the client that were never allowed or declined as they are now. */
  async #askAboutServers({ controller: { signal } }: RunningTurn): Promise<void> {
    for (const { consent, resolve } of this.#serverQuestions.splice(0)) {
      const chosen = signal.aborted
        ? undefined
        : await this.#dialog.ask(
            {
              title: `Start the MCP server ${consent.name}?`,
              text: fence(consent.text),
              options: [
                { optionId: "once", name: "Start it in this session", kind: "allow_once" },
                { optionId: "always", name: "Always start it in this project", kind: "allow_always" },
                { optionId: "no", name: "Do not start it", kind: "reject_once" },
              ],
            },
            signal,
          );
      if (chosen === "always") {
        const { allowServer } = await import("./offered-servers.ts");
        const { world, home, folder } = this.#opened;
        await allowServer(consent, { disk: world.disk, home: home.config, folder });
      }
      resolve(chosen === "once" || chosen === "always");
    }
  }

  /** Runs a slash command. Returns the prompt to send: that of the command, or the text itself if it names none. */
  async #runCommand(prompt: ClientPrompt): Promise<ClientPrompt | undefined> {
    const commands = await this.#loadCommands();
    const output = await commands.run(prompt.text).catch((error: unknown) => ({
      text: error instanceof Error ? error.message : String(error),
      prompt: undefined,
    }));
    if (output === undefined) return prompt;
    this.#outputs += 1;
    if (output.text !== "")
      this.#client.update({
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: output.text },
        messageId: `command_${this.#outputs}`,
      });
    return output.prompt === undefined
      ? undefined
      : { ...prompt, text: output.prompt.text, parts: [...output.prompt.parts, ...prompt.parts] };
  }

  #answer(end: TurnEndEvent): PromptResponse {
    switch (end.type) {
      case "cancelled":
        return { stopReason: "cancelled" };
      case "failed":
        throw failureError(end.failure);
      case "finished": {
        const { stopReason, message } = stopReasons[end.reason];
        if (message !== undefined) this.#fold({ type: "notice", text: message });
        return { stopReason };
      }
    }
  }

  async #collectParts({ text, parts, blobs }: ClientPrompt, signal: AbortSignal): Promise<readonly UserPart[]> {
    const { opened } = this.#opened;
    opened.addBlobs(blobs);
    const attached = text === "" ? { parts: [], messages: [] } : await opened.attach(text, signal);
    for (const message of attached.messages) this.#fold({ type: "notice", text: message });
    return [...attached.parts, ...parts];
  }

  #fold(event: SessionEvent): void {
    const session = this.#session;
    const { state, updates } = foldEvent(this.#state, event, {
      folder: session?.folder ?? "",
      features: this.#client.capabilities,
      entries: session?.opened.agent.entryCount() ?? 0,
    });
    this.#state = state;
    for (const update of updates) this.#send(update);
  }

  #send(update: SessionUpdate): void {
    if (this.#session === undefined) return;
    this.#client.update(update.sessionUpdate === "tool_call" ? this.#redactCall(update) : update);
  }

  /** Redacts secrets in what a client shows of a call's arguments. Results are redacted where they are made. */
  #redactCall<Shown extends { readonly title?: string | null; readonly rawInput?: unknown }>(shown: Shown): Shown {
    this.#redactor ??= createRedactor({ env: this.#opened.world.env });
    const { redact } = this.#redactor;
    const { title, rawInput } = shown;
    return {
      ...shown,
      ...(typeof title === "string" ? { title: redact(title) } : {}),
      ...(isObject(rawInput) ? { rawInput: mapTexts(rawInput as JsonObject, redact, (key) => key) } : {}),
    };
  }

  #flushNotes(): void {
    for (const text of this.#notes.splice(0)) this.#fold({ type: "notice", text });
  }

  #measure(): void {
    const { agent } = this.#opened.opened;
    this.#measurement = agent.contextUsage().then(
      ({ used, size }) => this.#fold({ type: "context", used, size, cost: agent.usageTotals().cost }),
      () => undefined,
    );
  }

  /** The title of a new session is the beginning of its first prompt, as in lists of sessions. */
  #sendTitle(parts: readonly UserPart[]): void {
    if (this.#hasTitle) return;
    const [first] = parts.flatMap((part) => (part.type === "text" ? [part.text.replaceAll(/\s+/g, " ").trim()] : []));
    if (first === undefined || first === "") return;
    this.#hasTitle = true;
    const title = first.length <= 80 ? first : `${Array.from(first).slice(0, 79).join("")}…`;
    this.#client.update({ sessionUpdate: "session_info_update", title });
  }
}

/** The options of the agent that connect it with the client. */
export type SessionOpenOptions = Pick<
  OpenAgentOptions,
  "onEvent" | "serverRequests" | "confirm" | "askUser" | "buffers" | "offeredServers" | "consentToServer"
>;

type ServerQuestion = { readonly consent: ServerConsent; readonly resolve: (isAllowed: boolean) => void };

type RunningTurn = {
  readonly controller: AbortController;
  isCancelled: boolean;
  ended: Promise<PromptResponse>;
};
