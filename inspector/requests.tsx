import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ComparisonCause, RequestComparison, RequestRow } from "../src/inspect/data/requests.ts";
import type { Overview } from "../src/inspect/server/inspection.ts";
import { Code } from "../src/inspect/view/code.tsx";
import { formatBytes, formatClock, formatCost, formatDuration, formatTokens } from "../src/inspect/view/format.ts";
import type { InspectorApi } from "./api.ts";
import { Fact } from "./fact.tsx";
import { NoteList } from "./note.tsx";
import { Piece } from "./piece.tsx";
import { VirtualList } from "./virtual-list.tsx";

export type RequestsViewProps = {
  readonly api: InspectorApi;
  readonly overview: Overview;
  readonly selected: number | undefined;
  readonly onSelect: (number: number) => void;
};

/** The requests of a session: tokens, time and cost of each, and one against the one before it. */
export const RequestsView = ({ api, overview, selected, onSelect }: RequestsViewProps): VNode => {
  const { requests, totals } = overview;
  if (requests.length === 0)
    return (
      <div class="page" tabIndex={0} role="region" aria-label="Requests">
        <p class="empty">
          {overview.kind === "session"
            ? "No request of this session is complete yet."
            : "A file has no record of requests. Open a session to see them."}
        </p>
      </div>
    );
  const number = selected ?? requests.length;
  const cached = totals.input === 0 ? 0 : totals.cachedRead / totals.input;
  return (
    <div class="split">
      <VirtualList
        count={requests.length}
        estimate={64}
        label="Requests"
        current={number - 1}
        jump={number}
        isNearest
        header={
          <dl class="totals">
            <Fact name="Requests" value={`${totals.requests}`} />
            <Fact name="Input" value={formatTokens(totals.input)} />
            <Fact name="From cache" value={`${Math.round(cached * 100)} %`} />
            <Fact name="Output" value={formatTokens(totals.output)} />
            <Fact name="Time" value={formatDuration(totals.took)} />
            <Fact
              name="Cost"
              value={`${formatCost(totals.cost)}${totals.unpriced > 0 ? ` + ${totals.unpriced} unpriced` : ""}`}
            />
          </dl>
        }
        renderRow={(index) => {
          const request = requests[index];
          return request === undefined ? null : (
            <RequestButton request={request} isSelected={request.number === number} onSelect={onSelect} />
          );
        }}
      />
      <Comparison api={api} number={number} overview={overview} key={`${number} ${overview.revision}`} />
    </div>
  );
};

type RequestButtonProps = {
  readonly request: RequestRow;
  readonly isSelected: boolean;
  readonly onSelect: (number: number) => void;
};

const RequestButton = ({ request, isSelected, onSelect }: RequestButtonProps): VNode => {
  const { number, model, usage, cost, took, at, repairs } = request;
  return (
    <button type="button" class="request" aria-pressed={isSelected} onClick={() => onSelect(number)}>
      <span class="request-number">{number}</span>
      <span class="request-main">
        <span class="request-model">{model}</span>
        <span class="facts">
          {formatClock(at)}
          {took === undefined ? "" : ` · ${formatDuration(took)}`}
          {repairs === 0 ? null : <span class="tag tag-rendering">{repairs} repaired</span>}
        </span>
      </span>
      <span class="request-usage">
        {usage === undefined ? (
          <span class="fact">no usage</span>
        ) : (
          <>
            <span class="facts">
              {formatTokens(usage.input)} in · {formatTokens(usage.output)} out
            </span>
            <CacheBar share={usage.input === 0 ? 0 : usage.cachedRead / usage.input} />
          </>
        )}
        <span class="facts">{formatCost(cost)}</span>
      </span>
    </button>
  );
};

const CacheBar = ({ share }: { readonly share: number }): VNode => (
  <span class="bar" role="img" aria-label={`${Math.round(share * 100)} percent from cache`}>
    <span style={{ width: `${share * 100}%` }} />
  </span>
);

