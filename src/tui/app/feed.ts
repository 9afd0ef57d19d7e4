import type { AgentEvent } from "../../agent/events.ts";
import type { CallId } from "../../conversation/index.ts";
import type { Finished } from "../../scheduler/events.ts";
import type { Clock } from "../../world/index.ts";
import { MarkdownStream, type MarkdownOptions } from "../markdown/stream.ts";
import { line, linesOf, span } from "../text/line.ts";
import type { Line } from "../text/style.ts";
import { wrap } from "../text/wrap.ts";
import { viewCall, type CallStatus, type CallView } from "../views/call.ts";
import { viewDiff } from "../views/diff.ts";
import { byteCount } from "../images/view.ts";

/** What a feed needs to know. */
export type FeedOptions = {
  readonly clock: Pick<Clock, "elapsed">;
  readonly markdown: MarkdownOptions;
  readonly width: () => number;
  /** Takes lines that are final. */
  readonly print: (lines: readonly Line[]) => void;
};

type LiveCall = { view: CallView; readonly began: number; finished?: Finished };

/** What happens in a turn, as lines: final ones are printed once, the others are live until they are. */
export class Feed {
  readonly #options: FeedOptions;
  readonly #calls = new Map<CallId, LiveCall>();
  #text: MarkdownStream | undefined;
  #thought = "";
  /** Whether whole thoughts are shown, or only what they are about. */
  showsThoughts = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  hear(event: AgentEvent): void {
    switch (event.type) {
      case "user":
      case "usage":
      case "request":
      case "agent":
        return;
      case "thought":
        this.#thought += event.text;
        return;
      case "text":
        this.#closeThought();
        return this.#write(event.text);
      case "message":
        this.#closeThought();
        return this.#endText();
      case "call-requested": {
        const { id, tool } = event.call;
        const began = this.#options.clock.elapsed();
        this.#calls.set(id, { began, view: { tool, title: "", status: "waiting", output: "" } });
        return;
      }
      case "call-updated":
        return this.#update(event);
      case "call-output":
        return this.#change(event.call, (view) => ({ ...view, output: event.text }));
      case "call-completed":
        return this.#complete(event.finished);
      case "model-changed":
        return this.#note(`Now on ${event.to} (${changes[event.reason.type]}).`);
      case "compacted":
        return this.#note(`Made room: ${event.compaction.before} -> ${event.compaction.after} tokens.`);
      case "retrying":
        if (event.discarded) this.#endText();
        return this.#note(
          event.discarded ? "The answer broke off; it is asked for again." : `Trying again: ${event.failure.kind}.`,
        );
      case "notice":
        return this.#note(event.text);
      case "finished":
        this.#end();
        if (event.reason !== "stop") this.#note(`Ended: ${event.reason}.`);
        return;
      case "failed":
        this.#end();
        return this.#say(event.failure.message, "error");
      case "cancelled":
        this.#end();
        return this.#say("Cancelled.", "warning");
    }
  }

  /** What may still change. */
  live(): readonly Line[] {
    const width = this.#options.width();
    const now = this.#options.clock.elapsed();
    return [
      ...(this.#thought === "" ? [] : [thoughtLine(this.#thought)]),
      ...(this.#text?.open() ?? []),
      ...[...this.#calls.values()].flatMap(({ view, began }) => viewCall({ ...view, elapsed: now - began }, width)),
    ];
  }

  /** Takes over what became final in a text that waited for something. */
  settle(): void {
    this.#print(this.#text?.take() ?? []);
  }

  #write(text: string): void {
    this.#text ??= new MarkdownStream(this.#options.markdown, this.#options.width());
    this.#text.resize(this.#options.width());
    this.#text.write(text);
    this.settle();
  }

  #endText(): void {
    if (this.#text === undefined) return;
    this.#text.end();
    this.#print([...this.#text.take(), ...this.#text.open(), []]);
    this.#text = undefined;
  }

  #closeThought(): void {
    if (this.#thought === "") return;
    const thought = this.#thought;
    this.#thought = "";
    const style = { tone: "muted", italic: true } as const;
    this.#print(
      this.showsThoughts
        ? linesOf(thought.trim(), style).flatMap((each) => wrap(each, { width: this.#options.width() }))
        : [thoughtLine(thought)],
    );
  }

  #update({ call, status }: Extract<AgentEvent, { type: "call-updated" }>): void {
    this.#change(call, (view) => {
      switch (status.state) {
        case "validating":
        case "success":
        case "error":
        case "cancelled":
          return view;
        case "awaiting_approval":
          return { ...view, title: status.approval.title, status: "asking" };
        case "scheduled":
          return { ...view, title: status.title, status: "waiting" };
        case "executing":
          return { ...view, title: status.title, status: "running" };
      }
    });
  }

  #change(call: CallId, change: (view: CallView) => CallView): void {
    const live = this.#calls.get(call);
    if (live !== undefined) live.view = change(live.view);
  }

  /** Calls are printed in the order they were made, once all before them have ended. */
  #complete(finished: Finished): void {
    const live = this.#calls.get(finished.call.id);
    if (live === undefined) return;
    live.finished = finished;
    live.view = { ...live.view, status: ended[finished.outcome.status], output: shownResult(finished) };
    for (const [id, call] of this.#calls) {
      if (call.finished === undefined) return;
      this.#calls.delete(id);
      this.#print([...this.#viewFinished(call.view, call.finished), []]);
    }
  }

  #viewFinished(view: CallView, { display, duration, outcome }: Finished): readonly Line[] {
    const width = this.#options.width();
    const media = outcome.content.filter((part) => part.type === "media");
    const files = media.map(({ kind, mimeType, source, width: across, height, name }) =>
      line(
        `  ${kind} ${name ?? ""} ${mimeType}${source.type === "blob" ? `, ${byteCount(source.bytes)}` : ""}${across === undefined || height === undefined ? "" : `, ${across}x${height} pixels`}`,
        { tone: "muted" },
      ),
    );
    if (display.type !== "diff") return [...viewCall({ ...view, elapsed: duration }, width), ...files];
    return [...viewCall({ ...view, elapsed: duration, output: "" }, width), ...viewDiff(display.patch, { width })];
  }

  #end(): void {
    this.#closeThought();
    this.#endText();
    for (const [id, { view, finished }] of this.#calls) {
      this.#calls.delete(id);
      const status: CallStatus = finished === undefined ? "cancelled" : view.status;
      this.#print([...viewCall({ ...view, status }, this.#options.width()), []]);
    }
  }

  #note(text: string): void {
    this.#say(text, "muted");
  }

  #say(text: string, tone: "muted" | "error" | "warning"): void {
    this.#print(linesOf(text, { tone }).flatMap((each) => wrap(each, { width: this.#options.width() })));
  }

  #print(lines: readonly Line[]): void {
    if (lines.length > 0) this.#options.print(lines);
  }
}

const ended = { complete: "success", error: "error", cancelled: "cancelled", interrupted: "cancelled" } as const;

const changes = {
  asked: "as you asked",
  "round-robin": "its turn",
  failover: "the other one failed",
  recovered: "it works again",
} as const;

const shownResult = ({ display, error }: Finished): string => {
  if (error !== undefined) return error.message;
  switch (display.type) {
    case "text":
      return display.text;
    case "diff":
      return "";
    case "listing":
      return [display.title, ...display.lines].join("\n");
  }
};

/** What a thought is about: many models begin with a title in bold. */
const thoughtLine = (thought: string): Line => {
  const title = [...thought.matchAll(/\*\*([^*\n]+)\*\*/g)].at(-1)?.[1];
  const words = title ?? thought.trim().split("\n").at(-1) ?? "";
  return [span("✻ ", { tone: "accent" }), span(words.slice(0, 200), { tone: "muted", italic: true })];
};
