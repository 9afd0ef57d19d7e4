import type { AgentEvent } from "../../../agent/events.ts";
import type { CallId, Media } from "../../../conversation/parts.ts";
import type { FinishedCall } from "../../../scheduler/events.ts";
import type { Clock } from "../../../world/world.ts";
import { MarkdownStream, type MarkdownOptions } from "../../markdown/stream.ts";
import { truncate, line, toLines } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import { wrap } from "../../text/wrap.ts";
import { viewToolCall, type ToolCallView } from "../../views/tool-call.ts";
import { viewDiff } from "../../views/diff.ts";
import {
  subagentText,
  changeText,
  callStatuses,
  endText,
  failureText,
  resultText,
  viewThinking,
} from "./event-text.ts";
import { CollapsedOutput } from "./collapsed-output.ts";

/** Options of a transcript view. */
export type TranscriptViewOptions = {
  readonly clock: Pick<Clock, "elapsed">;
  readonly markdown: MarkdownOptions;
  readonly width: () => number;
  /** Prints lines that are final. */
  readonly print: (lines: readonly StyledLine[]) => void;
  /** Shows media of a tool result or an answer. */
  readonly showMedia: (media: Media) => void;
  /** Whether the start of a call is printed, for front ends without a live part. */
  readonly announcesCalls: boolean;
};

type RunningCall = { view: ToolCallView; readonly began: number; finished?: FinishedCall; isAnnounced?: true };

/** Turns the events of a turn into lines: final ones are printed once, the others are live until they are final. */
export class TranscriptView {
  readonly #options: TranscriptViewOptions;
  readonly #calls = new Map<CallId, RunningCall>();
  readonly #agents = new Map<string, string>();
  readonly #folded = new CollapsedOutput();
  #text: MarkdownStream | undefined;
  #thought = "";

  constructor(options: TranscriptViewOptions) {
    this.#options = options;
  }

  handleEvent(event: AgentEvent): void {
    switch (event.type) {
      case "usage":
      case "request":
      case "user":
        return;
      case "thought":
        this.#thought += event.text;
        return;
      case "text":
        this.#closeThought();
        return this.#write(event.text);
      case "message":
        this.#closeThought();
        this.#endText();
        return event.media.forEach(this.#options.showMedia);
      case "call-requested":
        return this.#begin(event.call);
      case "call-updated":
        return this.#update(event);
      case "call-output":
        return this.#change(event.call, (view) => ({ ...view, output: event.text }));
      case "call-completed":
        return this.#complete(event.finished);
      case "model-changed":
        return this.#note(`Now on ${event.to} (${changeText(event.reason)}).`);
      case "compacted":
        return this.#note(`Made room: from ${event.compaction.before} to ${event.compaction.after} tokens.`);
      case "retrying":
        return this.#retry(event);
      case "notice":
        return this.#note(event.text);
      case "agent":
        return this.#agent(event);
      case "finished":
        this.#end();
        return this.#note(endText(event.reason) ?? "");
      case "failed":
        this.#end();
        return this.#say(failureText(event.failure), "error");
      case "cancelled":
        this.#end();
        return this.#say("Cancelled.", "warning");
    }
  }

  /** The lines that may still change. */
  live(): readonly StyledLine[] {
    const width = this.#options.width();
    const now = this.#options.clock.elapsed();
    this.#text?.resize(width);
    return [
      ...(this.#thought === "" ? [] : [truncate(viewThinking(this.#thought), width)]),
      ...(this.#text?.openLines() ?? []),
      ...[...this.#calls.values()].flatMap(({ view, began }) => viewToolCall({ ...view, elapsed: now - began }, width)),
      ...[...this.#agents].map(([name, does]) => line(`  ${name}: ${does}`, { tone: "muted" })),
    ];
  }

  /** Starts a turn: collapsed output of the previous one is dropped. */
  beginTurn(): void {
    this.#folded.clear();
  }

  /** Prints lines that became final after waiting for a highlighter. */
  flush(): void {
    this.#print(this.#text?.takeFinal() ?? []);
  }

  /** Prints the collapsed output of the last turn in full. Returns false if there is none. */
  expandCollapsed(): boolean {
    const lines = this.#folded.take(this.#options.width());
    this.#print(lines);
    return lines.length > 0;
  }

  #write(text: string): void {
    this.#text ??= new MarkdownStream(this.#options.markdown, this.#options.width());
    this.#text.resize(this.#options.width());
    this.#text.write(text);
    this.flush();
  }

  #endText(): void {
    if (this.#text === undefined) return;
    this.#text.resize(this.#options.width());
    this.#text.end();
    this.#print([...this.#text.takeFinal(), ...this.#text.openLines(), []]);
    this.#text = undefined;
  }

  #closeThought(): void {
    if (this.#thought.trim() !== "") {
      this.#print([truncate(viewThinking(this.#thought), this.#options.width())]);
      this.#folded.add({ type: "thought", text: this.#thought });
    }
    this.#thought = "";
  }

  #begin({ id, tool }: { readonly id: CallId; readonly tool: string }): void {
    const view: ToolCallView = { tool, title: "", status: "waiting", output: "" };
    this.#calls.set(id, { began: this.#options.clock.elapsed(), view });
  }

  #update({ call, status }: Extract<AgentEvent, { type: "call-updated" }>): void {
    switch (status.state) {
      case "validating":
      case "success":
      case "error":
      case "cancelled":
        return;
      case "awaiting_approval":
        return this.#change(call, (view) => ({ ...view, title: status.approval.title, status: "asking" }));
      case "scheduled":
        return this.#change(call, (view) => ({ ...view, title: status.title, status: "waiting" }));
      case "executing":
        this.#change(call, (view) => ({ ...view, title: status.title, status: "running" }));
        return this.#announce(call);
    }
  }

  #change(call: CallId, change: (view: ToolCallView) => ToolCallView): void {
    const live = this.#calls.get(call);
    if (live !== undefined) live.view = change(live.view);
  }

