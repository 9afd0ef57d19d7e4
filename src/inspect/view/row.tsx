import type { ComponentChildren, VNode } from "preact";
import type { ReadingCall, ReadingMedia, ReadingPart, ReadingResult, ReadingRow } from "../data/reading-rows.ts";
import { Code } from "./code.tsx";
import { formatBytes, formatClock, formatDuration } from "./format.ts";
import { Link, Markdown } from "./markdown.tsx";

/** Shows media whose bytes are stored; the page loads them, an exported file contains them. */
export type ShowMedia = (media: ReadingMedia) => ComponentChildren;

/** One entry of the conversation, as people read it. */
export const Row = ({ row, showMedia }: { readonly row: ReadingRow; readonly showMedia: ShowMedia }): VNode => (
  <div class={`row row-${row.type}`}>
    <header class="row-head">
      <span class="author">{row.author ?? authors[row.type]}</span>
      <span class="row-facts">
        {row.at === undefined ? null : (
          <time dateTime={new Date(row.at).toISOString()} title={new Date(row.at).toISOString()}>
            {formatClock(row.at)}
          </time>
        )}
        <span class="entry-number">#{row.entry + 1}</span>
      </span>
    </header>
    <div class="row-body">{row.parts.map((part) => partView(part, showMedia))}</div>
  </div>
);

/** The names of those who wrote an entry without a model. */
const authors: Readonly<Record<ReadingRow["type"], string>> = {
  user: "You",
  model: "Model",
  result: "Tool result without its call",
  notice: "Notice to the model",
  compaction: "Summary of what came before",
  copy: "File downloaded",
};

const partView = (part: ReadingPart, showMedia: ShowMedia): ComponentChildren => {
  switch (part.type) {
    case "text":
      return part.text.trim() === "" ? null : <Markdown text={part.text} />;
    case "plain":
      return <p class="plain">{part.text}</p>;
    case "thinking":
      return <Thinking text={part.text} isSealed={part.isSealed} />;
    case "code":
      return <Code text={part.text} language={part.language} />;
    case "media":
      return <Media media={part} showMedia={showMedia} />;
    case "call":
      return <Call call={part} showMedia={showMedia} />;
    case "result":
      return <Result result={part} showMedia={showMedia} />;
  }
};

const Thinking = ({ text, isSealed }: { readonly text: string; readonly isSealed: boolean }): VNode => (
  <details class="thinking">
    <summary>
      Thinking
      {isSealed ? <span class="tag">sealed</span> : null}
      <span class="preview">{text === "" ? "encrypted" : text.replaceAll(/\s+/g, " ").slice(0, 140)}</span>
    </summary>
    {text === "" ? <p class="plain">Only the model that wrote it can read it.</p> : <Markdown text={text} />}
  </details>
);

const statusNames: Readonly<Record<ReadingResult["status"], string>> = {
  complete: "done",
  error: "failed",
  cancelled: "cancelled",
  interrupted: "interrupted",
};

const Call = ({ call, showMedia }: { readonly call: ReadingCall; readonly showMedia: ShowMedia }): VNode => {
  const { tool, subject, result, patch, input, id, isMalformed } = call;
  return (
    <details class="call" open={patch !== undefined || result?.content.some(({ type }) => type === "media") === true}>
      <summary>
        <span class="tool">{tool}</span>
        {subject === undefined ? null : <span class="subject">{subject}</span>}
        <span class="call-facts">
          {result?.took === undefined ? null : <span class="took">{formatDuration(result.took)}</span>}
          <span class={`status status-${result?.status ?? "pending"}`}>
            {result === undefined ? "no result" : statusNames[result.status]}
          </span>
        </span>
      </summary>
      <p class="call-id">
        <code>{id}</code>
        {isMalformed ? <span class="tag tag-state">arguments are not valid JSON</span> : null}
      </p>
      {patch === undefined ? <Code text={input} language="json" label={`Arguments of ${tool}`} /> : null}
      {patch === undefined ? null : <Code text={patch} language="diff" label={`Edit by ${tool}`} />}
      {result === undefined ? null : <Result result={result} showMedia={showMedia} />}
    </details>
  );
};

const Result = ({ result, showMedia }: { readonly result: ReadingResult; readonly showMedia: ShowMedia }): VNode => (
  <div class={`result result-${result.status}`}>
    <p class="result-head">
      Result of {result.tool}: {statusNames[result.status]}
      {result.isSynthetic ? <span class="tag tag-state">made up by a repair</span> : null}
    </p>
    {result.content.map((part) =>
      part.type === "plain" ? (
        part.text === "" ? null : (
          <Code text={part.text} language={isDiff(part.text) ? "diff" : ""} label={`Result of ${result.tool}`} />
        )
      ) : (
        partView(part, showMedia)
      ),
    )}
  </div>
);

const isDiff = (text: string): boolean => /^(diff --git |--- \S.*\n\+\+\+ )/m.test(text);

const Media = ({ media, showMedia }: { readonly media: ReadingMedia; readonly showMedia: ShowMedia }): VNode => (
  <figure class="media">
    {media.hash === undefined ? null : showMedia(media)}
    <figcaption>
      {media.name ?? media.id} · {media.mimeType}
      {media.width === undefined ? null : ` · ${media.width} × ${media.height}`}
      {media.bytes === undefined ? null : ` · ${formatBytes(media.bytes)}`}
      {media.uri === undefined ? null : (
        <>
          {" · "}
          <Link href={media.uri} label={media.uri} />
        </>
      )}
      {media.hash === undefined && media.uri === undefined ? " · no longer stored" : null}
    </figcaption>
  </figure>
);
