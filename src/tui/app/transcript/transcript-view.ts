import { describeHookActivity } from "../../../extensions/hooks/describe-activity.ts";
import type { AgentEvent } from "../../../agent/events.ts";
import type { CallId, Media } from "../../../conversation/parts.ts";
import type { FinishedCall } from "../../../scheduler/events.ts";
import type { Clock } from "../../../world/world.ts";
import { MarkdownStream, type MarkdownOptions } from "../../markdown/stream.ts";
import { truncate, line } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import { viewToolCall, type ToolCallView } from "../../views/tool-call.ts";
import type { ColoursOf } from "../../views/approval.ts";
import { viewDiff } from "../../views/diff.ts";
import type { FrontEnd } from "../front-ends/front-end.ts";
import {
  subagentText,
  addedRulesTexts,
  argumentTitle,
  changeText,
  callStatuses,
  endText,
  failureText,
  resultText,
  retryText,
  taskText,
  viewThinking,
} from "./event-text.ts";
import { CallAnnouncer } from "./call-announcer.ts";
import { messageLines } from "./message.ts";
import { endsRetries, RetryLine } from "./retry-line.ts";
import { CollapsedOutput, viewThinkingInFull } from "./collapsed-output.ts";

/** Options of a transcript view. */
export type TranscriptViewOptions = {
  readonly clock: Pick<Clock, "elapsed" | "after">;
  readonly markdown: MarkdownOptions;
  /** Prints lines that are final. */
  readonly frontEnd: Pick<FrontEnd, "print" | "width" | "keyLabel">;
  /** The colours of code in a diff. */
  readonly coloursOf?: ColoursOf;
  /** Shows media of a tool result or an answer, below a text that may name it. */
  readonly showMedia: (media: Media, above?: string) => void;
  /** Whether calls are reported as lines while they run, for screen readers. */
  readonly announcesCalls: boolean;
  /** Whether thinking is shown in full rather than by its topic. */
  readonly showsThinking?: boolean;
};

type RunningCall = {
  view: ToolCallView;
  startedAt: number;
  finished?: FinishedCall;
  /** The diff of its question, if that was printed. */
  printedPatch?: string;
};

/** Turns the events of a turn into lines: final ones are printed once, the others are live until they are final. */
export class TranscriptView {
  readonly #options: TranscriptViewOptions;
  readonly #calls = new Map<CallId, RunningCall>();
  readonly #subagents = new Map<string, string>();
  readonly #collapsed = new CollapsedOutput();
  readonly #retries = new RetryLine();
  readonly #announcer: CallAnnouncer | undefined;
  #text: MarkdownStream | undefined;
  #thinking = "";
  #showsThinking: boolean;

  constructor(options: TranscriptViewOptions) {
    this.#options = options;
    this.#showsThinking = options.showsThinking ?? false;
    if (options.announcesCalls) this.#announcer = new CallAnnouncer(options.clock, (text) => this.#info(text));
  }

  /** Switches between the topic of thinking and all of it. Returns whether all of it is shown now. */
  toggleThinking(): boolean {
    this.#showsThinking = !this.#showsThinking;
    return this.#showsThinking;
  }

