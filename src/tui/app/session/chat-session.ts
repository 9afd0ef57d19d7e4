import type { AgentSession } from "../../../agent/open-agent.ts";
import type { UserPart } from "../../../conversation/parts.ts";
import type { TokenUsage } from "../../../wire/decode/events.ts";
import type { World } from "../../../world/world.ts";
import type { FrontEnd } from "../front-ends/front-end.ts";
import { printError, printInfo } from "../transcript/message.ts";
import type { TranscriptView } from "../transcript/transcript-view.ts";
import { EditSnapshots } from "./edit-snapshots.ts";

/** Where a chat session shows its events: as lines of the transcript, printed on the front end. */
export type ChatOutput = {
  readonly transcript: Pick<TranscriptView, "handleEvent">;
  readonly frontEnd: Pick<FrontEnd, "print" | "width" | "update" | "waitForDrain">;
};

/** Options of a chat session. */
export type ChatOptions = ChatOutput & {
  readonly opened: AgentSession;
  readonly world: Pick<World, "clock" | "files">;
  readonly home: string;
};

/** A prompt with its attachments. */
export type UserPrompt = { readonly text: string; readonly parts: readonly UserPart[] };

/** Runs the turns of one session: submits prompts, queues those typed during a turn, and tracks context use. */
export class ChatSession {
  readonly opened: AgentSession;
  readonly #options: ChatOptions;
  readonly #queue: (readonly UserPart[])[] = [];
  /** Parts added to the user's next prompt. */
  readonly #nextPromptParts: UserPart[] = [];
  #snapshots: EditSnapshots | undefined;
  #busySince: number | undefined;
  #turn: Promise<void> = Promise.resolve();
  #context = { used: 0, size: 0 };
  #lastUsage: TokenUsage | undefined;

  constructor(options: ChatOptions) {
    this.opened = options.opened;
    this.#options = options;
  }

  /** When the running turn began. */
  get busySince(): number | undefined {
    return this.#busySince;
  }

  get context(): { readonly used: number; readonly size: number } {
    return this.#context;
  }

  /** Token usage of the last response. */
  get lastUsage(): TokenUsage | undefined {
    return this.#lastUsage;
  }

  /** Snapshots of the session's edits, read on first use. */
  get snapshots(): EditSnapshots {
    const { world, home } = this.#options;
    return (this.#snapshots ??= new EditSnapshots(world, home, this.opened.session.id));
  }

  /** Adds a part to the user's next prompt. */
  addToNextPrompt(part: UserPart): void {
    this.#nextPromptParts.push(part);
  }

  /** Submits a prompt: as a turn of its own, or queued in the running one. */
  submit(prompt: UserPrompt): Promise<void> {
    return this.#busySince === undefined ? this.#beginTurn(this.#collectParts(prompt)) : this.#enqueue(prompt);
  }

  /** Cancels the running turn. Resolves when nothing runs any more. */
  async cancel(): Promise<void> {
    this.#queue.splice(0);
    await this.opened.agent.cancel();
    await this.#turn;
  }

  /** Updates the context use. */
  async refreshContextUsage(): Promise<void> {
    this.#context = await this.opened.agent.contextUsage();
    this.#options.frontEnd.update();
  }

  #beginTurn(parts: Promise<readonly UserPart[]>): Promise<void> {
    this.#busySince = this.#options.world.clock.elapsed();
    this.#options.frontEnd.update();
    this.#turn = this.#runTurn(parts);
    return this.#turn;
  }

  /** Sends a prompt and hands every event of the agent to the transcript, waiting while the terminal is slower. */
  async #runTurn(parts: Promise<readonly UserPart[]>): Promise<void> {
    const { transcript, frontEnd } = this.#options;
    const { agent } = this.opened;
    try {
      for await (const event of agent.send(await parts)) {
        if (event.type === "usage") this.#lastUsage = event.usage;
        transcript.handleEvent(event);
        this.snapshots.recordEvent(event, agent.entryCount());
        frontEnd.update();
        if (event.type === "usage") void this.refreshContextUsage();
        await frontEnd.waitForDrain();
      }
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      printError(frontEnd, `This is a bug in Parley. ${text}`);
    } finally {
      this.#busySince = undefined;
    }
    await this.refreshContextUsage();
    const next = this.#queue.shift();
    if (next !== undefined) await this.#beginTurn(Promise.resolve(next));
  }

  async #enqueue(prompt: UserPrompt): Promise<void> {
    const parts = await this.#collectParts(prompt);
    if (this.opened.agent.queueMessage(parts))
      printInfo(this.#options.frontEnd, "Queued. Sent after the current step.");
    else if (this.#busySince === undefined) await this.#beginTurn(Promise.resolve(parts));
    else this.#queue.push(parts);
  }

  async #collectParts({ text, parts }: UserPrompt): Promise<readonly UserPart[]> {
    const added = this.#nextPromptParts.splice(0);
    const attached = await this.opened.attach(text, new AbortController().signal);
    for (const message of attached.messages) printInfo(this.#options.frontEnd, message);
    return [...added, ...attached.parts, ...parts];
  }
}
