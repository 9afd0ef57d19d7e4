import { tmpdir } from "node:os";
import { basename } from "node:path";
import type { PendingApproval } from "../../../agent/agent.ts";
import type { AgentEvent } from "../../../agent/events.ts";
import type { AgentSession } from "../../../agent/open-agent.ts";
import { text as textPart } from "../../../conversation/builders.ts";
import type { UserPart } from "../../../conversation/parts.ts";
import { connectIde } from "../../../ide/connect.ts";
import { describeProblems, DiagnosticsWatch } from "../../../ide/diagnostics-watch.ts";
import { chooseIde, findIdes, type IdeOffer } from "../../../ide/discover.ts";
import type { Ide, IdeContext } from "../../../ide/ide.ts";
import { describeContext, lineRange } from "../../../ide/prompt-context.ts";
import type { ApprovalDecision } from "../../../scheduler/events.ts";
import type { World } from "../../../world/world.ts";
import { pluralize } from "../commands/built-in/format.ts";
import { EditorDiffs } from "./editor-diffs.ts";
import { attachMentions, describeMention, visiblePath, type VisibleMention } from "./visible-files.ts";

/** The program around the connection. */
export type IdeHost = {
  readonly world: World;
  readonly folder: string;
  /** The open session, if there is one. */
  readonly opened: () => AgentSession | undefined;
  readonly info: (text: string) => void;
  /** The status changed. */
  readonly onChange: () => void;
};

/** Milliseconds in which changes of the editor are collected: it reports every movement of the cursor. */
const changeDelay = 100;

type Connection = {
  readonly offer: IdeOffer;
  readonly ide: Ide;
  readonly diffs: EditorDiffs;
  readonly watch: DiagnosticsWatch;
};

/** The connection to the user's editor: context for prompts, diffs for approvals, problems after edits. */
export class IdeClient {
  readonly #host: IdeHost;
  #connection: Connection | undefined;
  /** The context with the files the model may know, under the names it knows. */
  #visible: IdeContext = { openFiles: [] };
  /** The context the model knows. */
  #described: IdeContext | undefined;
  #mentions: VisibleMention[] = [];
  #cancelChange: (() => void) | undefined;

  constructor(host: IdeHost) {
    this.#host = host;
  }

  /** The editor, and what the next prompt says of it; undefined without a connection. */
  get status(): string | undefined {
    const connection = this.#connection;
    if (connection === undefined) return undefined;
    const { name } = connection.ide;
    if (connection.diffs.isOpen) return `${name}: diff`;
    const { openFiles, selection } = this.#visible;
    if (selection !== undefined) return `${name}: ${selection.path}, ${lineRange(selection)}`;
    return openFiles[0] === undefined ? name : `${name}: ${openFiles[0]}`;
  }

  /** The connected editor's offer. */
  get current(): IdeOffer | undefined {
    return this.#connection?.offer;
  }

  /** Finds the editors of this user, the most likely first. */
  async offers(): Promise<readonly IdeOffer[]> {
    const { world, folder } = this.#host;
    const real = (await world.disk.canonicalPath(folder)) ?? folder;
    return findIdes({ world, folder: real, temporary: tmpdir() });
  }

  /** Connects to the editor this program belongs to, if that is certain. */
  async connectAutomatically(): Promise<void> {
    const offers = await this.offers();
    const offer = chooseIde(offers);
    if (offer !== undefined) return this.connect(offer);
    if (offers.some(({ isFor }) => isFor !== undefined))
      this.#host.info("Several editors have this folder open. Choose one with /ide.");
  }

  async connect(offer: IdeOffer): Promise<void> {
    this.disconnect();
    const { world, info } = this.#host;
    try {
      const ide = await connectIde(offer, world, {
        onChange: () => this.#scheduleChange(),
        onClose: () => this.#lose(),
      });
      this.disconnect();
      this.#connection = { offer, ide, diffs: this.#createDiffs(ide), watch: this.#createWatch(ide) };
      this.#described = undefined;
      info(`Connected to ${ide.name}. /ide to change.`);
      this.#scheduleChange();
      this.#connection.diffs.update();
    } catch {
      info(`Could not connect to ${offer.name}. Try again with /ide.`);
    }
    this.#host.onChange();
  }

  disconnect(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#cancelChange?.();
    connection?.watch.close();
    connection?.diffs.close();
    connection?.ide.close();
    this.#host.onChange();
  }