const causes: Readonly<Record<ComparisonCause, string>> = {
  first: "The first request: there is nothing to compare it with.",
  appended: "The request before it, with more at the end: all of that can be read from the cache.",
  "other-model": "Another model: its provider has none of this in its cache.",
  "prefix-changed": "System prompt, tools or settings changed: nothing after the first difference is in the cache.",
  compacted: "A compaction replaced earlier entries: the cache holds only what comes before it.",
  "history-changed": "An earlier message changed: nothing after it is in the cache.",
};

type ComparisonProps = { readonly api: InspectorApi; readonly number: number; readonly overview: Overview };

const Comparison = ({ api, number, overview }: ComparisonProps): VNode => {
  const [found, setFound] = useState<RequestComparison | string | undefined>(undefined);
  useEffect(() => {
    let isGone = false;
    api.comparison(number).then(
      (comparison) => isGone || setFound(comparison),
      (error: unknown) => isGone || setFound((error as Error).message),
    );
    return () => {
      isGone = true;
    };
  }, []);
  const request = overview.requests[number - 1];
  return (
    <section class="comparison" tabIndex={0} aria-label={`Request ${number}`}>
      <h2>
        Request {number} <span class="fact">{request?.model}</span>
      </h2>
      {found === undefined ? <p class="fact">Comparing…</p> : null}
      {typeof found === "string" ? <p class="error">{found}</p> : null}
      {found === undefined || typeof found === "string" ? null : <ComparisonDetails comparison={found} />}
      {request === undefined || request.notes.length === 0 ? null : (
        <>
          <h3>Decided for this request</h3>
          <NoteList notes={request.notes} />
        </>
      )}
    </section>
  );
};

const ComparisonDetails = ({ comparison }: { readonly comparison: RequestComparison }): VNode => {
  const { cause, bytes, sharedBytes, sharedMessages, messages, cachePoints, usage, added, difference, previous } =
    comparison;
  const share = bytes === 0 ? 0 : sharedBytes / bytes;
  return (
    <>
      <p>{causes[cause]}</p>
      {previous === undefined ? null : (
        <>
          <div
            class="prefix"
            role="img"
            aria-label={`${Math.round(share * 100)} percent of the bytes are the same as in request ${previous.number}`}
          >
            <span class="prefix-shared" style={{ width: `${share * 100}%` }} />
            {cachePoints.map((at) => (
              <span class="prefix-point" style={{ left: `${(at / bytes) * 100}%` }} />
            ))}
          </div>
          <p class="facts">
            {formatBytes(sharedBytes)} of {formatBytes(bytes)} are the same as in request {previous.number} (
            {sharedMessages} of {messages} messages)
            {cachePoints.length === 0
              ? ""
              : ` · ${cachePoints.length} cache ${cachePoints.length === 1 ? "point" : "points"}`}
          </p>
        </>
      )}
      {usage === undefined ? null : (
        <dl class="totals">
          <Fact name="Input" value={formatTokens(usage.input)} />
          <Fact name="Read from cache" value={formatTokens(usage.cachedRead)} />
          <Fact name="Written to cache" value={formatTokens(usage.cachedWrite)} />
          <Fact name="Output" value={formatTokens(usage.output)} />
          {usage.reasoning === 0 ? null : <Fact name="Thinking" value={formatTokens(usage.reasoning)} />}
        </dl>
      )}
      {difference === undefined ? null : (
        <>
          <h3>First difference: message {difference.message + 1}</h3>
          <div class="columns two">
            <Code text={difference.before} language="json" label="Before" />
            <Code text={difference.now} language="json" label="Now" />
          </div>
        </>
      )}
      <h3>{previous === undefined ? "Messages" : "New messages"}</h3>
      {added.length === 0 ? <p class="fact">None.</p> : null}
      {added.slice(0, maxShown).map(({ message, entries, json }) => (
        <Piece key={message} message={message} json={json}>
          {entries.map((entry) => (
            <a href={`#/conversation/${entry + 1}`}>#{entry + 1}</a>
          ))}
        </Piece>
      ))}
      {added.length > maxShown ? <p class="fact">{added.length - maxShown} more messages.</p> : null}
    </>
  );
};

/** The most new messages that are shown. */
const maxShown = 40;
