import type { RawCallInput } from "../../conversation/call-input.ts";
import type { JsonObject } from "../../conversation/json.ts";
import type { Note } from "../../conversation/notes.ts";
import type { ContentEvent } from "../../transport/events.ts";
import type { Destination } from "../../wire/bind.ts";
import { RequestComposer } from "../../wire/compose.ts";
import type { SealSource } from "../carry.ts";
import type { InboundRequest } from "../inbound/read.ts";

/** A request for the target, and what its answer needs to be translated back. */
export type OutboundRequest = {
  readonly body: JsonObject;
  readonly notes: readonly Note[];
  /** The model that answers, with the hash of this request where the target binds its seals to it. */
  readonly source: () => SealSource;
  /** Restores the client's names of tools and arguments in an event; undefined for one that a later event repeats. */
  readonly restoreNames: (event: ContentEvent) => ContentEvent | undefined;
};

/** Composes a client's request for a destination. The same request gives the same bytes. */
export const composeOutbound = (inbound: InboundRequest, destination: Destination): OutboundRequest => {
  const { conversation, settings, isChanged } = inbound;
  const { target } = destination;
  const composer = new RequestComposer({
    destination,
    system: conversation.system,
    tools: conversation.tools,
    blobs: conversation.blobs,
    policy: { unsupportedMedia: "stub" },
    unverified: isChanged ? "drop" : "keep",
  });
  composer.add(conversation.entries);
  const { body, report } = composer.compose(settings);
  const { provider, model, account } = target;
  const origin = { provider, model, ...(account === undefined ? {} : { account }) };
  let source: SealSource | undefined;
  const names = new NameRestorer(composer);
  return {
    body,
    notes: [...inbound.notes, ...report.notes],
    source: () => (source ??= target.thinking.bound ? { origin, prefix: composer.digest() } : { origin }),
    restoreNames: (event) => names.restore(event),
  };
};

/** Restores names in the events of one response. */
class NameRestorer {
  readonly #composer: RequestComposer;
  /** Calls whose arguments have other names at the target: they are sent whole when they are complete. */
  readonly #renamed = new Set<number>();

  constructor(composer: RequestComposer) {
    this.#composer = composer;
  }

  restore(event: ContentEvent): ContentEvent | undefined {
    switch (event.type) {
      case "call-start": {
        const tool = this.#composer.originalTool(event.tool);
        if (this.#composer.renamesArguments(tool)) this.#renamed.add(event.index);
        return tool === event.tool ? event : { ...event, tool };
      }
      case "call-delta":
        return this.#renamed.has(event.index) ? undefined : event;
      case "part-end": {
        const { part } = event;
        if (part.type !== "call") return event;
        const tool = this.#composer.originalTool(part.tool);
        const input: RawCallInput = this.#composer.originalInput(tool, part.input);
        return tool === part.tool && input === part.input ? event : { ...event, part: { ...part, tool, input } };
      }
      case "text-delta":
      case "thinking-delta":
      case "usage":
      case "response-start":
      case "finish":
      case "skipped":
        return event;
    }
  }
}