  /** Describes everything again in the next prompt: the model does not know it, or no longer. */
  forget(): void {
    this.#described = undefined;
  }

  /** The parts a prompt gets: how the editor changed since the last one, and the places the user sent. */
  async promptParts(): Promise<readonly UserPart[]> {
    const opened = this.#host.opened();
    const ide = this.#connection?.ide;
    if (opened === undefined || ide === undefined) return [];
    await this.#collectMentions(ide, opened);
    const now = await this.#readVisible(ide, opened);
    const described = describeContext(now, this.#described);
    this.#described = now;
    const mentions = await attachMentions(this.#mentions.splice(0), opened);
    return [...(described === undefined ? [] : [textPart(described)]), ...mentions];
  }

  /** Follows the agent: what it asks, and what it edited. */
  handleEvent(event: AgentEvent): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    connection.diffs.update();
    this.#watchEdits(event, connection.watch);
  }

  /** Opens and closes diffs after the pending questions changed. */
  updateDiffs(): void {
    this.#connection?.diffs.update();
  }

  /** Returns the decision that counts for an answer given in the terminal. */
  async reconsider(question: PendingApproval, decision: ApprovalDecision): Promise<ApprovalDecision> {
    return this.#connection === undefined ? decision : this.#connection.diffs.reconsider(question, decision);
  }

  #watchEdits(event: AgentEvent, watch: DiagnosticsWatch): void {
    if (event.type === "agent") return this.#watchEdits(event.event, watch);
    if (event.type === "user") watch.takeBaseline();
    if (event.type === "compacted") this.forget();
    if (event.type !== "call-completed") return;
    const { display, outcome } = event.finished;
    if (display.type === "diff" && outcome.status === "complete") watch.watch(display.path);
  }

  #createDiffs(ide: Ide): EditorDiffs {
    const { world, opened, info, onChange } = this.#host;
    return new EditorDiffs(ide, {
      clock: world.clock,
      questions: () => opened()?.agent.pendingApprovals() ?? [],
      decide: ({ call, agent }, decision) => {
        opened()?.agent.decide(call, decision, agent);
        onChange();
      },
      info,
    });
  }

  #createWatch(ide: Ide): DiagnosticsWatch {
    const { world, opened, info } = this.#host;
    return new DiagnosticsWatch({
      ide,
      clock: world.clock,
      report: (path, problems) => {
        const session = opened();
        if (session === undefined) return;
        void visiblePath(path, session, world.disk).then((name) => {
          if (name === undefined) return;
          session.agent.addNotice(describeProblems(name, problems));
          info(`${ide.name}: ${pluralize(problems.length, "new problem")} in ${name}. Sent with the next request.`);
        });
      },
    });
  }

  #lose(): void {
    const name = this.#connection?.ide.name;
    if (name === undefined) return;
    this.disconnect();
    this.#host.info(`Lost the connection to ${name}. Reconnect with /ide.`);
  }

  #scheduleChange(): void {
    this.#cancelChange ??= this.#host.world.clock.after(changeDelay, () => {
      this.#cancelChange = undefined;
      void this.#showChange();
    });
  }

  async #showChange(): Promise<void> {
    const opened = this.#host.opened();
    const ide = this.#connection?.ide;
    if (opened === undefined || ide === undefined) return;
    await this.#collectMentions(ide, opened);
    this.#visible = await this.#readVisible(ide, opened);
    this.#host.onChange();
  }

  /** Takes the places the user sent, and says what becomes of them. */
  async #collectMentions(ide: Ide, opened: AgentSession): Promise<void> {
    for (const mention of ide.takeMentions()) {
      const path = await visiblePath(mention.path, opened, this.#host.world.disk);
      if (path === undefined) {
        this.#host.info(`Not sent: ${basename(mention.path)} is ignored, or not a file of this project.`);
        continue;
      }
      this.#mentions.push({ ...mention, path });
      this.#host.info(`Added to your next message: ${describeMention({ ...mention, path })}`);
    }
  }

  async #readVisible(ide: Ide, opened: AgentSession): Promise<IdeContext> {
    const { disk } = this.#host.world;
    const { openFiles, selection } = ide.context();
    const names = await Promise.all(openFiles.map((path) => visiblePath(path, opened, disk)));
    const path = selection && (await visiblePath(selection.path, opened, disk));
    return {
      openFiles: [...new Set(names.filter((name) => name !== undefined))],
      ...(selection === undefined || path === undefined ? {} : { selection: { ...selection, path } }),
    };
  }
}
