import type { LiveEvent } from "../fleet/session-events.ts";
import type { A2aArtifact, A2aStreamItem } from "./protocol.ts";
import { toAnswer, type TaskState } from "./tasks.ts";

/**
 * The text of a message while it arrives, as chunks of an artifact. Live text may have gaps: the record of the message has
 * the last word, and replaces the chunks where they differ.
 */
export class AnswerDraft {
  readonly ids: { readonly taskId: string; readonly contextId: string };
  #artifact: A2aArtifact | undefined;
  #text = "";

  constructor(ids: AnswerDraft["ids"]) {
    this.ids = ids;
  }

  /** A piece of text, or the news that the text so far does not count. */
  *addLive(task: TaskState, event: LiveEvent): Generator<A2aStreamItem> {
    if (event.type === "retrying" && event.discarded) yield* this.discard();
    if (event.type !== "text" || event.text === "") return;
    const artifact = toAnswer(task, event.text);
    yield this.#update(artifact, { append: this.#artifact !== undefined, lastChunk: false });
    this.#artifact = artifact;
    this.#text += event.text;
  }

  /** An artifact that is complete: the end of the chunks if they are all of it, else the whole. */
  complete(artifact: A2aArtifact): A2aStreamItem {
    const isDraft = this.#artifact?.artifactId === artifact.artifactId;
    const isWhole = isDraft && artifact.parts.length === 1 && artifact.parts[0]?.text === this.#text;
    if (isDraft) this.#clear();
    const parts = isWhole ? [{ text: "", mediaType: "text/markdown" }] : artifact.parts;
    return this.#update({ ...artifact, parts }, { append: isWhole, lastChunk: true });
  }

  /** Empties the artifact of a text that is no answer: it precedes tool calls, or is sent again. */
  *discard(): Generator<A2aStreamItem> {
    const artifact = this.#artifact;
    if (artifact === undefined) return;
    this.#clear();
    yield this.#update(
      { ...artifact, parts: [{ text: "", mediaType: "text/markdown" }] },
      { append: false, lastChunk: true },
    );
  }

  #clear(): void {
    this.#artifact = undefined;
    this.#text = "";
  }

  #update(
    artifact: A2aArtifact,
    { append, lastChunk }: { readonly append: boolean; readonly lastChunk: boolean },
  ): A2aStreamItem {
    return { artifactUpdate: { ...this.ids, artifact, append, lastChunk } };
  }
}