  #announce(call: CallId): void {
    const live = this.#calls.get(call);
    if (!this.#options.announcesCalls || live === undefined || live.isAnnounced) return;
    live.isAnnounced = true;
    this.#note(`Running ${live.view.tool}: ${live.view.title}`);
  }

  /** Prints finished calls in the order they were made, each once all before it have finished. */
  #complete(finished: FinishedCall): void {
    const live = this.#calls.get(finished.call.id);
    if (live === undefined) return;
    live.finished = finished;
    const { status } = finished.outcome;
    live.view = {
      ...live.view,
      status: callStatuses[status],
      output: resultText(finished),
      elapsed: finished.duration,
    };
    for (const [id, call] of this.#calls) {
      if (call.finished === undefined) return;
      this.#calls.delete(id);
      this.#printFinished(call.view, call.finished);
    }
  }

  #printFinished(view: ToolCallView, { display, outcome }: FinishedCall): void {
    const width = this.#options.width();
    const diff = display.type === "diff" && outcome.status === "complete" ? viewDiff(display.patch, { width }) : [];
    this.#print([...viewToolCall(view, width), ...diff]);
    for (const part of outcome.content) if (part.type === "media") this.#options.showMedia(part);
    this.#print([[]]);
    if (view.output !== "") this.#folded.add({ type: "call", view });
  }

  #agent({ agent, event }: Extract<AgentEvent, { type: "agent" }>): void {
    if (event.type === "finished" || event.type === "failed" || event.type === "cancelled") this.#agents.delete(agent);
    else {
      const does = subagentText(event);
      if (does !== undefined) this.#agents.set(agent, does);
    }
  }

  #retry({ discarded, failure }: Extract<AgentEvent, { type: "retrying" }>): void {
    this.#closeThought();
    if (discarded) this.#endText();
    this.#note(discarded ? "The answer broke off; it is asked for again." : `Trying again: ${failure.kind}.`);
  }

  #end(): void {
    this.#closeThought();
    this.#endText();
    this.#agents.clear();
    for (const [id, { view, finished }] of this.#calls) {
      this.#calls.delete(id);
      if (finished !== undefined) this.#printFinished(view, finished);
      else this.#print([...viewToolCall({ ...view, status: "cancelled" }, this.#options.width()), []]);
    }
  }

  #note(text: string): void {
    if (text !== "") this.#say(text, "muted");
  }

  #say(text: string, tone: "muted" | "error" | "warning"): void {
    const width = this.#options.width();
    this.#print([...toLines(text, { tone }).flatMap((each) => wrap(each, { width })), []]);
  }

  #print(lines: readonly StyledLine[]): void {
    if (lines.length > 0) this.#options.print(lines);
  }
}