  handleEvent(event: AgentEvent): void {
    if (endsRetries(event)) this.#info(this.#retries.take() ?? "");
    switch (event.type) {
      case "usage":
      case "request":
      case "user":
      case "todos":
        return;
      case "thought":
        this.#thinking += event.text;
        return;
      case "text":
        this.#endThinking();
        return this.#write(event.text);
      case "message":
        this.#endThinking();
        this.#endText();
        return event.media.forEach((media) => this.#options.showMedia(media));
      case "call-requested":
        return this.#addCall(event.call);
      case "call-updated":
        return this.#updateCall(event);
      case "call-output":
        this.#announcer?.setOutput(event.call, event.text);
        return this.#changeCall(event.call, (view) => ({ ...view, output: event.text }));
      case "permission-added":
        return addedRulesTexts(event).forEach((text) => this.#info(text));
      case "call-completed":
        return this.#completeCall(event.finished);
      case "model-changed":
        return this.#info(`Using ${event.to} (${changeText(event.reason)}).`);
      case "compacted":
        return this.#info(`Compacted the context from ${event.compaction.before} to ${event.compaction.after} tokens.`);
      case "retrying":
        return this.#handleRetry(event);
      case "notice":
        return this.#info(event.text);
      case "hook":
        return this.#info(describeHookActivity(event.activity) ?? "");
      case "task":
        return this.#info(taskText(event.task) ?? "");
      case "agent":
        return this.#handleSubagent(event);
      case "finished":
        this.#endTurn();
        return this.#info(endText(event.reason) ?? "");
      case "failed":
        this.#endTurn();
        return this.#printMessage(failureText(event.failure), "error");
      case "cancelled":
        this.#endTurn();
        return this.#printMessage("Cancelled.", "warning");
      case "parked":
        this.#endTurn();
        return this.#info("Paused: it asks again when the session is resumed.");
    }
  }

  /** The lines that may still change. */
  live(): readonly StyledLine[] {
    const width = this.#options.frontEnd.width();
    const now = this.#options.clock.elapsed();
    const retry = this.#retries.live(now);
    this.#text?.resize(width);
    return [
      ...(this.#thinking === "" ? [] : this.#liveThinking(width)),
      ...(this.#text?.openLines() ?? []),
      ...[...this.#calls.values()].flatMap(({ view, startedAt }) =>
        viewToolCall(view.status === "asking" ? view : { ...view, elapsed: now - startedAt }, width),
      ),
      ...(retry === undefined ? [] : messageLines(retry, width)),
      ...[...this.#subagents].map(([name, activity]) => line(`  ${name}: ${activity}`, { tone: "muted" })),
    ];
  }

  /** Starts a turn: collapsed output of the previous one is dropped. `pastes` were shown as labels. */
  beginTurn(pastes: readonly string[] = []): void {
    this.#collapsed.clear();
    for (const text of pastes) this.#collapsed.add({ type: "paste", text });
  }

  /** Prints lines that became final after waiting for a highlighter. */
  flush(): void {
    this.#print(this.#text?.takeFinal() ?? []);
  }

  /** Prints the collapsed output of the last turn in full. Returns false if there is none. */
  expandCollapsed(): boolean {
    const lines = this.#collapsed.take(this.#options.frontEnd.width());
    this.#print(lines);
    return lines.length > 0;
  }

  #write(text: string): void {
    this.#text ??= new MarkdownStream(this.#options.markdown, this.#options.frontEnd.width());
    this.#text.resize(this.#options.frontEnd.width());
    this.#text.write(text);
    this.flush();
  }

  #endText(): void {
    if (this.#text === undefined) return;
    this.#text.resize(this.#options.frontEnd.width());
    this.#text.end();
    this.#print([...this.#text.takeFinal(), ...this.#text.openLines(), []]);
    this.#text = undefined;
  }

  #liveThinking(width: number): readonly StyledLine[] {
    return this.#showsThinking
      ? viewThinkingInFull(this.#thinking, width)
      : [truncate(viewThinking(this.#thinking), width)];
  }

  #endThinking(): void {
    const width = this.#options.frontEnd.width();
    if (this.#thinking.trim() !== "" && this.#showsThinking)
      this.#print([...viewThinkingInFull(this.#thinking, width), []]);
    else if (this.#thinking.trim() !== "") {
      this.#print([truncate(viewThinking(this.#thinking), width)]);
      this.#collapsed.add({ type: "thinking", text: this.#thinking });
    }
    this.#thinking = "";
  }

  #addCall({ id, tool }: { readonly id: CallId; readonly tool: string }): void {
    const view: ToolCallView = { tool, title: "", status: "waiting", output: "" };
    this.#calls.set(id, { startedAt: this.#options.clock.elapsed(), view });
  }

  #updateCall({ call, status }: Extract<AgentEvent, { type: "call-updated" }>): void {
    switch (status.state) {
      case "validating":
      case "success":
      case "error":
      case "cancelled":
        return;
      case "awaiting_approval":
        return this.#changeCall(call, (view) => ({ ...view, title: status.approval.title, status: "asking" }));
      case "scheduled":
        return this.#changeCall(call, (view) => ({ ...view, title: status.title, status: "waiting" }));
      case "executing":
        this.#changeCall(call, (view) => ({ ...view, title: status.title, status: "running" }));
        this.#restartClock(call);
        return this.#announceCall(call);
    }
  }

  #changeCall(call: CallId, change: (view: ToolCallView) => ToolCallView): void {
    const live = this.#calls.get(call);
    if (live !== undefined) live.view = change(live.view);
  }

  /** Counts from now: the time until a call runs is the user's, not the tool's. */
  #restartClock(call: CallId): void {
    const live = this.#calls.get(call);
    if (live !== undefined) live.startedAt = this.#options.clock.elapsed();
  }

  /** Records that the diff of a question was printed in full, so that it is not printed again when the call ends. */
  markPatchPrinted(call: CallId, patch: string): void {
    const live = this.#calls.get(call);
    if (live !== undefined) live.printedPatch = patch;
  }

  #announceCall(call: CallId): void {
    const live = this.#calls.get(call);
    if (live !== undefined) this.#announcer?.start(call, live.view.tool, live.view.title);
  }

  /** Prints finished calls in the order they were made, each once all before it have finished. */
  #completeCall(finished: FinishedCall): void {
    const live = this.#calls.get(finished.call.id);
    if (live === undefined) return;
    live.finished = finished;
    this.#announcer?.end(finished.call.id);
    const { status } = finished.outcome;
    live.view = {
      ...live.view,
      title: live.view.title === "" ? argumentTitle(finished.call) : live.view.title,
      status: callStatuses[status],
      output: resultText(finished),
      elapsed: finished.duration,
      ...(finished.display.type === "diff" ? { file: finished.display.path } : {}),
    };
    for (const [id, call] of this.#calls) {
      if (call.finished === undefined) return;
      this.#calls.delete(id);
      this.#printFinished(call, call.finished);
    }
  }

  #printFinished({ view, printedPatch }: RunningCall, { display, outcome }: FinishedCall): void {
    const width = this.#options.frontEnd.width();
    const shown = display.type === "diff" && outcome.status === "complete" ? display : undefined;
    const diff =
      shown === undefined
        ? []
        : shown.patch === printedPatch
          ? [line("  The diff is shown above.", { tone: "muted" })]
          : viewDiff(shown.patch, { width, isNameless: true, colours: this.#options.coloursOf?.(shown.path) });
    this.#print([...this.#viewCall(view), ...diff]);
    for (const part of outcome.content) if (part.type === "media") this.#options.showMedia(part, view.title);
    this.#print([[]]);
    if (view.output !== "") this.#collapsed.add({ type: "call", view });
  }

  #handleSubagent({ agent, event }: Extract<AgentEvent, { type: "agent" }>): void {
    if (event.type === "finished" || event.type === "failed" || event.type === "cancelled")
      this.#subagents.delete(agent);
    else {
      const activity = subagentText(event);
      if (activity !== undefined) this.#subagents.set(agent, activity);
    }
  }

  #handleRetry(event: Extract<AgentEvent, { type: "retrying" }>): void {
    this.#endThinking();
    if (event.discarded) this.#endText();
    this.#info(
      this.#options.announcesCalls ? retryText(event) : (this.#retries.add(event, this.#options.clock.elapsed()) ?? ""),
    );
  }

  #endTurn(): void {
    this.#endThinking();
    this.#endText();
    this.#subagents.clear();
    for (const [id, call] of this.#calls) {
      this.#calls.delete(id);
      this.#announcer?.end(id);
      if (call.finished !== undefined) this.#printFinished(call, call.finished);
      else this.#print([...this.#viewCall({ ...call.view, status: "cancelled" }), []]);
    }
  }

  #viewCall(view: ToolCallView): readonly StyledLine[] {
    const { frontEnd, announcesCalls } = this.#options;
    const expandKey = frontEnd.keyLabel("expand", "Ctrl-O");
    return viewToolCall({ ...view, isSpoken: announcesCalls, expandKey }, frontEnd.width());
  }

  #info(text: string): void {
    if (text !== "") this.#printMessage(text, "muted");
  }

  #printMessage(text: string, tone: "muted" | "error" | "warning"): void {
    this.#print([...messageLines(text, this.#options.frontEnd.width(), tone), []]);
  }

  #print(lines: readonly StyledLine[]): void {
    if (lines.length > 0) this.#options.frontEnd.print(lines);
  }
}
